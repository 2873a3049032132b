// SPDX-License-Identifier: BSD-2-Clause
/*
 * diff_libdw [-v] FILE...    (names on standard input without arguments)
 *
 * Compares our unwind tables with libdw, an implementation that shares nothing
 * with ours. FDEs are enumerated by libdw (dwarf_next_cfi), and so are the rows
 * of each (dwarf_cfi_addrframe, dwarf_frame_info): what our parser misses is
 * found too. At each row both are *executed*, on the same random registers and
 * the same random memory, ours by bpf/unwind_step.h itself: CFA, return address
 * and RBP must be equal in all 64 bits. So rules are compared by what they do
 * and not by how they are written.
 *
 * A row that we say we cannot express is counted as unsupported. Exit 1 when a
 * row differs, or more than 0.3 % are unsupported.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <linux/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dw_eval.h"

/* Memory is a function of the address: any word that either side reads is as
 * random as the next, and the same for both. */
static uint64_t memory_word(uint64_t addr)
{
	uint64_t x = addr + 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	/* Above every register and below the sign: a plausible address. */
	return UINT64_C(0x4000000000000000) | (x ^ x >> 31) >> 2;
}

static int read_memory(void *dst, __u32 size, __u64 addr)
{
	char *to = dst;

	/* All reads are of whole words at whatever alignment: each is a word of
	 * its own, because libdw's side reads one at a time. */
	for (__u32 i = 0; i < size; i += 8) {
		uint64_t w = memory_word(addr + i);

		memcpy(to + i, &w, 8);
	}
	return 0;
}
#define unwind_read read_memory
#include "bpf/unwind_step.h"
#include "symbolize/unwind_table.h"

#define MAX_UNSUPPORTED 0.003
#define FOLLOWED	(1u << DW_RBP | 1u << DW_RSP | 1u << DW_RIP | 1u << DW_RBX)
#define SHOW_MAX	20 /* differences printed per file */

enum outcome {
	SAME,	       /* CFA, return address and RBP */
	SAME_END,      /* both say: outermost frame */
	BP_LOST,       /* CFA and return address; RBP is said to be lost */
	UNSUPPORTED,   /* the rule is said to be unsupported */
	LIBDW_FAILS,   /* libdw has no answer */
	LIBDW_INVALID, /* libdw calls the FDE invalid; libgcc does not, nor do we */
	OVERLAP,       /* another FDE covers the address for libdw */
	OUTSIDE,       /* not in an executable segment */
	DIFFERENT,
	NR_OUTCOMES
};

static const char *const outcome_text[NR_OUTCOMES] = {
	[SAME] = "equal",
	[SAME_END] = "equal: outermost frame",
	[BP_LOST] = "unsupported: RBP lost, CFA and return address equal",
	[UNSUPPORTED] = "unsupported: no rule",
	[LIBDW_FAILS] = "libdw fails, and we say unsupported",
	[LIBDW_INVALID] = "libdw fails, and we have a rule",
	[OVERLAP] = "covered by two FDEs",
	[OUTSIDE] = "not in an executable segment",
	[DIFFERENT] = "DIFFERENT",
};

struct totals {
	uint64_t files, fdes, rows[NR_OUTCOMES];
};

struct file {
	const char *path;
	Elf *elf;
	struct unwind_table *table;
	struct unwind_rules *rules;
	struct totals *sum;
	unsigned shown;
};

static int random_word(void *ctx, uint64_t addr, uint64_t *value)
{
	(void)ctx;
	*value = memory_word(addr);
	return 0;
}

/* ---- where FDEs begin and end: decoded here, so as to use nothing of ours ---- */

static uint64_t get(const uint8_t *p, unsigned size, int is_signed)
{
	uint64_t v = 0;

	memcpy(&v, p, size);
	if (is_signed && size < 8 && v >> (size * 8 - 1))
		v |= ~UINT64_C(0) << (size * 8);
	return v;
}

