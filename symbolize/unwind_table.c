// SPDX-License-Identifier: BSD-2-Clause
/*
 * CFI -> table, in three passes:
 *
 *   collect   every FDE becomes a piece: a range of file offsets and its rows,
 *             rules already replaced by ids (6 bytes a row)
 *   resolve   pieces are sorted and made disjoint
 *   lay out   rows in order of file offset, with the page index
 *
 * DESIGN. A piece keeps its rows where collect put them and is only ever cut at
 * its ends, so resolving moves 20 bytes an FDE and no rows. Most files need
 * neither sorting nor cutting.
 *
 * Input is hostile: rows are bounded by the bytes of the section and by
 * UNWIND_MAX_ROWS, offsets by 4 GiB, and all passes are linear but for the sort.
 */
#include "unwind_table.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "plt_stubs.h"

#define PAGE_BYTES     (1u << UNWIND_PAGE_SHIFT)
#define FUNCTION_ALIGN 16
/* ld.so's _start, with _dl_start_user behind it, has 61 bytes and no FDE;
 * other libcs' have fewer. */
#define ENTRY_BYTES 64

struct piece { /* [start, end) of the file */
	uint32_t start, end;
	uint32_t first, nr; /* rows; the first one is at or before start */
	uint32_t order;	    /* position in the section */
};

struct pieces {
	struct piece *at;
	size_t nr, cap;
};

struct builder {
	const struct elf_file *f;
	struct unwind_rules *rules;
	struct unwind_table *t;
	struct err *e;
	struct pieces eh, debug, all;
	struct pieces *into;		   /* where collect puts them */
	const struct elf_segment *segment; /* of the last FDE */
	uint32_t *offsets;		   /* rows as collected */
	uint16_t *ids;
	size_t nr, cap;
	/* lay out */
	uint32_t page; /* the one being filled, relative to first_page */
	uint16_t last; /* rule of the last row */
	uint32_t cap_rows;
};

static int no_memory(struct builder *b)
{
	return err_set(b->e, -ENOMEM, "%s: out of memory for its unwind table", b->f->name);
}

static int too_many_rows(struct builder *b)
{
	return err_set(
		b->e, -E2BIG, "%s: unwind table of more than %u rows", b->f->name, UNWIND_MAX_ROWS);
}

/* ---- collect ---- */

static struct piece *add_piece(struct builder *b, struct pieces *p)
{
	if (p->nr == p->cap) {
		size_t cap = p->cap ? p->cap * 2 : 256;
		struct piece *at = reallocarray(p->at, cap, sizeof(*at));

		if (!at) {
			no_memory(b);
			return NULL;
		}
		p->at = at;
		p->cap = cap;
	}
	p->at[p->nr] = (struct piece){.order = (uint32_t)p->nr};
	return &p->at[p->nr++];
}

static int add_raw_row(struct builder *b, uint32_t offset, uint16_t id)
{
	if (b->nr == b->cap) {
		size_t cap = b->cap ? b->cap * 2 : 4096;
		uint32_t *o = reallocarray(b->offsets, cap, sizeof(*o));
		uint16_t *r;

		if (!o)
			return no_memory(b);
		b->offsets = o;
		r = reallocarray(b->ids, cap, sizeof(*r));
		if (!r)
			return no_memory(b);
		b->ids = r;
		b->cap = cap;
	}
	if (b->nr == UNWIND_MAX_ROWS)
		return too_many_rows(b);
	b->offsets[b->nr] = offset;
	b->ids[b->nr++] = id;
	return 0;
}

static int holds(const struct elf_segment *s, uint64_t vaddr)
{
	return s && s->flags & PF_X && vaddr >= s->vaddr && vaddr - s->vaddr < s->filesz;
}

/* File offset of @vaddr, and the bytes that follow it in its executable segment. */
static int to_offset(struct builder *b, uint64_t vaddr, uint64_t *offset, uint64_t *left)
{
	for (uint32_t i = 0; !holds(b->segment, vaddr); i++) {
		if (i == b->f->nr_loads)
			return 0;
		b->segment = &b->f->loads[i];
	}
	*offset = b->segment->offset + (vaddr - b->segment->vaddr);
	*left = b->segment->filesz - (vaddr - b->segment->vaddr);
	return *offset < UINT32_MAX;
}

