// SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only)
/*
 * What a user address means: ranges of the current process, and module ids.
 */
#include "bpf/stack.bpf.h"

#include "bpf/call_site.bpf.h"
#include "bpf/emit.bpf.h"
#include "bpf/module.bpf.h"

/* The id of the file in w->key, given out at first sight; MODULE_NONE when the table is full. */
static __always_inline __u32 module_id(struct walk *w, __u32 pid)
{
	struct wire_module rec = {};

	/* The file must be opened while its process lives. */
	if (module_claim(&rec, &w->key, w->start, w->end, pid))
		emit_event(&rec, sizeof(rec), BPF_RB_FORCE_WAKEUP);
	return rec.id;
}

static __always_inline int same_file(const struct wire_file_key *a, const struct wire_file_key *b)
{
	return a->ino == b->ino && a->ctime_ns == b->ctime_ns && a->size == b->size &&
	       a->dev == b->dev && a->gen == b->gen;
}

/*
 * The id of the file that s->walk has found; known for those of the last samples.
 * A function of its own for its stack: all that call each other have 512 bytes
 * together, and this one and vma_find() do not.
 */
__noinline int cached_module_id(struct scratch *s)
{
	struct wire_file_key *key;
	struct known_module *m;

	if (!s)
		return MODULE_NONE;
	key = &s->walk.key;
	m = &s->known[key->ino & (NR_KNOWN - 1)];
	if (m->id == MODULE_NONE || !same_file(&m->key, key)) {
		m->id = module_id(&s->walk, s->pid);
		m->key = *key;
	}
	return (int)m->id;
}

/* Look the mapping at s->walk.pc up and keep it as a range. Returns its index. */
__noinline int range_load(struct scratch *s)
{
	struct range *r;
	struct walk *w;
	__u32 i;
	int err;

	if (!s)
		return 0;
	i = s->next_range & (NR_RANGES - 1);
	s->next_range = i + 1;
	r = &s->range[i];
	w = &s->walk;
	err = vma_find(w);
	r->kind = FRAME_NONE;
	r->reason = 0;
	r->owner = 0;
	r->offset = 0;
	if (err) {
		struct wire_counters *c = my_counters();

		if (err == REASON_WALK_FAILED && c)
			c->walk_failed++;
		r->start = r->end = 0; /* valid for this address only */
		r->reason = err;
		return i;
	}
	r->start = w->start;
	r->end = w->end;
	if (!(w->flags & VM_EXEC)) {
		r->reason = REASON_NOT_CODE;
	} else if (w->has_file) {
		r->owner = cached_module_id(s);
		r->offset = (w->pgoff << knob_page_shift) - w->start;
		r->kind = FRAME_MODULE;
		if (r->owner == MODULE_NONE) {
			r->kind = FRAME_NONE;
			r->reason = REASON_MODULE_TABLE_FULL;
		}
	} else if (w->is_vdso) {
		r->owner = MODULE_VDSO;
		r->offset = -w->start;
		r->kind = FRAME_MODULE;
	} else {
		r->kind = FRAME_JIT;
	}
	return i;
}

/*
 * Append what user address @addr is. @flags: FRAME_F_RETURN. 0 to go on, or 1 +
 * enum stack_result when nothing can follow.
 */
__noinline int frame_resolve(struct scratch *s, __u64 addr, __u32 flags)
{
	__u64 pc = addr - (flags & FRAME_F_RETURN ? 1 : 0);
	struct frame *f;
	struct range *r;
	__u32 n, found = NR_RANGES;

	if (!s)
		return 1 + STACK_UNREADABLE;
	n = s->nr_kernel + s->nr_user;
	for (__u32 i = 0; i < NR_RANGES; i++) {
		if (pc >= s->range[i].start && pc < s->range[i].end) {
			found = i;
			break;
		}
	}
	if (found >= NR_RANGES) {
		s->walk.pc = pc;
		found = range_load(s);
	}
	s->last_range = found;
	r = &s->range[found & (NR_RANGES - 1)];
	barrier_var(n);
	if (n >= MAX_FRAMES)
		return 1 + STACK_TRUNCATED; /* for the verifier */
	f = scratch_frame(s, n);
	f->addr = addr + r->offset;
	f->owner = r->owner;
	f->kind = r->kind;
	f->reason = r->reason;
	f->flags = (__u16)flags;
	s->nr_user++;
	/* A file without an id is code all the same; all else is where a chain went wrong. */
	return r->kind == FRAME_NONE && r->reason != REASON_MODULE_TABLE_FULL ? 1 + STACK_BROKEN
									      : 0;
}

