// SPDX-License-Identifier: BSD-2-Clause
/*
 * The entries of .eh_frame and .debug_frame: CIEs, FDEs, pointer encodings.
 *
 * CIEs are parsed when an FDE first points to one (they may follow it in
 * .debug_frame) and kept by their offset. Every entry has its own cursor, so a
 * damaged one cannot harm its neighbours; only a length that runs past the end
 * of the section ends the scan.
 */
#include "eh_frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cfi.h"
#include "user/base/hashmap.h"

/* Pointer encodings, LSB 10.5.1. */
enum {
	PE_ABSPTR = 0x00,
	PE_ULEB128 = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB128 = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_FORMAT = 0x0f,
	PE_PCREL = 0x10,
	PE_TEXTREL = 0x20,
	PE_DATAREL = 0x30,
	PE_BASE = 0x70,
	PE_INDIRECT = 0x80,
};

#define AUGMENTATION_MAX 16 /* "zPLRSB" is the longest known */

struct scan {
	const struct eh_input *in;
	struct eh_stats *st;
	struct hashmap *by_offset; /* CIE's section offset -> index in cies */
	struct cfi_cie *cies;
	size_t nr_cies, cap_cies;
	uint64_t last_offset; /* of last_cie: runs of FDEs share one */
	size_t last_cie;
	struct cfi_rows rows;
};

static uint64_t read_value(struct cursor *c, uint8_t format, uint8_t addr_size)
{
	switch (format) {
	case PE_ABSPTR:
		return addr_size == 4 ? cursor_u32(c) : cursor_u64(c);
	case PE_ULEB128:
		return cursor_varint(c);
	case PE_UDATA2:
		return cursor_u16(c);
	case PE_UDATA4:
		return cursor_u32(c);
	case PE_UDATA8:
	case PE_SDATA8:
		return cursor_u64(c);
	case PE_SLEB128:
		return (uint64_t)cfi_sleb(c);
	case PE_SDATA2:
		return (uint64_t)(int64_t)(int16_t)cursor_u16(c);
	case PE_SDATA4:
		return (uint64_t)(int64_t)(int32_t)cursor_u32(c);
	default:
		cursor_fail(c);
		return 0;
	}
}

uint64_t cfi_pointer(const struct eh_input *in, struct cursor *c, uint8_t enc, uint8_t addr_size)
{
	uint64_t base = 0, v;

	switch (enc & PE_BASE) {
	case 0:
		break;
	case PE_PCREL:
		base = in->vaddr + (uint64_t)(c->pos - in->data);
		break;
	case PE_TEXTREL:
		base = in->text_vaddr;
		break;
	case PE_DATAREL:
		base = in->data_vaddr;
		break;
	default: /* function-relative and aligned name no function's address */
		cursor_fail(c);
		return 0;
	}
	if (enc & PE_INDIRECT) { /* the pointer is in memory that we do not read */
		cursor_fail(c);
		return 0;
	}
	v = base + read_value(c, enc & PE_FORMAT, addr_size);
	return addr_size == 4 ? (uint32_t)v : v;
}

/* The data of a 'z' augmentation. Only the FDE's encoding and S are used. */
static int parse_augmentation(struct cursor *data, const char *aug, struct cfi_cie *cie)
{
	for (; *aug; aug++) {
		switch (*aug) {
		case 'R':
			cie->fde_enc = cursor_u8(data);
			break;
		case 'P': /* the personality routine's address */
			read_value(data, cursor_u8(data) & PE_FORMAT, cie->addr_size);
			break;
		case 'L':
			cursor_u8(data);
			break;
		case 'S':
			cie->is_signal = 1;
			break;
		case 'B': /* aarch64: return addresses are signed with the B key */
			break;
		default: /* of unknown length: what follows cannot be found */
			return strpbrk(aug, "RS") ? -EBADMSG : cursor_err(data);
		}
	}
	return cursor_err(data);
}

