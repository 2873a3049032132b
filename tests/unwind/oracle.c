// SPDX-License-Identifier: BSD-2-Clause
/*
 * oracle [-n STEPS] [-i EVERY] [-atl] PROGRAM [ARGUMENT..]
 *
 * Steps PROGRAM instruction by instruction, and at every step unwinds its whole
 * stack three times:
 *
 *   ours    bpf/unwind_step.h with the tables of symbolize/unwind_table.h, as
 *           the BPF program does it
 *   libdw   dwarf_cfi_addrframe(), its expressions evaluated for all registers
 *   truth   the return addresses that call instructions pushed (truth.h)
 *
 * CFA, return address and RBP of each frame must be the same. Stepping begins
 * at an int3 in the program and ends at the next one, or with -a goes on from
 * the dynamic linker's first instruction to the exit.
 *
 * -n: stop after STEPS. -i: every EVERY steps the program gets a SIGUSR1, so
 * handlers interrupt it at every kind of instruction. -t: the program switches
 * stacks, so do not compare with the truth. -l: libdw finds no CFI in it, so do
 * not mind.
 *
 * Exit status 1 if a step is different from libdw, if libdw fails at more than
 * 1 % of them, or if CFI that libdw reads like us contradicts the truth at more
 * than 1 %. It does where libgcc's unwinder installs the frame of a landing pad:
 * it writes over its own return address and saved registers.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/types.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "modules.h"
#include "truth.h"

/* ---- the process's memory ---- */

#define SNAPSHOT   4096 /* bytes of stack read at each step: most frames lie in it */
#define CODE_BYTES 16
#define RED_ZONE   128

static pid_t child;
static struct {
	uint64_t base;
	size_t len;
	uint8_t bytes[RED_ZONE + SNAPSHOT];
} stack;

static ssize_t peek(void *dst, size_t size, uint64_t addr)
{
	struct iovec to = {.iov_base = dst, .iov_len = size};
	struct iovec from = {.iov_base = (void *)(uintptr_t)addr, .iov_len = size};

	return process_vm_readv(child, &to, 1, &from, 1, 0);
}

static int target_read(void *dst, __u32 size, __u64 addr)
{
	if (addr >= stack.base && addr - stack.base <= stack.len &&
		size <= stack.len - (addr - stack.base)) {
		memcpy(dst, stack.bytes + (addr - stack.base), size);
		return 0;
	}
	return peek(dst, size, addr) != (ssize_t)size;
}
#define unwind_read target_read
#include "bpf/unwind_step.h"

static int read_word(void *ctx, uint64_t addr, uint64_t *value)
{
	(void)ctx;
	return target_read(value, sizeof(*value), addr);
}

/* ---- the two unwinders ---- */

#define FRAMES_MAX 512

struct frame { /* what was found for the caller of a frame */
	uint64_t cfa, ra, bp;
	int bp_known;
};

enum stop {
	STOP_END,
	STOP_NO_INFO,
	STOP_FAIL,
	STOP_DEPTH
};

struct chain {
	struct frame at[FRAMES_MAX];
	unsigned nr;
	enum stop stop;
	enum unwind_stop why; /* ours */
	enum dw_error error;  /* libdw's */
	uint64_t last;	      /* the address at which it stopped */
};

static void unwind_ours(
	struct modules *m, const struct user_regs_struct *u, __u32 is_return, struct chain *c)
{
	struct unwind_regs r = {
		.ip = u->rip, .sp = u->rsp, .bp = u->rbp, .is_return = is_return, .is_leaf = 1};
	const uint64_t reg[DW_X86_NR] = {u->rax, u->rdx, u->rcx, u->rbx, u->rsi, u->rdi, u->rbp,
		u->rsp, u->r8, u->r9, u->r10, u->r11, u->r12, u->r13, u->r14, u->r15};