static unsigned format_size(uint8_t enc)
{
	switch (enc & 7) {
	case 2:
		return 2;
	case 3:
		return 4;
	default:
		return 8;
	}
}

static uint8_t encoding(const Dwarf_CIE *cie)
{
	const uint8_t *p = cie->augmentation_data;

	if (cie->augmentation[0] != 'z' || !p)
		return 0;
	for (const char *a = cie->augmentation + 1; *a; a++) {
		if (*a == 'R')
			return *p;
		if (*a == 'P')
			p += 1 + format_size(*p);
		else if (*a == 'L')
			p++;
	}
	return 0;
}

static uint64_t section_vaddr;
static const uint8_t *section_data;

static int fde_range(const Dwarf_FDE *fde, uint8_t enc, uint64_t *start, uint64_t *end)
{
	unsigned size = format_size(enc);

	if (fde->end - fde->start < 2 * (ptrdiff_t)size)
		return 0;
	*start = get(fde->start, size, enc & 8);
	if ((enc & 0x70) == 0x10)
		*start += section_vaddr + (uint64_t)(fde->start - section_data);
	*end = *start + get(fde->start + size, size, 0);
	return *start && *end > *start;
}

/* ---- comparing ---- */

static int file_offset(Elf *elf, uint64_t vaddr, uint64_t *offset)
{
	GElf_Phdr ph;
	size_t nr = 0;

	elf_getphdrnum(elf, &nr);
	for (size_t i = 0; i < nr; i++) {
		if (!gelf_getphdr(elf, (int)i, &ph) || ph.p_type != PT_LOAD || !(ph.p_flags & PF_X))
			continue;
		if (vaddr >= ph.p_vaddr && vaddr - ph.p_vaddr < ph.p_filesz) {
			*offset = vaddr - ph.p_vaddr + ph.p_offset;
			return 1;
		}
	}
	return 0;
}

/* All above RSP, so that any CFA made of them lies towards the root. */
static void random_registers(struct dw_regs *regs, struct unwind_regs *ours, uint64_t ip)
{
	static uint64_t state = 1;

	for (int i = 0; i < DW_REGS; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		regs->r[i] = UINT64_C(0x200000000000) + (state >> 20);
	}
	regs->r[DW_RSP] = UINT64_C(0x100000000000);
	regs->r[DW_RIP] = ip;
	regs->known = (1u << DW_REGS) - 1;
	*ours = (struct unwind_regs){
		.ip = ip, .sp = regs->r[DW_RSP], .bp = regs->r[DW_RBP], .is_leaf = 1};
	memcpy(ours->reg, regs->r, sizeof(ours->reg));
}

static enum outcome compare_at(
	const struct unwind_rule *rule, const struct dw_frame *frame, uint64_t ip)
{
	struct dw_regs theirs, caller;
	struct unwind_regs ours;
	enum unwind_stop stop;
	uint64_t cfa;

	random_registers(&theirs, &ours, ip);
	stop = unwind_step(rule, &ours);
	if (stop == UNWIND_STOP_UNSUPPORTED)
		return UNSUPPORTED;
	if (dw_frame_apply(frame, &theirs, &cfa, &caller, random_word, NULL))
		return stop == UNWIND_STOP_NO_INFO ? DIFFERENT : LIBDW_INVALID;
	if (!(caller.known & 1u << DW_RIP))
		return stop == UNWIND_STOP_END ? SAME_END : DIFFERENT;
	if (stop != UNWIND_GO_ON || ours.sp != cfa || ours.sp != caller.r[DW_RSP] ||
		ours.ip != caller.r[DW_RIP] || ours.is_return == (unsigned)frame->signal)
		return DIFFERENT;
	if (!ours.bx_gone && caller.known & 1u << DW_RBX &&
		caller.r[DW_RBX] != (ours.bx_at ? memory_word(ours.bx_at) : ours.reg[DW_X86_RBX]))
		return DIFFERENT;
	if (ours.bp_gone)
		return caller.known & 1u << DW_RBP ? BP_LOST : SAME;
	return caller.known & 1u << DW_RBP && ours.bp == caller.r[DW_RBP] ? SAME : DIFFERENT;
}