static int parse_cie(const struct eh_input *in, struct cursor *c, struct cfi_cie *cie)
{
	uint8_t version = cursor_u8(c);
	const char *aug = cursor_cstr(c, AUGMENTATION_MAX);
	uint64_t aug_len, ra;
	struct cursor data;
	int err;

	*cie = (struct cfi_cie){.addr_size = 8, .fde_enc = PE_ABSPTR};
	if (!aug || (version != 1 && version != 3 && version != 4))
		return -EBADMSG;
	if (version == 4) {
		cie->addr_size = cursor_u8(c);
		if (cursor_u8(c) != 0) /* segment selectors */
			return -EBADMSG;
	}
	if (cie->addr_size != 4 && cie->addr_size != 8)
		return -EBADMSG;
	if (strcmp(aug, "eh") == 0) /* GCC 2: the address of its exception table */
		cursor_skip(c, cie->addr_size);
	else if (*aug && *aug != 'z')
		return -EBADMSG;
	cie->code_align = cursor_varint(c);
	cie->data_align = cfi_sleb(c);
	ra = version == 1 ? cursor_u8(c) : cursor_varint(c);
	cie->ra_reg = ra > UINT32_MAX ? UINT32_MAX : (uint32_t)ra;
	if (*aug == 'z') {
		cie->has_aug_data = 1;
		aug_len = cursor_varint(c);
		if (cursor_err(c) || aug_len > cursor_left(c))
			return -EBADMSG;
		cursor_init(&data, c->pos, aug_len);
		cursor_skip(c, aug_len);
		err = parse_augmentation(&data, aug + 1, cie);
		if (err)
			return err;
	}
	if (cursor_err(c))
		return -EBADMSG;
	return cfi_run(in, cie, c, &cie->initial, NULL, 0, 0);
}

/*
 * What an entry begins with: *entry gets the rest of it, *id its CIE id, *id_at
 * where that lies. 1, 0 for a terminator, or -EBADMSG when it does not fit.
 */
static int read_entry(const struct eh_input *in, struct cursor *c, struct cursor *entry,
	uint64_t *id, uint64_t *id_at)
{
	uint64_t length = cursor_u32(c);
	int wide = length == UINT32_MAX; /* 64-bit DWARF, 7.4 */

	if (wide)
		length = cursor_u64(c);
	if (cursor_err(c) || length > cursor_left(c))
		return -EBADMSG;
	if (!length)
		return 0;
	*id_at = (uint64_t)(c->pos - in->data);
	cursor_init(entry, c->pos, length);
	cursor_skip(c, length);
	*id = wide && in->debug_frame ? cursor_u64(entry) : cursor_u32(entry);
	if (in->debug_frame && !wide && *id == UINT32_MAX)
		*id = UINT64_MAX;
	return 1;
}

static int is_cie(const struct eh_input *in, uint64_t id)
{
	return id == (in->debug_frame ? UINT64_MAX : 0);
}

static void load_cie(const struct eh_input *in, uint64_t off, struct cfi_cie *cie)
{
	struct cursor c, entry;
	uint64_t id, id_at;

	if (off < in->len) {
		cursor_init(&c, in->data + off, in->len - off);
		if (read_entry(in, &c, &entry, &id, &id_at) == 1 && is_cie(in, id) &&
			parse_cie(in, &entry, cie) == 0)
			return;
	}
	*cie = (struct cfi_cie){.bad = 1};
}

/* The CIE at section offset @off; ->bad when damaged. NULL without memory. Valid until the next
 * call. */
static const struct cfi_cie *cie_at(struct scan *s, uint64_t off)
{
	struct cfi_cie *grown;
	uint32_t *slot;
	int created;

	if (s->nr_cies && off == s->last_offset)
		return &s->cies[s->last_cie];
	if (s->nr_cies == s->cap_cies) {
		size_t cap = s->cap_cies ? s->cap_cies * 2 : 16;

		grown = reallocarray(s->cies, cap, sizeof(*grown));
		if (!grown)
			return NULL;
		s->cies = grown;
		s->cap_cies = cap;
	}
	slot = hashmap_slot(s->by_offset, &off, (uint32_t)s->nr_cies, &created);
	if (!slot)
		return NULL;
	if (created) {
		struct cfi_cie *cie = &s->cies[s->nr_cies++];

		load_cie(s->in, off, cie);
		s->st->cies++;
		s->st->bad_cies += cie->bad;
	}
	s->last_offset = off;
	s->last_cie = *slot;
	return &s->cies[*slot];
}

/* Rows into s->rows, and the range they cover. 1, 0 for an empty range, or an error. */
static int parse_fde(
	struct scan *s, struct cursor *c, const struct cfi_cie *cie, uint64_t *start, uint64_t *end)
{
	const struct unwind_rule unsupported = {.cfa = UNWIND_UNSUPPORTED};
	struct cfi_columns cols = cie->initial;
	uint64_t len, aug_len;
	int err;