	memcpy(r.reg, reg, sizeof(reg));
	for (c->nr = 0; c->nr < FRAMES_MAX; c->nr++) {
		c->last = r.ip - r.is_return;
		c->why = unwind_step(modules_rule(m, c->last), &r);
		/* A return to the start of a function: nobody called it. */
		if (c->why == UNWIND_STOP_NO_INFO && r.is_return &&
			modules_rule(m, r.ip)->cfa != UNWIND_NO_INFO)
			c->why = UNWIND_STOP_END;
		if (c->why != UNWIND_GO_ON) {
			c->stop = c->why == UNWIND_STOP_END || c->why == UNWIND_STOP_ZERO ? STOP_END
				  : c->why == UNWIND_STOP_NO_INFO ? STOP_NO_INFO
								  : STOP_FAIL;
			return;
		}
		c->at[c->nr] =
			(struct frame){.cfa = r.sp, .ra = r.ip, .bp = r.bp, .bp_known = !r.bp_gone};
	}
	c->stop = STOP_DEPTH;
}

static void unwind_libdw(struct modules *m, const struct user_regs_struct *u, struct chain *c)
{
	struct dw_regs a = {.r = {u->rax, u->rdx, u->rcx, u->rbx, u->rsi, u->rdi, u->rbp, u->rsp,
				    u->r8, u->r9, u->r10, u->r11, u->r12, u->r13, u->r14, u->r15,
				    u->rip},
			       .known = (1u << DW_REGS) - 1},
		       b, *in = &a, *out = &b, *swap;
	int is_return = 0;
	uint64_t cfa;

	c->error = DW_OK;
	for (c->nr = 0; c->nr < FRAMES_MAX; c->nr++) {
		const struct dw_frame *f;

		c->last = in->r[DW_RIP] - (uint64_t)is_return;
		f = modules_frame(m, c->last);
		if (!f) {
			c->stop = STOP_NO_INFO;
			return;
		}
		c->error = dw_frame_apply(f, in, &cfa, out, read_word, NULL);
		if (c->error) {
			c->stop = STOP_FAIL;
			return;
		}
		if (!(out->known & 1u << DW_RIP) || !out->r[DW_RIP]) {
			c->stop = STOP_END;
			return;
		}
		c->at[c->nr] = (struct frame){.cfa = out->r[DW_RSP],
			.ra = out->r[DW_RIP],
			.bp = out->r[DW_RBP],
			.bp_known = !!(out->known & 1u << DW_RBP)};
		is_return = !f->signal;
		swap = in;
		in = out;
		out = swap;
	}
	c->stop = STOP_DEPTH;
}

/* ---- comparing ---- */

struct counts {
	uint64_t steps, frames, signals, deepest;
	uint64_t end;	/* equal, down to the outermost frame */
	uint64_t entry; /* equal, and we know that the last one, which has no CFI, is the outermost
			 */
	uint64_t both_stop;   /* equal, down to a frame for which there is no CFI */
	uint64_t ours_stops;  /* equal, but we could not go on */
	uint64_t libdw_fails; /* equal, but libdw could not go on */
	uint64_t different;
	uint64_t true_frames; /* frames compared with the truth */
	uint64_t untrue;      /* steps that contradict it */
	uint64_t untrue_both; /* so does libdw there: it is the CFI that is wrong */
	uint64_t bp_lost;     /* frames whose RBP we gave up and libdw has */
	uint64_t reasons[UNWIND_STOP_NR];
};

/* Each address once: it is stepped over again and again. */
#define SHOWN_MAX 8
static uint64_t shown[SHOWN_MAX];
static unsigned nr_shown;

static int show_once(uint64_t addr)
{
	for (unsigned i = 0; i < nr_shown; i++)
		if (shown[i] == addr)
			return 0;
	if (nr_shown == SHOWN_MAX)
		return 0;
	shown[nr_shown++] = addr;
	return 1;
}

static void print_chain(struct modules *m, const char *who, const struct chain *c)
{
	printf("  %s:\n", who);
	for (unsigned i = 0; i < c->nr && i < 12; i++)
		printf("    %2u cfa %#" PRIx64 " bp %#" PRIx64 "%s ra %#" PRIx64 " %s\n", i,
			c->at[i].cfa, c->at[i].bp, c->at[i].bp_known ? "" : "?", c->at[i].ra,
			modules_name(m, c->at[i].ra));
}

