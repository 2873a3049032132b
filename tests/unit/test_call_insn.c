/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Return addresses told by the code around them: encodings by hand, from the
 * manuals, for both architectures, and on x86-64 every instruction of libc and of
 * this program against binutils' disassembler.
 */
#include "support.h"

#include <linux/types.h>
#include <math.h>

#undef __TARGET_ARCH_x86
#undef __TARGET_ARCH_arm64

#define __TARGET_ARCH_x86
#include "bpf/call_insn.h"

/* The same header for the other architecture, under other names. */
#undef __TARGET_ARCH_x86
#undef PROFBPF_CALL_INSN_H
#undef CALL_INLINE
#define __TARGET_ARCH_arm64
#define ends_call	  arm64_ends_call
#define begins_trampoline arm64_begins_trampoline
#define follows_go_start  arm64_follows_go_start
#include "bpf/call_insn.h"
#undef ends_call
#undef begins_trampoline
#undef follows_go_start

#define LONGEST 8 /* bytes looked at before and after an address */

/* Is a call seen before the end of @code ("e8 ff ff 00 00")? What is before the text is @before. */
static int x86_call(const char *code, __u8 before)
{
	__u8 bytes[32];
	size_t n = LONGEST;

	memset(bytes, before, sizeof(bytes));
	for (char *end; *code; code = end + (*end == ' '))
		bytes[n++] = (__u8)strtoul(code, &end, 16);
	return ends_call(bytes + n);
}

static void test_x86_calls_of_every_form_are_seen(void **state)
{
	static const char *const calls[] = {
		"e8 10 20 30 40",	   /* call rel32 */
		"f2 e8 10 20 30 40",	   /* bnd call */
		"66 48 e8 10 20 30 40",	   /* of the TLS sequence */
		"ff d0",		   /* call *%rax */
		"ff d4",		   /* call *%rsp: no SIB, as mod is 3 */
		"41 ff d3",		   /* call *%r11 */
		"3e ff d0",		   /* notrack call *%rax */
		"ff 13",		   /* call *(%rbx) */
		"ff 14 24",		   /* call *(%rsp) */
		"41 ff 14 24",		   /* call *(%r12) */
		"ff 55 10",		   /* call *0x10(%rbp) */
		"ff 54 24 10",		   /* call *0x10(%rsp) */
		"ff 15 10 20 30 40",	   /* call *0x40302010(%rip) */
		"ff 90 10 20 30 40",	   /* call *0x40302010(%rax) */
		"ff 94 24 10 20 30 40",	   /* call *0x40302010(%rsp) */
		"ff 14 c5 10 20 30 40",	   /* call *0x40302010(,%rax,8): no base, so 4 bytes */
		"65 ff 14 25 10 00 00 00", /* call *%gs:0x10 */
	};

	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		if (!x86_call(calls[i], 0x90))
			print_error("not seen: %s\n", calls[i]);
		assert_true(x86_call(calls[i], 0x90));
	}
}

static void test_x86_what_is_no_call_is_not_taken_for_one(void **state)
{
	static const char *const others[] = {
		"c3",			   /* ret */
		"e9 10 20 30 40",	   /* jmp rel32 */
		"ff e0",		   /* jmp *%rax: FF /4 */
		"ff c0",		   /* inc %eax: FF /0 */
		"ff 30",		   /* push (%rax): FF /6 */
		"ff 1c 24",		   /* lcall *(%rsp): FF /3 */
		"ff 15 10 20 30",	   /* a call cut short */
		"ff 14 c5 10",		   /* and one whose SIB has no base */
		"ff d0 90",		   /* behind the instruction after a call */
		"48 89 e5",		   /* mov %rsp, %rbp */
		"48 8b 05 10 20 30 40",	   /* mov 0x40302010(%rip), %rax */
		"0f 1f 84 00 00 00 00 00", /* nop */
		"55",			   /* push %rbp: a function's second instruction */
	};

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		if (x86_call(others[i], 0x90) || x86_call(others[i], 0))
			print_error("taken for a call: %s\n", others[i]);
		assert_false(x86_call(others[i], 0x90));
		assert_false(x86_call(others[i], 0));
	}
}