static void show(struct file *f, uint64_t vaddr, uint64_t offset, const struct unwind_rule *r)
{
	if (f->shown++ >= SHOW_MAX)
		return;
	printf("%s: %#" PRIx64 " (file offset %#" PRIx64
	       "): our rule: cfa %u reg %u off %d add %d, bp %u off %d, ra %u\n",
		f->path, vaddr, offset, r->cfa, r->reg, r->cfa_off, r->add, r->bp, r->bp_off,
		r->ra);
}

static enum outcome compare_row(struct file *f, Dwarf_CFI *cfi, uint64_t fde_start,
	uint64_t fde_end, uint64_t vaddr, uint64_t *next)
{
	const struct unwind_rule *rule;
	struct dw_frame frame;
	Dwarf_Frame *dw = NULL;
	Dwarf_Addr start = 0, end = 0;
	enum outcome o = SAME;
	uint64_t offset;

	*next = fde_end;
	if (!file_offset(f->elf, vaddr, &offset))
		return OUTSIDE;
	rule = unwind_rules_at(f->rules, unwind_table_find(f->table, offset));
	if (dwarf_cfi_addrframe(cfi, vaddr, &dw)) {
		*next = vaddr + 1; /* it may be this row only */
		return rule->cfa == UNWIND_UNSUPPORTED ? LIBDW_FAILS
		       : rule->cfa == UNWIND_NO_INFO   ? DIFFERENT
						       : LIBDW_INVALID;
	}
	dwarf_frame_info(dw, &start, &end, NULL);
	if (start < fde_start || end > fde_end) {
		free(dw);
		return OVERLAP;
	}
	*next = end > vaddr ? end : vaddr + 1;
	if (dw_frame_compile(dw, FOLLOWED, &frame))
		o = rule->cfa == UNWIND_UNSUPPORTED ? LIBDW_FAILS : LIBDW_INVALID;
	/* The rule of a PLT stub depends on the address's low bits. */
	for (uint64_t ip = vaddr; o <= SAME_END && ip < *next && ip < vaddr + 16; ip++) {
		o = compare_at(rule, &frame, ip);
		if (rule->cfa != UNWIND_PLT)
			break;
	}
	free(dw);
	if (o == DIFFERENT)
		show(f, vaddr, offset, rule);
	return o;
}

/* @first, if any, is asked before: its FDEs take precedence. */
static void compare_section(
	struct file *f, Elf_Data *data, int eh, Dwarf_CFI *cfi, Dwarf_CFI *first)
{
	unsigned char *ident = (unsigned char *)elf_getident(f->elf, NULL);
	Dwarf_Off at = 0, next = 0, cie_at = ~UINT64_C(0), unused;
	Dwarf_CFI_Entry entry;
	uint8_t enc = 0;
	int ret;

	for (; (ret = dwarf_next_cfi(ident, data, eh, at, &next, &entry)) != 1; at = next) {
		uint64_t start, end;

		if (ret < 0) {
			if (next <= at)
				break;
			continue;
		}
		if (dwarf_cfi_cie_p(&entry))
			continue;
		if (entry.fde.CIE_pointer != cie_at) {
			Dwarf_CFI_Entry cie;

			if (dwarf_next_cfi(ident, data, eh, entry.fde.CIE_pointer, &unused, &cie) ||
				!dwarf_cfi_cie_p(&cie))
				continue;
			cie_at = entry.fde.CIE_pointer;
			enc = encoding(&cie.cie);
		}
		if (!fde_range(&entry.fde, enc, &start, &end))
			continue;
		f->sum->fdes++;
		for (uint64_t vaddr = start; vaddr < end;) {
			Dwarf_Frame *dw = NULL;

			if (first && dwarf_cfi_addrframe(first, vaddr, &dw) == 0) {
				free(dw);
				f->sum->rows[OVERLAP]++;
				break;
			}
			f->sum->rows[compare_row(f, cfi, start, end, vaddr, &vaddr)]++;
		}
	}
}