static void print_truth(struct modules *m, const struct truth *t)
{
	printf("  truth:\n");
	for (unsigned i = 0; i < t->nr && i < 12; i++) {
		const struct truth_entry *e = &t->at[t->nr - 1 - i];

		printf("    %2u cfa %#" PRIx64 " ra %#" PRIx64 " %s\n", i, e->sp, e->ip,
			modules_name(m, e->ip));
	}
}

/* How many frames agree. */
static unsigned equal_frames(const struct chain *a, const struct chain *b, struct counts *n)
{
	unsigned i;

	for (i = 0; i < a->nr && i < b->nr; i++) {
		if (a->at[i].cfa != b->at[i].cfa || a->at[i].ra != b->at[i].ra)
			break;
		if (!b->at[i].bp_known)
			continue;
		if (!a->at[i].bp_known)
			n->bp_lost++;
		else if (a->at[i].bp != b->at[i].bp)
			break;
	}
	return i;
}

/* 1 when there is no difference. */
static int compare_libdw(struct modules *m, const struct user_regs_struct *u,
	const struct chain *ours, const struct chain *dw, struct counts *n)
{
	unsigned same = equal_frames(ours, dw, n);

	if (same < ours->nr && same < dw->nr) {
		n->different++;
		if (show_once(u->rip)) {
			printf("different at %s\n", modules_name(m, u->rip));
			print_chain(m, "ours", ours);
			print_chain(m, "libdw", dw);
		}
		return 0;
	} else if (ours->nr == dw->nr && ours->stop == dw->stop) {
		if (ours->stop == STOP_END)
			n->end++;
		else {
			n->both_stop++;
			if (show_once(ours->last))
				printf("no CFI at %s\n", modules_name(m, ours->last));
		}
	} else if (ours->nr == dw->nr && ours->stop == STOP_END && dw->stop == STOP_NO_INFO) {
		n->entry++;
	} else if (ours->nr < dw->nr || dw->stop == STOP_END) {
		n->ours_stops++;
		n->reasons[ours->why]++;
		if (show_once(ours->last))
			printf("we stop (%d) at %s, libdw goes on\n", ours->why,
				modules_name(m, ours->last));
	} else {
		n->libdw_fails++;
		if (show_once(dw->last))
			printf("libdw fails (%d) at %s\n", dw->error, modules_name(m, dw->last));
	}
	return 1;
}

static void compare_truth(struct modules *m, const struct user_regs_struct *u,
	const struct chain *ours, const struct truth *t, int as_libdw, struct counts *n)
{
	/* A return address in a register is on no stack any more (vfork). */
	if (modules_rule(m, u->rip)->ra == UNWIND_RA_REG)
		return;
	for (unsigned i = 0; i < t->nr && i < ours->nr; i++) {
		const struct truth_entry *e = &t->at[t->nr - 1 - i];

		if (ours->at[i].cfa != e->sp || ours->at[i].ra != e->ip) {
			*(as_libdw ? &n->untrue_both : &n->untrue) += 1;
			if (!as_libdw && show_once(u->rip)) {
				printf("untrue at %s\n", modules_name(m, u->rip));
				print_chain(m, "ours", ours);
				print_truth(m, t);
			}
			return;
		}
		n->true_frames++;
	}
	/* An outermost frame that is none. */
	if (ours->stop == STOP_END && ours->nr < t->nr) {
		*(as_libdw ? &n->untrue_both : &n->untrue) += 1;
		if (!as_libdw && show_once(ours->last))
			printf("not the end: %s\n", modules_name(m, ours->last));
	}
}

/* In a system call the kernel walk begins at the address before ip: no difference. */
static void compare_syscall(struct modules *m, const struct user_regs_struct *u,
	const struct chain *ours, struct counts *n)
{
	static struct chain c;

	unwind_ours(m, u, 1, &c);
	if (c.nr == ours->nr && c.stop == ours->stop && equal_frames(&c, ours, n) == c.nr)
		return;
	n->different++;
	if (show_once(u->rip))
		printf("system call at %s: %u frames instead of %u\n", modules_name(m, u->rip),
			c.nr, ours->nr);
}