static void test_x86_trampolines(void **state)
{
	static const __u8 good[][LONGEST] = {
		{0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f}, /* glibc, musl, Go */
		{0xb8, 15, 0, 0, 0, 0x0f, 0x05, 0x90},
		{0xb8, 173, 0, 0, 0, 0xcd, 0x80, 0x90}, /* 32 bits, rt_sigreturn */
		{0x58, 0xb8, 119, 0, 0, 0, 0xcd, 0x80}, /* 32 bits, sigreturn */
	};
	static const __u8 bad[][LONGEST] = {
		{0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0xc3}, /* a function that returns 15 */
		{0x48, 0xc7, 0xc0, 14, 0, 0, 0, 0x0f}, /* another system call */
		{0x48, 0xc7, 0xc0, 15, 1, 0, 0, 0x0f},
		{0x48, 0xc7, 0xc1, 15, 0, 0, 0, 0x0f}, /* into %rcx */
		{0xb8, 15, 0, 0, 0, 0x0f, 0x44, 0xc2}, /* cmove after mov $15, %eax */
		{0xb8, 15, 0, 0, 0, 0xc3, 0x90, 0x90},
		{0xb8, 173, 0, 0, 0, 0x0f, 0x05, 0x90}, /* a system call of 64 bits */
		{0xb8, 119, 0, 0, 0, 0xcd, 0x80, 0x90},
	};

	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		assert_true(begins_trampoline(good[i]));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(begins_trampoline(bad[i]));
}

static void test_x86_go_start(void **state)
{
	/* runtime.goexit of go1.19, and the end of one function before another that begins with a
	 * call */
	static const __u8 goexit[] = {0xcc, 0x90, 0xe8, 0xdb, 0x1b, 0, 0, 0x90};
	static const __u8 other[] = {0xcc, 0xc3, 0xe8, 0xdb, 0x1b, 0, 0, 0x90};

	assert_true(follows_go_start(goexit + 2));
	assert_false(follows_go_start(goexit + 1));
	assert_false(follows_go_start(other + 2));
}

/* Instructions of arm64 in memory order, @insn the one in question. */
static const __u8 *arm64_code(__u32 before, __u32 insn, __u32 after)
{
	static __u8 bytes[12];
	__u32 words[3] = {before, insn, after};

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (__u8)(words[i / 4] >> i % 4 * 8);
	return bytes;
}

#define ARM64_NOP 0xd503201f

/* Arm ARM (DDI 0487) C6.2: BL, BLR, BLRAA and its kin. */
static void test_arm64_calls(void **state)
{
	static const __u32 calls[] = {
		0x94000000, /* bl . */
		0x97ffffff, /* bl .-4 */
		0xd63f0000, /* blr x0 */
		0xd63f03c0, /* blr x30 */
		0xd63f081f, /* blraaz x0 */
		0xd63f0fdf, /* blrabz x30 */
		0xd73f0801, /* blraa x0, x1 */
		0xd73f0fff, /* blrab xzr, sp */
	};
	static const __u32 others[] = {
		0x14000000, /* b . */
		0x54000000, /* b.eq . */
		0xd61f0000, /* br x0 */
		0xd61f081f, /* braaz x0 */
		0xd71f0801, /* braa x0, x1 */
		0xd65f03c0, /* ret */
		0xd65f0bff, /* retaa */
		0xa9bf7bfd, /* stp x29, x30, [sp, #-16]! */
		0x910003fd, /* mov x29, sp */
		0xd4000001, /* svc #0 */
		0xd69f03e0, /* eret */
		ARM64_NOP,
		0,
	};

	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		assert_true(arm64_ends_call(arm64_code(ARM64_NOP, calls[i], ARM64_NOP) + 8));
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		assert_false(arm64_ends_call(arm64_code(0x94000000, others[i], 0x94000000) + 8));
}

