/* SPDX-License-Identifier: (BSD-2-Clause OR GPL-2.0-only) */
/*
 * The tagged frame: one place in code, as the kernel side found it.
 *
 * A stack is an array of these, leaf first. The tag says what the address
 * means, so nobody right of the kernel needs /proc/PID/maps to interpret one:
 *
 *   FRAME_MODULE   addr is a byte offset in the ELF file `owner`; free of pid
 *                  and of ASLR, the same for every process that maps the file
 *   FRAME_KERNEL   addr is a kernel address; owner is 0
 *   FRAME_JIT      addr is an address in executable memory without a file;
 *                  owner is the process generation (0 on the wire, where the
 *                  sample itself names the process)
 *   FRAME_NONE     there is no frame here; `reason` says why. addr is the
 *                  address that could not be used, or 0
 *
 * Included by bpf/, symbolize/ and user/: fixed-width types only. Whoever
 * includes it has defined __u8 .. __u64 before (linux/types.h, or vmlinux/).
 */
#ifndef PROFBPF_FRAME_H
#define PROFBPF_FRAME_H

enum frame_kind {
	FRAME_NONE = 0,
	FRAME_MODULE = 1,
	FRAME_KERNEL = 2,
	FRAME_JIT = 3,
	FRAME_NAMED = 4, /* imported text: the frame is its name; addr is a string id */
	FRAME_KIND_MAX
};

/* Frame flags. */
#define FRAME_F_RETURN 0x1 /* addr was reached by return: look up addr - 1 */

/*
 * Why a frame is missing or has no name. One list for both: the kernel side
 * produces the first group, naming (symbolize/) the second. Stored in capture
 * files: never renumber, only append. The texts are in user/capture/records.c.
 */
enum frame_reason {
	REASON_NONE = 0,
	/* from bpf/: the frame itself could not be had */
	REASON_NOT_CODE = 1,	      /* return address is not in executable memory */
	REASON_NO_MAPPING = 2,	      /* no mapping holds the address */
	REASON_WALK_FAILED = 3,	      /* mapping lookup gave up (tree changed under us) */
	REASON_TRUNCATED = 4,	      /* depth limit; the root side is missing */
	REASON_MODULE_TABLE_FULL = 5, /* file known, but no id left for it */
	REASON_NO_USER_STACK = 6,     /* user stack could not be read at all */
	REASON_NOT_RETURN = 7,	      /* no call before the address: nothing returns there */
	/* from naming */
	REASON_NO_SYMBOL = 16,	      /* file read; no symbol covers the offset */
	REASON_FILE_GONE = 17,	      /* file could not be opened any more */
	REASON_FILE_CHANGED = 18,     /* file on disk is not the one that was mapped */
	REASON_FILE_UNREADABLE = 19,  /* permission, I/O, or not an ELF file we can parse */
	REASON_NO_PERF_MAP = 20,      /* JIT code and no perf map for its process */
	REASON_NOT_IN_PERF_MAP = 21,  /* perf map has no entry for the address */
	REASON_KALLSYMS_HIDDEN = 22,  /* kptr_restrict hides kernel addresses */
	REASON_KERNEL_UNKNOWN = 23,   /* kallsyms has no symbol for the address */
	REASON_NOT_RESOLVED_YET = 24, /* recording ended before naming ran */
	REASON_EXITED = 25,	      /* process ended before its file could be opened */
	REASON_FRAME_TABLE_FULL = 26, /* too many distinct frames in one recording */
	REASON_MAX
};

/* Reserved module ids on the wire; files get ids from MODULE_FIRST_FILE on. */
#define MODULE_NONE	  0u
#define MODULE_VDSO	  1u
#define MODULE_FIRST_FILE 16u

struct frame {
	__u64 addr;  /* see above */
	__u32 owner; /* module id or process generation, by kind */
	__u8 kind;   /* enum frame_kind */
	__u8 reason; /* enum frame_reason; 0 unless kind is FRAME_NONE */
	__u16 flags; /* FRAME_F_* */
};

/*
 * How a stack walk ended; one in every sample. Stored in capture files: only
 * append.
 */
enum stack_result {
	STACK_COMPLETE = 0,    /* reached a proven outermost frame */
	STACK_FP_END = 1,      /* the frame-pointer chain ended; not proven whole */
	STACK_TRUNCATED = 2,   /* depth limit */
	STACK_BROKEN = 3,      /* what follows is not a return address */
	STACK_UNREADABLE = 4,  /* user stack could not be read */
	STACK_KERNEL_ONLY = 5, /* kernel thread or task without user memory */
	STACK_IMPORTED = 6,    /* from a file that does not say */
	STACK_COMPLETE_FP = 7, /* reached the outermost frame, some steps by frame pointer */
	STACK_NO_INFO = 8,     /* no unwind information there, and no frame record either */
	STACK_NO_TABLE = 9, /* the file's table was not there (yet), and no frame record either */
	STACK_UNSUPPORTED = 10, /* a rule we cannot express */
	STACK_FAULT = 11,	/* stack memory was not in memory */
	STACK_LOST_REG = 12,	/* the rule needs a register that is not known there */
	STACK_STUCK = 13,	/* the caller's frame would not lie above */
	STACK_RESULT_MAX
};

#endif