/* ---- stepping ---- */

static void fail(const char *what)
{
	fprintf(stderr, "oracle: %s: %s\n", what, strerror(errno));
	if (child > 0)
		kill(child, SIGKILL);
	exit(3);
}

/* 0 when the process has ended. */
static int wait_stop(int *sig)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			fail("waitpid");
	if (!WIFSTOPPED(status))
		return 0;
	*sig = WSTOPSIG(status);
	return 1;
}

static int start(char **argv)
{
	cpu_set_t one;
	int sig, cpu = sched_getcpu();

	/* Stepping is a ping-pong: on one CPU nobody has to be woken on another. */
	CPU_ZERO(&one);
	CPU_SET(cpu < 0 ? 0 : (unsigned)cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);

	child = fork();
	if (child < 0)
		fail("fork");
	if (!child) {
		personality(ADDR_NO_RANDOMIZE); /* the same addresses in every run */
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (!wait_stop(&sig))
		return 0;
	ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)PTRACE_O_EXITKILL);
	return 1;
}

/* Run to the program's int3. */
static int run_to_mark(void)
{
	int sig = 0;

	do {
		if (ptrace(PTRACE_CONT, child, NULL, (void *)(intptr_t)(sig == SIGTRAP ? 0 : sig)) <
			0)
			fail("ptrace");
		if (!wait_stop(&sig))
			return 0;
	} while (sig != SIGTRAP);
	return 1;
}

static void read_memory(const struct user_regs_struct *u, uint8_t code[CODE_BYTES])
{
	struct iovec to[2] = {{code, CODE_BYTES}, {stack.bytes, sizeof(stack.bytes)}};
	struct iovec from[2] = {{(void *)(uintptr_t)u->rip, CODE_BYTES},
		{(void *)(uintptr_t)(u->rsp - RED_ZONE), sizeof(stack.bytes)}};
	ssize_t got = process_vm_readv(child, to, 2, from, 2, 0);

	/* Parts of the two ranges are read up to the first page that is not there. */
	if (got < CODE_BYTES) {
		memset(code, 0, CODE_BYTES);
		peek(code, 4096 - u->rip % 4096 < CODE_BYTES ? 4096 - u->rip % 4096 : CODE_BYTES,
			u->rip);
		got = peek(stack.bytes, sizeof(stack.bytes), u->rsp - RED_ZONE);
		got = got < 0 ? CODE_BYTES : got + CODE_BYTES;
	}
	stack.base = u->rsp - RED_ZONE;
	stack.len = (size_t)(got - CODE_BYTES);
}

/* Did the step end at the first instruction of a handler of @sig? Then the kernel
 * has saved on the stack what it interrupted, which is the truth we go by. */
static int in_handler(const struct user_regs_struct *before, const struct user_regs_struct *now,
	int sig, struct truth *t)
{
	uint64_t word, saved[SIG_NR];

	if (!sig || now->rdi != (uint64_t)sig ||
		peek(&word, sizeof(word), now->rsp) != sizeof(word) ||
		peek(saved, sizeof(saved), now->rsp + 8 + UNWIND_SIGFRAME_GREGS) != sizeof(saved))
		return 0;
	/* An interrupted system call may be made again: RIP is moved back to it. */
	if (saved[SIG_RSP] != before->rsp ||
		(saved[SIG_RIP] != before->rip && saved[SIG_RIP] != before->rip - 2))
		return 0;
	truth_signal(t, now->rsp, word, saved[SIG_RIP], saved[SIG_RSP]);
	return 1;
}