static void test_arm64_trampoline_and_go_start(void **state)
{
	/* mov x8, #139; svc #0 */
	assert_true(arm64_begins_trampoline(arm64_code(ARM64_NOP, 0xd2801168, 0xd4000001) + 4));
	/* #138; into x9; without the call */
	assert_false(arm64_begins_trampoline(arm64_code(ARM64_NOP, 0xd2801148, 0xd4000001) + 4));
	assert_false(arm64_begins_trampoline(arm64_code(ARM64_NOP, 0xd2801169, 0xd4000001) + 4));
	assert_false(arm64_begins_trampoline(arm64_code(ARM64_NOP, 0xd2801168, 0xd65f03c0) + 4));
	/* mov x0, x0; bl goexit1 */
	assert_true(arm64_follows_go_start(arm64_code(0xaa0003e0, 0x94000123, ARM64_NOP) + 4));
	assert_false(arm64_follows_go_start(arm64_code(ARM64_NOP, 0x94000123, ARM64_NOP) + 4));
	assert_false(arm64_follows_go_start(arm64_code(0xaa0003e0, 0x14000123, ARM64_NOP) + 4));
}

#if defined(__x86_64__)

/* --- every instruction of a file, as objdump -d tells them ------------------- */

struct insn {
	uint64_t addr;
	unsigned len;
	char text[40]; /* without operands' symbols */
	int is_entry;  /* a symbol is here */
};

struct code {
	struct insn *insn;
	size_t nr, cap;
	__u8 *bytes; /* of base and on; LONGEST of both sides are 0 */
	uint64_t base, size;
};

static void add_line(struct code *c, const char *line, int is_entry)
{
	unsigned long addr;
	struct insn *i;
	const char *p;
	char *end;

	addr = strtoul(line, &end, 16);
	if (*end != ':' || end[1] != '\t')
		return;
	if (c->nr == c->cap) {
		c->cap = c->cap ? c->cap * 2 : 1024;
		c->insn = realloc(c->insn, c->cap * sizeof(*c->insn));
		assert_non_null(c->insn);
	}
	if (!c->nr)
		c->base = addr;
	assert_true(addr >= c->base && addr - c->base < 256 << 20);
	i = &c->insn[c->nr++];
	*i = (struct insn){.addr = addr, .is_entry = is_entry};
	while (addr - c->base + 3 * LONGEST > c->size) {
		uint64_t size = c->size ? c->size * 2 : 1 << 16;

		c->bytes = realloc(c->bytes, size);
		assert_non_null(c->bytes);
		memset(c->bytes + c->size, 0, size - c->size);
		c->size = size;
	}
	for (p = end + 2; p[0] != '\t' && p[0] != '\n' && p[0] != ' '; p += 3) {
		assert_true(i->len < 16);
		c->bytes[LONGEST + addr - c->base + i->len++] = (__u8)strtoul(p, NULL, 16);
	}
	while (*p == ' ' || *p == '\t')
		p++;
	snprintf(i->text, sizeof(i->text), "%.*s", (int)strcspn(p, "<#\n"), p);
}

static void disassemble(const char *path, struct code *c)
{
	char *cmd, *line = NULL;
	int is_entry = 0;
	size_t cap = 0;
	FILE *f;

	*c = (struct code){0};
	/* -z: zeros are instructions as well; -w: all bytes of one on its line */
	assert_true(asprintf(&cmd, "LC_ALL=C objdump -d -w -z '%s'", path) > 0);
	f = popen(cmd, "r");
	free(cmd);
	assert_non_null(f);
	while (getline(&line, &cap, f) > 0) {
		if (line[0] == ' ')
			add_line(c, line, is_entry);
		is_entry = line[0] != ' ' && line[0] != '\n';
	}
	free(line);
	assert_int_equal(pclose(f), 0);
	assert_true(c->nr > 1000);
}

static void code_free(struct code *c)
{
	free(c->insn);
	free(c->bytes);
}

static const __u8 *code_at(const struct code *c, uint64_t addr)
{
	return c->bytes + LONGEST + (addr - c->base);
}

static int has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = text; (p = strstr(p, word)); p += n)
		if ((p == text || p[-1] == ' ') && (!p[n] || p[n] == ' '))
			return 1;
	return 0;
}

/* A near call, with whatever prefix; "lcall" is another one. */
static int is_call(const struct insn *i)
{
	return has_word(i->text, "call") || has_word(i->text, "callq");
}