	*start = cfi_pointer(s->in, c, cie->fde_enc, cie->addr_size);
	len = read_value(c, cie->fde_enc & PE_FORMAT, cie->addr_size);
	if (cie->has_aug_data) {
		aug_len = cursor_varint(c);
		if (aug_len > cursor_left(c))
			return -EBADMSG;
		cursor_skip(c, aug_len);
	}
	if (cursor_err(c) || *start + len < *start)
		return -EBADMSG;
	/* Sections dropped by the linker leave a FDE of address 0 behind. */
	if (!len || !*start) {
		s->st->empty_fdes++;
		return 0;
	}
	*end = *start + len;
	s->rows.nr = 0;
	err = cfi_run(s->in, cie, c, &cols, &s->rows, *start, *end);
	if (err == -EBADMSG) {
		s->st->bad_fdes++;
		s->rows.nr = 0;
		err = cfi_rows_add(&s->rows, *start, unsupported, EH_SUPPORTED);
	}
	return err ? err : 1;
}

int eh_frame_scan(const struct eh_input *in, eh_fde_fn fn, void *ctx, struct eh_stats *st)
{
	struct scan s = {.in = in, .st = st};
	struct cursor all, entry;
	int err = -ENOMEM;

	*st = (struct eh_stats){0};
	s.by_offset = hashmap_new(sizeof(uint64_t));
	if (!s.by_offset)
		goto out;
	cursor_init(&all, in->data, in->len);
	while (cursor_left(&all) >= sizeof(uint32_t)) {
		uint64_t id, id_at, start, end;
		const struct cfi_cie *cie;

		err = read_entry(in, &all, &entry, &id, &id_at);
		if (err < 0) {
			st->truncated = 1;
			break;
		}
		if (!err && in->unsized)
			break;
		if (!err || is_cie(in, id))
			continue;
		st->fdes++;
		cie = cie_at(&s, in->debug_frame ? id : id_at - id);
		if (!cie) {
			err = -ENOMEM;
			goto out;
		}
		err = cursor_err(&entry) || cie->bad ? -EBADMSG
						     : parse_fde(&s, &entry, cie, &start, &end);
		if (err == -EBADMSG) {
			st->bad_fdes++;
		} else if (err < 0) {
			goto out;
		} else if (err) {
			st->rows += s.rows.nr;
			for (size_t i = 0; i < s.rows.nr; i++)
				if (s.rows.why[i] != EH_SUPPORTED)
					st->unsupported[s.rows.why[i]]++;
			err = fn(ctx, start, end, s.rows.vaddrs, s.rows.rules, s.rows.nr);
			if (err)
				goto out;
		}
	}
	err = 0;
out:
	hashmap_free(s.by_offset);
	free(s.cies);
	cfi_rows_release(&s.rows);
	return err;
}

void eh_stats_add(struct eh_stats *sum, const struct eh_stats *more)
{
	sum->cies += more->cies;
	sum->fdes += more->fdes;
	sum->bad_cies += more->bad_cies;
	sum->bad_fdes += more->bad_fdes;
	sum->empty_fdes += more->empty_fdes;
	sum->rows += more->rows;
	sum->truncated += more->truncated;
	for (unsigned i = 0; i < EH_UNSUPPORTED_NR; i++)
		sum->unsupported[i] += more->unsupported[i];
}

const char *eh_unsupported_text(unsigned kind)
{
	static const char *const text[EH_UNSUPPORTED_NR] = {
		[EH_CFA_EXPRESSION] = "CFA by an expression of unknown shape",
		[EH_CFA_NONE] = "no CFA rule",
		[EH_CFA_REGISTER] = "CFA by a register outside 0..15",
		[EH_OFFSET] = "an offset that a rule has no room for",
		[EH_SP_OTHER] = "RSP of the caller is not the CFA",
		[EH_RA_OTHER] = "return address neither at CFA - 8 nor in a register",
		[EH_SIGNAL_OTHER] = "a signal frame that is not the kernel's",
		[EH_BP_OTHER] = "RBP by expression, register or value",
	};

	return kind < EH_UNSUPPORTED_NR ? text[kind] : "unknown kind";
}
