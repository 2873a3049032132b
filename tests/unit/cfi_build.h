/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes call frame information by hand, for the tests of its readers.
 *
 *	cfi_cie(&b, "zR", ...);  length and id are filled in by cfi_end()
 */
#ifndef PROFBPF_TESTS_CFI_BUILD_H
#define PROFBPF_TESTS_CFI_BUILD_H

#include <string.h>

#include "user/base/buf.h"

/* Instructions, as bytes for CODE(). */
#define ADVANCE(n)	     (0x40 | (n))
#define OFFSET(reg, n)	     (0x80 | (reg)), (n) /* saved at CFA - 8 * n */
#define RESTORE(reg)	     (0xc0 | (reg))
#define NOP		     0x00
#define SET_LOC		     0x01 /* and an encoded address */
#define ADVANCE1(n)	     0x02, (n)
#define ADVANCE2(n)	     0x03, (n)&0xff, (n) >> 8
#define ADVANCE4(n)	     0x04, (n)&0xff, (n) >> 8 & 0xff, (n) >> 16 & 0xff, (n) >> 24
#define UNDEFINED(reg)	     0x07, (reg)
#define SAME_VALUE(reg)	     0x08, (reg)
#define REGISTER(reg, in)    0x09, (reg), (in)
#define REMEMBER	     0x0a
#define RESTORE_STATE	     0x0b
#define DEF_CFA(reg, off)    0x0c, (reg), (off)
#define DEF_CFA_REG(reg)     0x0d, (reg)
#define DEF_CFA_OFF(off)     0x0e, (off)
#define DEF_CFA_EXPR(len)    0x0f, (len) /* and that many bytes */
#define EXPRESSION(reg, len) 0x10, (reg), (len)
#define VAL_OFFSET(reg, n)   0x14, (reg), (n)
#define VAL_EXPR(reg, len)   0x16, (reg), (len)
#define CODE(...)	     (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__})

struct cfi_build {
	struct buf b;
	uint64_t vaddr;	 /* of the section */
	size_t entry;	 /* offset of the one being written */
	size_t last_cie; /* offset */
	int debug_frame;
};

static inline void cfi_begin(struct cfi_build *c, uint32_t id)
{
	c->entry = c->b.len;
	buf_add_u32le(&c->b, 0);
	buf_add_u32le(&c->b, id);
}

static inline void cfi_end(struct cfi_build *c)
{
	uint32_t len;

	while ((c->b.len - c->entry) % 8)
		buf_addc(&c->b, NOP);
	len = (uint32_t)(c->b.len - c->entry - 4);
	memcpy(c->b.data + c->entry, &len, sizeof(len));
}

/* Code alignment 1, data alignment -8, return address column 16. @aug_data follows "z". */
static inline void cfi_cie(struct cfi_build *c, const char *aug, const uint8_t *aug_data,
	size_t aug_len, const uint8_t *code, size_t len)
{
	c->last_cie = c->b.len;
	cfi_begin(c, c->debug_frame ? 0xffffffff : 0);
	buf_addc(&c->b, c->debug_frame ? 3 : 1);
	buf_add(&c->b, aug, strlen(aug) + 1);
	buf_addc(&c->b, 1);
	buf_addc(&c->b, 0x78);
	buf_addc(&c->b, 16);
	if (*aug == 'z') {
		buf_addc(&c->b, (char)aug_len);
		buf_add(&c->b, aug_data, aug_len);
	}
	buf_add(&c->b, code, len);
	cfi_end(c);
}

/* What compilers write: pcrel sdata4, CFA = RSP + 8, return address at CFA - 8. */
static inline void cfi_usual_cie(struct cfi_build *c)
{
	if (c->debug_frame)
		cfi_cie(c, "", NULL, 0, CODE(DEF_CFA(7, 8), OFFSET(16, 1)));
	else
		cfi_cie(c, "zR", (const uint8_t[]){0x1b}, 1, CODE(DEF_CFA(7, 8), OFFSET(16, 1)));
}

/* An FDE of the last CIE, for usual encodings. */
static inline void cfi_fde(
	struct cfi_build *c, uint64_t start, uint64_t size, const uint8_t *code, size_t len)
{
	size_t at = c->b.len + 4;

	cfi_begin(c, (uint32_t)(c->debug_frame ? c->last_cie : at - c->last_cie));
	if (c->debug_frame) {
		buf_add_u64le(&c->b, start);
		buf_add_u64le(&c->b, size);
	} else {
		buf_add_u32le(&c->b, (uint32_t)(start - (c->vaddr + c->b.len)));
		buf_add_u32le(&c->b, (uint32_t)size);
		buf_addc(&c->b, 0); /* no augmentation data */
	}
	buf_add(&c->b, code, len);
	cfi_end(c);
}

#endif