static int is_trampoline(const struct code *c, size_t i)
{
	const char *text = c->insn[i].text;

	return i + 1 < c->nr && has_word(c->insn[i + 1].text, "syscall") &&
	       (has_word(text, "$0xf,%rax") || has_word(text, "$0xf,%eax"));
}

static void path_of(const char *part, char *path, size_t size)
{
	char *line = NULL;
	size_t cap = 0;
	FILE *f = fopen("/proc/self/maps", "r");

	assert_non_null(f);
	*path = '\0';
	while (!*path && getline(&line, &cap, f) > 0)
		if (strstr(line, part))
			snprintf(path, size, "%.*s", (int)strcspn(strchr(line, '/'), "\n"),
				strchr(line, '/'));
	free(line);
	fclose(f);
	assert_true(*path);
}

/*
 * No call may be missed. What is not behind one and is taken for it, of glibc 2.36:
 * 0.34 % of the instructions (mostly E8 as an operand, mov %rbp, %rax, five bytes
 * before), 1 of 2,214 functions' entries (docs/unwinding.md). Twice these shares is
 * accepted, with 4 sigma for chance in small files.
 */
#define WRONG_SHARE   0.0034
#define OWN_SHARE     0.0117 /* of this program under the sanitizers, which is full of calls */
#define ENTRIES_SHARE 0.0005

static int at_most_twice(size_t count, size_t of, double share)
{
	return count <= 2 * share * of + 4 * sqrt(share * of);
}

static void compare(const char *path, unsigned trampolines, double share)
{
	size_t calls = 0, missed = 0, others = 0, wrong = 0, entries = 0, wrong_entries = 0;
	size_t found = 0, differ = 0;
	struct code c;

	disassemble(path, &c);
	for (size_t i = 0; i < c.nr; i++) {
		const __u8 *at = code_at(&c, c.insn[i].addr);
		int behind_call = i && is_call(&c.insn[i - 1]) &&
				  c.insn[i - 1].addr + c.insn[i - 1].len == c.insn[i].addr;
		int seen = ends_call(at), accepted = seen || follows_go_start(at);

		found += begins_trampoline(at) != 0;
		if (!begins_trampoline(at) != !is_trampoline(&c, i)) {
			print_error("trampoline? %lx: %s\n", c.insn[i].addr, c.insn[i].text);
			differ++;
		}
		if (behind_call) {
			calls++;
			if (!seen) {
				print_error("missed: %lx: %s\n", c.insn[i - 1].addr,
					c.insn[i - 1].text);
				missed++;
			}
		} else {
			others++;
			wrong += accepted;
			entries += c.insn[i].is_entry;
			wrong_entries += c.insn[i].is_entry && accepted;
		}
	}
	print_message("%s: %zu of %zu calls missed; taken for one: %zu of %zu other instructions "
		      "(%.3f %%), %zu of %zu entries; %zu trampolines\n",
		path, missed, calls, wrong, others, 100.0 * wrong / others, wrong_entries, entries,
		found);
	assert_true(calls > 50);
	assert_int_equal(missed, 0);
	assert_int_equal(differ, 0);
	assert_int_equal(found, trampolines);
	assert_true(at_most_twice(wrong, others, share));
	assert_true(at_most_twice(wrong_entries, entries, ENTRIES_SHARE));
	code_free(&c);
}

static void test_libc_as_objdump_has_it(void **state)
{
	char path[4096];

	path_of("/libc.so.", path, sizeof(path));
	compare(path, 1 /* __restore_rt */, WRONG_SHARE);
}

static void test_this_program_as_objdump_has_it(void **state)
{
	char path[4096];

	path_of("/test_call_insn", path, sizeof(path));
	compare(path, 0, OWN_SHARE);
}

#define DISASSEMBLED T(test_libc_as_objdump_has_it), T(test_this_program_as_objdump_has_it),
#else
#define DISASSEMBLED
#endif

RUN_TESTS(T(test_x86_calls_of_every_form_are_seen),
	T(test_x86_what_is_no_call_is_not_taken_for_one), T(test_x86_trampolines),
	T(test_x86_go_start), DISASSEMBLED T(test_arm64_calls),
	T(test_arm64_trampoline_and_go_start))