static void step_through(struct modules *m, uint64_t max, uint64_t every, int to_exit,
	int with_truth, struct counts *n)
{
	static struct chain ours, dw;
	static struct truth truth;
	int sig = 0, inject = 0, was_syscall = 0, as_libdw;
	uint64_t behind = 0;

	for (;;) {
		struct user_regs_struct u, after;
		uint8_t code[CODE_BYTES];
		unsigned call;
		int is_syscall;

		if (ptrace(PTRACE_GETREGS, child, NULL, &u) < 0)
			fail("PTRACE_GETREGS");
		read_memory(&u, code);
		if (n->steps && code[0] == 0xcc && !to_exit)
			return;
		unwind_ours(m, &u, 0, &ours);
		if (was_syscall && u.rip == behind)
			compare_syscall(m, &u, &ours, n);
		unwind_libdw(m, &u, &dw);
		n->steps++;
		n->frames += ours.nr + 1;
		if (ours.nr > n->deepest)
			n->deepest = ours.nr;
		as_libdw = compare_libdw(m, &u, &ours, &dw, n);
		if (with_truth)
			compare_truth(m, &u, &ours, &truth, as_libdw, n);
		if (n->steps == max)
			return;

		call = truth_call_length(code, sizeof(code));
		is_syscall = code[0] == 0x0f && code[1] == 0x05;
		inject = !sig && every && n->steps % every == 0 ? SIGUSR1 : sig;
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)(intptr_t)inject) < 0)
			fail("PTRACE_SINGLESTEP");
		if (!wait_stop(&sig))
			return;
		/* A signal that arrives by itself is given with the next step. */
		if (sig == SIGTRAP)
			sig = 0;
		if (ptrace(PTRACE_GETREGS, child, NULL, &after) < 0)
			fail("PTRACE_GETREGS");
		if (in_handler(&u, &after, inject, &truth))
			n->signals++;
		else if (call && after.rsp == u.rsp - 8)
			truth_call(&truth, after.rsp, u.rip + call);
		truth_stack_pointer(&truth, after.rsp);
		if (is_syscall)
			modules_changed(m);
		was_syscall = is_syscall;
		behind = u.rip + 2;
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	uint64_t max = UINT64_MAX, every = 0;
	struct counts n = {0};
	struct modules *m;
	int c, all = 0, with_truth = 1, libdw_may_fail = 0, failed;
	double began;

	while ((c = getopt(argc, argv, "+n:i:atl")) >= 0) {
		if (c == 'n')
			max = strtoull(optarg, NULL, 0);
		else if (c == 'i')
			every = strtoull(optarg, NULL, 0);
		else if (c == 'a')
			all = 1;
		else if (c == 't')
			with_truth = 0;
		else if (c == 'l')
			libdw_may_fail = 1;
		else
			return 2;
	}
	if (optind == argc)
		return 2;
	began = now();
	if (!start(argv + optind) || (!all && !run_to_mark())) {
		fprintf(stderr, "oracle: %s ended before it could be stepped\n", argv[optind]);
		return 3;
	}
	m = modules_new(child);
	step_through(m, max, every, all, with_truth, &n);
	kill(child, SIGKILL);
	modules_free(m);

	failed = !n.steps || n.different || n.untrue || n.untrue_both * 100 > n.steps ||
		 (n.libdw_fails * 100 > n.steps && !libdw_may_fail) ||
		 n.ours_stops * 1000 > n.steps * 3;
	printf("%s %" PRIu64 " steps, %.1f frames, deepest %" PRIu64 ", %" PRIu64
	       " signals, %.0f s: %" PRIu64 " to the end, %" PRIu64 " to the entry point, %" PRIu64
	       " to code without CFI; %" PRIu64 " we stop, %" PRIu64 " libdw fails, %" PRIu64
	       " different; %" PRIu64 " frames true, %" PRIu64 " steps untrue, %" PRIu64
	       " as libdw's; %" PRIu64 " RBP lost\n",
		failed ? "FAIL" : "ok", n.steps, n.steps ? (double)n.frames / (double)n.steps : 0.0,
		n.deepest, n.signals, now() - began, n.end, n.entry, n.both_stop, n.ours_stops,
		n.libdw_fails, n.different, n.true_frames, n.untrue, n.untrue_both, n.bp_lost);
	return failed;
}