static int collect_fde(void *ctx, uint64_t start, uint64_t end, const uint64_t *vaddrs,
	const struct unwind_rule *rules, size_t nr)
{
	struct builder *b = ctx;
	uint64_t offset, left, refused = unwind_rules_refused(b->rules);
	size_t first = b->nr;
	struct piece *p;
	int err;

	if (!to_offset(b, start, &offset, &left)) {
		b->t->stats.outside++;
		return 0;
	}
	if (left > end - start)
		left = end - start;
	if (left > UINT32_MAX - offset)
		left = UINT32_MAX - offset;
	for (size_t i = 0; i < nr && vaddrs[i] - start < left; i++) {
		uint16_t id;

		if (unwind_rules_id(b->rules, &rules[i], &id))
			return no_memory(b);
		if (b->nr > first && b->ids[b->nr - 1] == id)
			continue;
		err = add_raw_row(b, (uint32_t)(offset + (vaddrs[i] - start)), id);
		if (err)
			return err;
	}
	b->t->stats.refused += unwind_rules_refused(b->rules) - refused;
	p = add_piece(b, b->into);
	if (!p)
		return -ENOMEM;
	p->start = (uint32_t)offset;
	p->end = (uint32_t)(offset + left);
	p->first = (uint32_t)first;
	p->nr = (uint32_t)(b->nr - first);
	return 0;
}

static int collect(struct builder *b, const struct elf_cfi_range *r, int debug_frame)
{
	struct eh_input in = {.vaddr = r->vaddr, .debug_frame = debug_frame, .unsized = r->unsized};
	struct eh_stats st;
	uint8_t *data;
	int err;

	if (!r->source)
		return 0;
	err = elf_cfi_read(b->f, r, &data, &in.len, b->e);
	if (err)
		return err;
	in.data = data;
	b->into = debug_frame ? &b->debug : &b->eh;
	err = eh_frame_scan(&in, collect_fde, b, &st);
	free(data);
	/* The callback has written its sentence; the scan itself fails in one way only. */
	if (err == -ENOMEM)
		no_memory(b);
	eh_stats_add(&b->t->stats.cfi, &st);
	return err;
}

/* Ranked with .debug_frame: what .eh_frame says of a PLT section holds. */
static int collect_plt(struct builder *b, const struct elf_cfi_range *r)
{
	uint8_t *code;
	size_t len;
	int err = elf_cfi_read(b->f, r, &code, &len, b->e);

	if (err)
		return err;
	b->into = &b->debug;
	err = plt_stubs_scan(code, len, r->vaddr, collect_fde, b);
	free(code);
	if (err == -ENOMEM)
		no_memory(b);
	return err;
}

/* ---- resolve ---- */

