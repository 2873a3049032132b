/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of kinds, and the texts of stored numbers.
 *
 * The order of fields is the order in the file: only append. Fields that are
 * often zero stand last, since trailing zeros are not stored.
 */
#include "records.h"

#include "table.h"

#define MEMBER_SIZE(m) sizeof(((struct record *)NULL)->m)

/* rec: member of the union; the rest are designated initialisers. */
#define FIELD(rec, member, how, ...)                                                               \
	{                                                                                          \
		.name = #member, .code = how, .size = MEMBER_SIZE(rec.member),                     \
		.offset = offsetof(struct record, rec.member), __VA_ARGS__                         \
	}
#define NUM(rec, member)       FIELD(rec, member, CODE_VARINT)
#define ID(rec)		       FIELD(rec, id, CODE_ID, .check = CHECK_ID)
#define REF(rec, member, kind) FIELD(rec, member, CODE_VARINT, .check = CHECK_REF, .ref = kind)
#define REF_REQ(rec, member, kind)                                                                 \
	FIELD(rec, member, CODE_VARINT, .check = CHECK_REF, .ref = kind, .required = 1)
/* lowest and end: the valid values, half-open. */
#define ENUM(rec, member, lowest, end, how_text, ...)                                              \
	FIELD(rec, member, CODE_VARINT, .check = CHECK_ENUM, .first = lowest, .limit = end,        \
		.text = how_text, __VA_ARGS__)

static const struct field run_fields[] = {
	NUM(run, start_mono_ns),
	NUM(run, start_real_ns),
	NUM(run, period_ns),
	NUM(run, cpus),
	NUM(run, value_types),
};
static const struct field string_fields[] = {
	ID(string),
	{.name = "data",
		.code = CODE_BYTES,
		.size = MEMBER_SIZE(string.len),
		.offset = offsetof(struct record, string.len),
		.data_offset = offsetof(struct record, string.data)},
};
static const struct field meta_fields[] = {
	REF_REQ(meta, key, RECORD_STRING),
	REF(meta, text, RECORD_STRING),
	NUM(meta, num),
};
static const struct field module_fields[] = {
	NUM(module, id), /* stored: a later record replaces an earlier one */
	ENUM(module, kind, MODULE_KIND_FILE, MODULE_KIND_KERNEL + 1, module_kind_text),
	NUM(module, dev),
	NUM(module, gen),
	NUM(module, ino),
	NUM(module, size),
	NUM(module, ctime_ns),
	REF(module, path, RECORD_STRING),
	REF(module, build_id, RECORD_STRING),
	NUM(module, flags),
	ENUM(module, reason, 0, REASON_MAX, frame_reason_short),
};
static const struct field process_fields[] = {
	ID(process),
	NUM(process, pid),
	NUM(process, exec_id),
	NUM(process, start_boot_ns),
	REF(process, name, RECORD_STRING),
	REF(process, exe, RECORD_STRING),
	REF(process, cmdline, RECORD_STRING),
};
static const struct field thread_fields[] = {
	ID(thread),
	REF_REQ(thread, process, RECORD_PROCESS),
	NUM(thread, tid),
	REF(thread, name, RECORD_STRING),
};
static const struct field frame_fields[] = {
	ID(frame),
	ENUM(frame, frame.kind, 0, FRAME_KIND_MAX, frame_kind_text),
	FIELD(frame, frame.addr, CODE_SVARINT), /* kernel addresses: 5 bytes and not 10 */
	NUM(frame, frame.owner),		/* what it refers to depends on kind: stream.c */
	NUM(frame, frame.flags),
	ENUM(frame, frame.reason, 0, REASON_MAX, frame_reason_short),
};
static const struct field stack_fields[] = {
	ID(stack),
	FIELD(stack, parent, CODE_BACK),
	REF_REQ(stack, frame, RECORD_FRAME),
};
/* The two that choose the prediction first; then in the order of how often they differ. */
static const struct field sample_fields[] = {
	ENUM(sample, type, VALUE_CPU, VALUE_TYPE_MAX, value_type_text, .unknown = UNKNOWN_DROP),
	NUM(sample, cpu),
	FIELD(sample, time_ns, CODE_DIFF),
	FIELD(sample, value, CODE_DIFF),
	REF_REQ(sample, thread, RECORD_THREAD),
	REF(sample, stack, RECORD_STACK),
	ENUM(sample, result, 0, STACK_RESULT_MAX, stack_result_text),
	NUM(sample, value2),
};
static const struct field name_fields[] = {
	REF_REQ(name, frame, RECORD_FRAME),
	NUM(name, depth),
	REF(name, name, RECORD_STRING),
	REF(name, raw, RECORD_STRING),
	REF(name, file, RECORD_STRING),
	NUM(name, line),
	ENUM(name, reason, 0, REASON_MAX, frame_reason_short),
	NUM(name, flags),
};
static const struct field counter_fields[] = {
	ENUM(counter, id, COUNTER_TICKS, COUNTER_ID_MAX, counter_name, .unknown = UNKNOWN_DROP),
	NUM(counter, cpu),
	NUM(counter, value),
};
static const struct field loss_fields[] = {
	ENUM(loss, cause, LOSS_RING_FULL, LOSS_CAUSE_MAX, loss_cause_text, .unknown = UNKNOWN_DROP),
	NUM(loss, cpu),
	NUM(loss, count),
	NUM(loss, from_ns),
	NUM(loss, to_ns),
};
static const struct field restart_fields[] = {
	NUM(restart, epoch),
};
static const struct field end_fields[] = {
	NUM(end, duration_ns),
	NUM(end, samples),
	ENUM(end, reason, 0, END_REASON_MAX, end_reason_text),
};