static Elf_Data *section(Elf *elf, const char *name)
{
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	for (Elf_Scn *s = elf_nextscn(elf, NULL); s; s = elf_nextscn(elf, s)) {
		GElf_Shdr sh;

		if (!gelf_getshdr(s, &sh) || sh.sh_type == SHT_NOBITS ||
			strcmp(elf_strptr(elf, names, sh.sh_name) ?: "", name) != 0)
			continue;
		if (sh.sh_flags & SHF_COMPRESSED && elf_compress(s, 0, 0) < 0)
			return NULL;
		section_vaddr = sh.sh_addr;
		return elf_getdata(s, NULL);
	}
	return NULL;
}

static void compare_file(const char *path, struct unwind_rules *rules, struct totals *sum)
{
	struct file f = {.path = path, .rules = rules, .sum = sum};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct elf_file *ours = NULL;
	Dwarf_CFI *eh = NULL;
	Dwarf *dw = NULL;
	struct err e = {0};
	Elf_Data *data;
	int own;

	if (fd < 0)
		return;
	own = dup(fd);
	if (elf_open(&ours, own, path, NULL) || unwind_table_build(&f.table, ours, rules, &e)) {
		if (e.code && e.code != -EOPNOTSUPP)
			printf("%s\n", e.msg);
		goto out;
	}
	f.elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!f.elf)
		goto out;
	sum->files++;
	data = section(f.elf, ".eh_frame");
	if (data) {
		section_data = data->d_buf;
		eh = dwarf_getcfi_elf(f.elf);
		compare_section(&f, data, 1, eh, NULL);
	}
	data = section(f.elf, ".debug_frame");
	if (data) {
		section_data = data->d_buf;
		dw = dwarf_begin_elf(f.elf, DWARF_C_READ, NULL);
		if (dw && dwarf_getcfi(dw))
			compare_section(&f, data, 0, dwarf_getcfi(dw), eh);
	}
	if (f.shown > SHOW_MAX)
		printf("%s: and %u more\n", path, f.shown - SHOW_MAX);
out:
	if (eh)
		dwarf_cfi_end(eh);
	if (dw)
		dwarf_end(dw);
	if (f.elf)
		elf_end(f.elf);
	unwind_table_free(f.table);
	elf_close(ours);
	close(fd);
}

int main(int argc, char **argv)
{
	struct unwind_rules *rules = unwind_rules_new();
	struct totals sum = {0};
	uint64_t rows = 0, unsupported;
	char *name = NULL;
	size_t cap = 0;
	ssize_t len;

	elf_version(EV_CURRENT);
	if (!rules)
		return 3;
	for (int i = 1; i < argc; i++)
		compare_file(argv[i], rules, &sum);
	while (argc == 1 && (len = getline(&name, &cap, stdin)) > 0) {
		name[strcspn(name, "\n")] = '\0';
		compare_file(name, rules, &sum);
	}
	free(name);
	unwind_rules_free(rules);

	for (int i = 0; i < NR_OUTCOMES; i++)
		rows += sum.rows[i];
	printf("%" PRIu64 " files, %" PRIu64 " FDEs, %" PRIu64 " rows\n", sum.files, sum.fdes,
		rows);
	for (int i = 0; i < NR_OUTCOMES; i++)
		printf("%12" PRIu64 " %8.4f %%  %s\n", sum.rows[i],
			rows ? 100.0 * (double)sum.rows[i] / (double)rows : 0.0, outcome_text[i]);
	unsupported = sum.rows[UNSUPPORTED] + sum.rows[BP_LOST];
	if (!rows || sum.rows[DIFFERENT] || (double)unsupported > MAX_UNSUPPORTED * (double)rows)
		return 1;
	return 0;
}