static int by_start(const void *x, const void *y)
{
	const struct piece *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static void sort_pieces(struct pieces *p)
{
	for (size_t i = 1; i < p->nr; i++) {
		if (by_start(&p->at[i - 1], &p->at[i]) > 0) {
			qsort(p->at, p->nr, sizeof(*p->at), by_start);
			return;
		}
	}
}

/* Of pieces of one section the later start wins; of equal ones the first. */
static void make_disjoint(struct builder *b, struct pieces *p)
{
	size_t out = 0;

	sort_pieces(p);
	for (size_t i = 0; i < p->nr; i++) {
		struct piece *prev = out ? &p->at[out - 1] : NULL;

		if (prev && prev->start == p->at[i].start) {
			b->t->stats.overlaps++;
			continue;
		}
		if (prev && prev->end > p->at[i].start) {
			b->t->stats.overlaps++;
			prev->end = p->at[i].start;
		}
		p->at[out++] = p->at[i];
	}
	p->nr = out;
}

static int put_piece(struct builder *b, const struct piece *from, uint32_t start, uint32_t end)
{
	struct piece *p = add_piece(b, &b->all);

	if (!p)
		return -ENOMEM;
	*p = *from;
	p->start = start;
	p->end = end;
	return 0;
}

/* b->all = b->eh, and of b->debug what lies between. Both are sorted and disjoint. */
static int merge(struct builder *b)
{
	size_t i = 0;
	int err;

	for (size_t k = 0; k < b->debug.nr; k++) {
		const struct piece *d = &b->debug.at[k];
		uint32_t start = d->start;

		/* The last one put may reach into this one. */
		if (i && b->eh.at[i - 1].end > start)
			start = b->eh.at[i - 1].end;
		for (; i < b->eh.nr && b->eh.at[i].start < d->end; i++) {
			const struct piece *p = &b->eh.at[i];

			if (p->start > start) {
				err = put_piece(b, d, start, p->start);
				if (err)
					return err;
			}
			if (p->end > start)
				start = p->end;
			err = put_piece(b, p, p->start, p->end);
			if (err)
				return err;
		}
		if (start < d->end) {
			err = put_piece(b, d, start, d->end);
			if (err)
				return err;
		}
	}
	for (; i < b->eh.nr; i++) {
		err = put_piece(b, &b->eh.at[i], b->eh.at[i].start, b->eh.at[i].end);
		if (err)
			return err;
	}
	return 0;
}

/*
 * The kernel jumps to e_entry: whatever is there was called by nobody. libc's
 * _start says so in its FDE, ld.so's has none.
 */
static int end_at_entry(struct builder *b, uint64_t entry)
{
	struct piece p = {.first = (uint32_t)b->nr, .nr = 1};
	uint64_t offset, left;
	size_t i = 0;
	int err;

	if (!entry || !to_offset(b, entry, &offset, &left))
		return 0;
	while (i < b->all.nr && b->all.at[i].end <= offset)
		i++;
	if (i < b->all.nr && b->all.at[i].start <= offset)
		return 0;
	p.start = (uint32_t)offset;
	p.end = p.start + (uint32_t)(left < ENTRY_BYTES ? left : ENTRY_BYTES);
	if (p.end < p.start)
		return 0;
	if (i < b->all.nr && p.end > b->all.at[i].start)
		p.end = b->all.at[i].start;
	err = add_raw_row(b, p.start, UNWIND_END);
	if (err)
		return err;
	if (!add_piece(b, &b->all))
		return -ENOMEM;
	memmove(&b->all.at[i + 1], &b->all.at[i], (b->all.nr - 1 - i) * sizeof(p));
	b->all.at[i] = p;
	b->t->stats.entry_end = 1;
	return 0;
}

/* ---- lay out ---- */

static int push_row(struct builder *b, uint32_t low, uint16_t rule)
{
	struct unwind_table *t = b->t;

	if (t->nr_rows == b->cap_rows) {
		uint32_t cap = b->cap_rows * 2;
		struct unwind_row *rows;

		if (t->nr_rows >= UNWIND_MAX_ROWS)
			return too_many_rows(b);
		rows = reallocarray(t->rows, cap, sizeof(*rows));
		if (!rows)
			return no_memory(b);
		t->rows = rows;
		b->cap_rows = cap;
	}
	t->rows[t->nr_rows++] = (struct unwind_row){.low = (uint16_t)low, .rule = rule};
	return 0;
}

/* Begin all pages up to that of @offset. The rule that reaches into a page is its
 * first row, unless another row is about to be put there. */
static int turn_pages(struct builder *b, uint32_t offset)
{
	uint32_t page = (offset >> UNWIND_PAGE_SHIFT) - b->t->first_page;
	int err;

	while (b->page < page) {
		b->t->pages[++b->page] = b->t->nr_rows;
		if (b->last == UNWIND_NO_INFO || (b->page == page && offset % PAGE_BYTES == 0))
			continue;
		err = push_row(b, 0, b->last);
		if (err)
			return err;
	}
	return 0;
}

/* From file offset @offset on, @rule holds. Offsets come in ascending order. */
static int put_rule(struct builder *b, uint32_t offset, uint16_t rule)
{
	uint32_t low = offset % PAGE_BYTES;
	int err = turn_pages(b, offset);

	if (err)
		return err;
	/* At the start of a page the row is needed even if the rule goes on. */
	if (rule == b->last && (low || rule == UNWIND_NO_INFO))
		return 0;
	b->last = rule;
	if (rule == UNWIND_NO_INFO && !low)
		return 0;
	return push_row(b, low, rule);
}

/* The last row of @p that is at or before @offset. */
static uint32_t row_before(const struct builder *b, const struct piece *p, uint32_t offset)
{
	uint32_t lo = p->first, hi = p->first + p->nr;

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (b->offsets[mid] <= offset)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static int put_piece_rows(struct builder *b, const struct piece *p)
{
	uint32_t i = row_before(b, p, p->start);
	int err = put_rule(b, p->start, b->ids[i]);

	for (i++; !err && i < p->first + p->nr && b->offsets[i] < p->end; i++)
		err = put_rule(b, b->offsets[i], b->ids[i]);
	return err;
}

/* Code that belongs to what is before it; see unwind_table.h. */
static int same_function(uint32_t end, uint32_t next)
{
	return end % FUNCTION_ALIGN && next % FUNCTION_ALIGN && next - end < FUNCTION_ALIGN;
}

static int lay_out(struct builder *b)
{
	struct unwind_table *t = b->t;
	const struct piece *p = b->all.at, *end;
	struct unwind_row *rows;
	uint32_t last_page;
	int err;

	if (!b->all.nr)
		return 0;
	end = p + b->all.nr;
	t->first_page = p->start >> UNWIND_PAGE_SHIFT;
	last_page = (end[-1].end - 1) >> UNWIND_PAGE_SHIFT;
	t->nr_pages = last_page - t->first_page + 1;
	t->pages = calloc(t->nr_pages + 1, sizeof(*t->pages));
	b->cap_rows = (uint32_t)(b->nr + 16);
	t->rows = malloc(b->cap_rows * sizeof(*t->rows));
	if (!t->pages || !t->rows)
		return no_memory(b);
	b->last = UNWIND_NO_INFO;
	for (; p < end; p++) {
		t->stats.covered += p->end - p->start;
		err = put_piece_rows(b, p);
		if (err)
			return err;
		if (p + 1 < end && (p[1].start == p->end || same_function(p->end, p[1].start)))
			continue;
		t->stats.gaps++;
		/* At the end of the last page there is no page to put a row into. */
		if (p->end >> UNWIND_PAGE_SHIFT > last_page)
			err = turn_pages(b, p->end - 1);
		else
			err = put_rule(b, p->end, UNWIND_NO_INFO);
		if (err)
			return err;
	}
	t->pages[t->nr_pages] = t->nr_rows;
	rows = realloc(t->rows, (t->nr_rows ? t->nr_rows : 1) * sizeof(*rows));
	if (rows)
		t->rows = rows;
	return 0;
}

static int collect_all(struct builder *b, const struct elf_cfi *cfi)
{
	int err = collect(b, &cfi->eh_frame, 0);

	if (!err)
		err = collect(b, &cfi->debug_frame, 1);
	for (uint32_t i = 0; !err && i < cfi->nr_plts; i++)
		err = collect_plt(b, &cfi->plt[i]);
	return err;
}

int unwind_table_build(struct unwind_table **out, const struct elf_file *f,
	struct unwind_rules *rules, struct err *e)
{
	struct builder b = {.f = f, .rules = rules, .e = e};
	struct elf_cfi cfi;
	int err;

	*out = NULL;
	b.t = calloc(1, sizeof(*b.t));
	if (!b.t)
		return no_memory(&b);
	err = elf_cfi_find(f, &cfi, e);
	if (err)
		goto out;
	b.t->stats.eh_frame = cfi.eh_frame.source;
	b.t->stats.debug_frame = cfi.debug_frame.source != ELF_CFI_NONE;
	err = collect_all(&b, &cfi);
	if (err)
		goto out;
	make_disjoint(&b, &b.eh);
	make_disjoint(&b, &b.debug);
	err = merge(&b);
	if (err)
		goto out;
	err = end_at_entry(&b, cfi.entry);
	if (err)
		goto out;
	err = lay_out(&b);
	if (err)
		goto out;
	*out = b.t;
	b.t = NULL;
out:
	unwind_table_free(b.t);
	free(b.eh.at);
	free(b.debug.at);
	free(b.all.at);
	free(b.offsets);
	free(b.ids);
	return err;
}

void unwind_table_free(struct unwind_table *t)
{
	if (!t)
		return;
	free(t->rows);
	free(t->pages);
	free(t);
}

uint16_t unwind_table_find(const struct unwind_table *t, uint64_t file_offset)
{
	uint64_t page = file_offset >> UNWIND_PAGE_SHIFT;
	uint16_t low = (uint16_t)file_offset;
	uint32_t lo, hi, first;

	if (page < t->first_page || page - t->first_page >= t->nr_pages)
		return UNWIND_NO_INFO;
	first = lo = t->pages[page - t->first_page];
	hi = t->pages[page - t->first_page + 1];
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (t->rows[mid].low <= low)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > first ? t->rows[lo - 1].rule : UNWIND_NO_INFO;
}

size_t unwind_table_bytes(const struct unwind_table *t)
{
	return sizeof(*t) + t->nr_rows * sizeof(*t->rows) +
	       (t->nr_pages ? (t->nr_pages + 1) * sizeof(*t->pages) : 0);
}

void unwind_table_check(const struct unwind_table *t)
{
	assert(t->nr_rows <= UNWIND_MAX_ROWS);
	if (!t->nr_pages) {
		assert(!t->nr_rows);
		return;
	}
	assert(t->pages[0] == 0 && t->pages[t->nr_pages] == t->nr_rows);
	for (uint32_t i = 0; i < t->nr_pages; i++) {
		assert(t->pages[i] <= t->pages[i + 1]);
		for (uint32_t k = t->pages[i]; k < t->pages[i + 1]; k++) {
			const struct unwind_row *row = &t->rows[k], *before = row - 1;

			assert(row->rule < UNWIND_MAX_RULES);
			if (k == t->pages[i]) /* what is not said is "no information" */
				assert(row->rule != UNWIND_NO_INFO);
			else
				assert(row->low > before->low && row->rule != before->rule);
		}
	}
}