/*
 * Frame @f came from a frame record: is its address one to return to? If not it
 * becomes FRAME_NONE. 0 to go on, or 1 + enum stack_result.
 */
static __always_inline int frame_check(struct scratch *s, struct frame *f)
{
	struct known_return *known;
	__u32 slot;

	/*
	 * JIT compilers push addresses of their own making. That the next frame pointer
	 * is 0 proves nothing: so does a structure {NULL, function} look that RBP is at.
	 */
	if (f->kind != FRAME_MODULE)
		return 0;
	slot = (__u32)(f->addr ^ f->addr >> 8 ^ f->owner);
	known = &s->returns[slot & (NR_RETURNS - 1)];
	if (known->owner == f->owner && known->addr == f->addr)
		return 0;
	switch (call_site(s->user.regs.ip)) {
	case SITE_CALL:
		known->owner = f->owner;
		known->addr = f->addr;
		return 0;
	case SITE_TRAMPOLINE:
		f->flags = 0; /* it is called by nobody: its first byte is meant */
		return 0;
	case SITE_GO_START:
	case SITE_UNREAD:
		return 0;
	case SITE_OTHER:
		break;
	}
	f->addr = s->user.regs.ip;
	f->owner = 0;
	f->kind = FRAME_NONE;
	f->reason = REASON_NOT_RETURN;
	f->flags = 0;
	return 1 + STACK_BROKEN;
}

/*
 * The process in which file @id was announced was gone before it could be opened;
 * this one lives. A function of its own for the same reason.
 */
__noinline int announce_again(struct scratch *s, __u32 id)
{
	struct wire_module rec = {};
	struct range *r;

	if (!s)
		return -1;
	r = &s->range[s->last_range & (NR_RANGES - 1)];

	rec.h.kind = WIRE_MODULE;
	rec.h.cpu = bpf_get_smp_processor_id();
	rec.h.len = sizeof(rec);
	rec.start = r->start;
	rec.end = r->end;
	rec.id = id;
	rec.pid = s->pid;
	return (int)emit_event(&rec, sizeof(rec), BPF_RB_FORCE_WAKEUP);
}

__noinline int stack_frame(struct scratch *s)
{
	struct frame *f;
	int stop;
	__u32 n;

	if (!s)
		return 1 + STACK_UNREADABLE;
	n = s->nr_kernel + s->nr_user;
	stop = frame_resolve(s, s->user.regs.ip, s->user.regs.is_return ? FRAME_F_RETURN : 0);
	barrier_var(n);
	if (n >= MAX_FRAMES)
		return 1 + STACK_TRUNCATED; /* for the verifier */
	f = scratch_frame(s, n);
	if (stop) {
		/* In execve() and exit() the registers are of a memory that is gone. */
		if (s->user.in_kernel && !s->user.steps && f->reason == REASON_NO_MAPPING) {
			f->addr = 0;
			f->reason = REASON_NO_USER_STACK;
			return 1 + STACK_UNREADABLE;
		}
		return stop;
	}
	if (s->user.check)
		stop = frame_check(s, f);
	if (stop)
		return stop;
	s->user.steps++;
	stop = unwind_next(&s->user, f->kind == FRAME_MODULE ? f->owner : MODULE_NONE, f->addr);
	if (s->user.not_called)
		f->flags = 0;
	if (s->user.wanted)
		announce_again(s, f->owner);
	return stop;
}