#define KIND(what, has_mask)                                                                       \
	{                                                                                          \
		.name = #what, .fields = what##_fields,                                            \
		.nr = sizeof(what##_fields) / sizeof(struct field), .masked = has_mask             \
	}

const struct kind record_kinds[RECORD_KIND_MAX] = {
	[RECORD_RUN] = KIND(run, 0),
	[RECORD_STRING] = KIND(string, 0),
	[RECORD_META] = KIND(meta, 0),
	[RECORD_MODULE] = KIND(module, 0),
	[RECORD_PROCESS] = KIND(process, 0),
	[RECORD_THREAD] = KIND(thread, 0),
	[RECORD_FRAME] = KIND(frame, 0),
	[RECORD_STACK] = KIND(stack, 0),
	[RECORD_SAMPLE] = KIND(sample, 1),
	[RECORD_NAME] = KIND(name, 0),
	[RECORD_COUNTER] = KIND(counter, 0),
	[RECORD_LOSS] = KIND(loss, 0),
	[RECORD_RESTART] = KIND(restart, 0),
	[RECORD_END] = KIND(end, 0),
};

const char *record_kind_name(unsigned kind)
{
	const struct kind *k = kind_at(kind);

	return k ? k->name : NULL;
}

static const char *text_at(const char *const *texts, size_t nr, unsigned i, const char *unknown)
{
	return i < nr && texts[i] ? texts[i] : unknown;
}
#define TEXT_AT(texts, i, unknown) text_at(texts, sizeof(texts) / sizeof((texts)[0]), i, unknown)

const char *frame_reason_text(unsigned reason)
{
	static const char *const texts[] = {
		[REASON_NONE] = "no reason recorded",
		[REASON_NOT_CODE] = "the return address is not in executable memory",
		[REASON_NO_MAPPING] = "no mapping holds the address",
		[REASON_WALK_FAILED] = "the mapping look-up gave up while mappings were changing",
		[REASON_TRUNCATED] =
			"the stack was cut at the depth limit; its root side is missing",
		[REASON_MODULE_TABLE_FULL] = "the file has no id: the module table is full",
		[REASON_NO_USER_STACK] = "the user stack could not be read",
		[REASON_NOT_RETURN] = "no call stands before the address: nothing returns there",
		[REASON_NO_SYMBOL] = "no symbol covers the offset",
		[REASON_FILE_GONE] = "the file could not be opened any more",
		[REASON_FILE_CHANGED] = "the file on disk is not the one that was mapped",
		[REASON_FILE_UNREADABLE] =
			"the file could not be read or is not an ELF file we understand",
		[REASON_NO_PERF_MAP] = "JIT code, and its process wrote no perf map",
		[REASON_NOT_IN_PERF_MAP] =
			"JIT code, and the perf map has no entry for the address",
		[REASON_KALLSYMS_HIDDEN] = "kernel addresses are hidden (kernel.kptr_restrict)",
		[REASON_KERNEL_UNKNOWN] = "no kernel symbol covers the address",
		[REASON_NOT_RESOLVED_YET] = "the recording ended before frames were named",
		[REASON_EXITED] = "the process ended before its file could be opened",
		[REASON_FRAME_TABLE_FULL] = "too many distinct frames in one recording",
	};

	return TEXT_AT(texts, reason, "a reason this version does not know");
}

const char *frame_reason_short(unsigned reason)
{
	static const char *const texts[] = {
		[REASON_NONE] = "no reason",
		[REASON_NOT_CODE] = "not code",
		[REASON_NO_MAPPING] = "no mapping",
		[REASON_WALK_FAILED] = "mapping look-up failed",
		[REASON_TRUNCATED] = "truncated",
		[REASON_MODULE_TABLE_FULL] = "module table full",
		[REASON_NO_USER_STACK] = "no user stack",
		[REASON_NOT_RETURN] = "no return address",
		[REASON_NO_SYMBOL] = "no symbol",
		[REASON_FILE_GONE] = "file gone",
		[REASON_FILE_CHANGED] = "file changed",
		[REASON_FILE_UNREADABLE] = "file unreadable",
		[REASON_NO_PERF_MAP] = "no perf map",
		[REASON_NOT_IN_PERF_MAP] = "not in perf map",
		[REASON_KALLSYMS_HIDDEN] = "kallsyms hidden",
		[REASON_KERNEL_UNKNOWN] = "no kernel symbol",
		[REASON_NOT_RESOLVED_YET] = "not resolved yet",
		[REASON_EXITED] = "process exited",
		[REASON_FRAME_TABLE_FULL] = "frame table full",
	};

	return TEXT_AT(texts, reason, "unknown reason");
}

const char *stack_result_text(unsigned result)
{
	static const char *const texts[] = {
		[STACK_COMPLETE] = "complete",
		[STACK_FP_END] = "frame-pointer chain ended",
		[STACK_TRUNCATED] = "cut at the depth limit",
		[STACK_BROKEN] = "what follows is not a return address",
		[STACK_UNREADABLE] = "user stack could not be read",
		[STACK_KERNEL_ONLY] = "kernel only",
		[STACK_IMPORTED] = "imported",
		[STACK_COMPLETE_FP] = "complete, in part by frame pointers",
		[STACK_NO_INFO] = "no unwind information for the code",
		[STACK_NO_TABLE] = "no unwind table for the file",
		[STACK_UNSUPPORTED] = "unwind rule not supported",
		[STACK_FAULT] = "stack memory not present",
		[STACK_LOST_REG] = "unwind rule needs an unknown register",
		[STACK_STUCK] = "unwinding made no progress",
	};

	return TEXT_AT(texts, result, "unknown result");
}

const char *loss_cause_text(unsigned cause)
{
	static const char *const texts[] = {
		[LOSS_RING_FULL] = "ring buffer full",
		[LOSS_SCRATCH_BUSY] = "program interrupted itself",
		[LOSS_USER_BACKLOG] = "dropped in user space",
		[LOSS_TABLE_FULL] = "a table is full",
	};

	return TEXT_AT(texts, cause, "unknown cause");
}

const char *counter_name(unsigned id)
{
	static const char *const texts[] = {
		[COUNTER_TICKS] = "ticks",
		[COUNTER_SAMPLED] = "sampled",
		[COUNTER_IDLE] = "idle",
		[COUNTER_NOT_ADMITTED] = "not_admitted",
		[COUNTER_LOST_RING] = "lost_ring",
		[COUNTER_LOST_SCRATCH] = "lost_scratch",
		[COUNTER_THROTTLED] = "throttled",
		[COUNTER_VALUE_CAPPED_NS] = "value_capped_ns",
		[COUNTER_RECEIVED] = "received",
		[COUNTER_BEFORE_EXEC] = "before_exec",
	};

	return TEXT_AT(texts, id, "unknown counter");
}

const char *end_reason_text(unsigned reason)
{
	static const char *const texts[] = {
		[END_DURATION] = "duration reached",
		[END_SIGNAL] = "stopped by a signal",
		[END_TARGET_EXITED] = "the target exited",
		[END_MAX_SIZE] = "the maximum size was reached",
		[END_IMPORT] = "end of the imported text",
		[END_RESOLVED_PART] = "recording was cut short and completed later",
	};

	return TEXT_AT(texts, reason, "no reason recorded");
}

const char *frame_kind_text(unsigned kind)
{
	static const char *const texts[] = {
		[FRAME_NONE] = "none",
		[FRAME_MODULE] = "module",
		[FRAME_KERNEL] = "kernel",
		[FRAME_JIT] = "jit",
		[FRAME_NAMED] = "named",
	};

	return TEXT_AT(texts, kind, "unknown kind");
}

const char *value_type_text(unsigned type)
{
	static const char *const texts[] = {
		[VALUE_CPU] = "cpu",
		[VALUE_COUNT] = "count",
	};

	return TEXT_AT(texts, type, "unknown type");
}

const char *module_kind_text(unsigned kind)
{
	static const char *const texts[] = {
		[MODULE_KIND_FILE] = "file",
		[MODULE_KIND_VDSO] = "vdso",
		[MODULE_KIND_KERNEL] = "kernel",
	};

	return TEXT_AT(texts, kind, "unknown kind");
}
