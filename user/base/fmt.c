/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All in integers: 16.667ms must be 16667000 and not one less, and no output
 * may depend on the locale's decimal point.
 */
#include "fmt.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"

#define CPU_MAX 65535 /* the kernel's NR_CPUS goes to 8192; bounds the work for "0-4294967295" */

static int is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "12", "12.5", ".5". Fraction digits past the 18th are below anything we count in. */
struct decimal {
	uint64_t whole;
	uint64_t frac;	/* over scale */
	uint64_t scale; /* power of ten, 1 without a fraction */
};

/* Returns what follows the number, or NULL if there is none; -ERANGE through *err. */
static const char *parse_decimal(const char *s, struct decimal *d, int *err)
{
	const char *start = s;

	*d = (struct decimal){.scale = 1};
	*err = -EINVAL;
	for (; is_digit(*s); s++) {
		if (__builtin_mul_overflow(d->whole, 10, &d->whole) ||
			__builtin_add_overflow(d->whole, (uint64_t)(*s - '0'), &d->whole)) {
			*err = -ERANGE;
			return NULL;
		}
	}
	if (*s == '.') {
		if (!is_digit(s[1]))
			return NULL;
		for (s++; is_digit(*s); s++) {
			if (d->scale >= 1000000000000000000u)
				continue;
			d->frac = d->frac * 10 + (uint64_t)(*s - '0');
			d->scale *= 10;
		}
	}
	return s == start ? NULL : s;
}

/* d * mult, rounded to the nearest. */
static int decimal_times(const struct decimal *d, uint64_t mult, uint64_t *v)
{
	unsigned __int128 t = (unsigned __int128)d->whole * mult;

	t += ((unsigned __int128)d->frac * mult + d->scale / 2) / d->scale;
	if (t > UINT64_MAX)
		return -ERANGE;
	*v = (uint64_t)t;
	return 0;
}

int parse_duration(const char *s, uint64_t *ns, struct err *e)
{
	static const struct {
		char name[4];
		uint64_t ns;
	} units[] = {
		{"", 1000000000u},
		{"s", 1000000000u},
		{"ms", 1000000u},
		{"us", 1000u},
		{"\u00b5s", 1000u}, /* micro sign */
		{"\u03bcs", 1000u}, /* Greek mu */
		{"ns", 1u},
		{"m", 60000000000u},
		{"min", 60000000000u},
		{"h", 3600000000000u},
	};
	char brief[ESCAPE_BRIEF_BUF];
	struct decimal d;
	const char *unit;
	size_t i;
	int ret;

	unit = parse_decimal(s, &d, &ret);
	for (i = 0; unit && i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(unit, units[i].name))
			continue;
		ret = decimal_times(&d, units[i].ns, ns);
		break;
	}
	if (!ret)
		return 0;
	escape_brief(brief, sizeof(brief), s);
	if (ret == -ERANGE)
		return err_set(e, -EINVAL, "\"%s\" is too long a time", brief);
	err_set(e, -EINVAL, "\"%s\" is not a time", brief);
	err_hint(e, "write a number and a unit (ns, us, ms, s, m, h): 500ms, 2s, 1.5");
	return -EINVAL;
}

int parse_size(const char *s, uint64_t *bytes, struct err *e)
{
	static const char letters[] = "KMGT";
	char brief[ESCAPE_BRIEF_BUF];
	struct decimal d;
	const char *p, *letter;
	unsigned shift = 0;
	int ret, ok;

	p = parse_decimal(s, &d, &ret);
	ok = p != NULL;
	if (ok && *p) {
		letter = strchr(letters, *p >= 'a' && *p <= 'z' ? *p - 'a' + 'A' : *p);
		if (letter) {
			shift = 10 * (unsigned)(letter - letters + 1);
			p++;
			if (p[0] == 'i' && (p[1] == 'B' || p[1] == 'b'))
				p++;
		}
		if (*p == 'B' || *p == 'b')
			p++;
		ok = !*p;
	}
	/* Half a byte is a forgotten letter. */
	if (ok && (shift || d.scale == 1))
		ret = decimal_times(&d, (uint64_t)1 << shift, bytes);
	if (!ret)
		return 0;
	escape_brief(brief, sizeof(brief), s);
	if (ret == -ERANGE)
		return err_set(e, -EINVAL, "\"%s\" is too large a size", brief);
	err_set(e, -EINVAL, "\"%s\" is not a size", brief);
	err_hint(e, "write bytes, or a number and K, M or G: 4096, 64K, 16M");
	return -EINVAL;
}

int parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *v, struct err *e)
{
	char brief[ESCAPE_BRIEF_BUF];
	struct decimal d = {0};
	const char *end;
	int ret = -EINVAL, digits;

	digits = s[0] && strspn(s, "0123456789") == strlen(s);
	if (digits) {
		end = parse_decimal(s, &d, &ret);
		if (end && d.whole >= min && d.whole <= max) {
			*v = d.whole;
			return 0;
		}
	}
	escape_brief(brief, sizeof(brief), s);
	if (!digits)
		return err_set(e, -EINVAL, "\"%s\" is not a whole number", brief);
	if (max == UINT64_MAX && ret != -ERANGE)
		return err_set(e, -EINVAL, "%s is less than %" PRIu64, brief, min);
	return err_set(e, -EINVAL, "%s is not between %" PRIu64 " and %" PRIu64, brief, min, max);
}

/* One number of a list; NULL if there is none or it is too large. */
static const char *cpu_number(const char *s, uint32_t *cpu)
{
	uint32_t v = 0;

	if (!is_digit(*s))
		return NULL;
	for (; is_digit(*s); s++) {
		v = v * 10 + (uint32_t)(*s - '0');
		if (v > CPU_MAX)
			return NULL;
	}
	*cpu = v;
	return s;
}

int parse_cpu_list(const char *s, uint32_t **cpus, size_t *nr, struct err *e)
{
	unsigned char seen[(CPU_MAX + 1) / 8] = {0};
	char brief[ESCAPE_BRIEF_BUF];
	uint32_t first, last, cpu;
	const char *p = s;
	size_t count = 0;

	*cpus = NULL;
	*nr = 0;
	for (;;) {
		p = cpu_number(p, &first);
		if (!p)
			goto bad;
		last = first;
		if (*p == '-') {
			p = cpu_number(p + 1, &last);
			if (!p || last < first)
				goto bad;
		}
		for (cpu = first; cpu <= last; cpu++) {
			count += !(seen[cpu / 8] >> (cpu % 8) & 1);
			seen[cpu / 8] |= (unsigned char)(1u << (cpu % 8));
		}
		if (*p != ',')
			break;
		p++;
	}
	if (*p == '\n') /* as the files of /sys end */
		p++;
	if (*p)
		goto bad;
	*cpus = calloc(count, sizeof(**cpus));
	if (!*cpus)
		return err_set(e, -ENOMEM, "out of memory");
	for (cpu = 0; cpu <= CPU_MAX; cpu++)
		if (seen[cpu / 8] >> (cpu % 8) & 1)
			(*cpus)[(*nr)++] = cpu;
	return 0;

bad:
	err_set(e, -EINVAL, "\"%s\" is not a list of CPUs", escape_brief(brief, sizeof(brief), s));
	err_hint(e, "write numbers and ranges: 0,2-5");
	return -EINVAL;
}

static uint64_t div_round(uint64_t v, uint64_t by)
{
	return v / by + (v % by >= by - by / 2);
}

char *fmt_duration(char *buf, size_t size, uint64_t ns)
{
	static const struct {
		uint64_t ns;
		const char *name;
	} small[] = {{1000, "us"}, {1000000, "ms"}};
	uint64_t v;
	size_t i;

	if (ns < 1000) {
		snprintf(buf, size, "%" PRIu64 " ns", ns);
		return buf;
	}
	/* Each limit is where rounding would give 100.0 or 1000: there the next form begins. */
	for (i = 0; i < 2; i++) {
		v = div_round(ns, small[i].ns / 10);
		if (v < 1000) {
			snprintf(buf, size, "%" PRIu64 ".%" PRIu64 " %s", v / 10, v % 10,
				small[i].name);
			return buf;
		}
		v = div_round(ns, small[i].ns);
		if (v < 1000) {
			snprintf(buf, size, "%" PRIu64 " %s", v, small[i].name);
			return buf;
		}
	}
	v = div_round(ns, 10000000);
	if (v < 6000) {
		snprintf(buf, size, "%" PRIu64 ".%02" PRIu64 " s", v / 100, v % 100);
		return buf;
	}
	v = div_round(ns, 1000000000);
	if (v < 3600) {
		snprintf(buf, size, "%" PRIu64 " min %02" PRIu64 " s", v / 60, v % 60);
		return buf;
	}
	v = div_round(v, 60);
	snprintf(buf, size, "%" PRIu64 " h %02" PRIu64 " min", v / 60, v % 60);
	return buf;
}

char *fmt_bytes(char *buf, size_t size, uint64_t bytes)
{
	static const char units[] = "KMGTPE";
	unsigned __int128 tenths;
	uint64_t unit = 1024;
	size_t i;

	if (bytes < 1024) {
		snprintf(buf, size, "%" PRIu64 " B", bytes);
		return buf;
	}
	for (i = 0;; i++, unit *= 1024) {
		tenths = ((unsigned __int128)bytes * 10 + unit / 2) / unit;
		if (tenths < 1000) {
			snprintf(buf, size, "%u.%u %ciB", (unsigned)tenths / 10,
				(unsigned)tenths % 10, units[i]);
			return buf;
		}
		if (bytes / unit + (bytes % unit >= unit / 2) < 1024) {
			snprintf(buf, size, "%u %ciB",
				(unsigned)(bytes / unit + (bytes % unit >= unit / 2)), units[i]);
			return buf;
		}
	}
}

char *fmt_count(char *buf, size_t size, uint64_t n)
{
	char tmp[32], *p = tmp + sizeof(tmp) - 1;
	unsigned digits = 0;

	*p = '\0';
	do {
		if (digits && digits % 3 == 0)
			*--p = ',';
		*--p = (char)('0' + n % 10);
		digits++;
	} while (n /= 10);
	snprintf(buf, size, "%s", p);
	return buf;
}

char *fmt_pct(char *buf, size_t size, double pct)
{
	double abs = fabs(pct);
	const char *sign = pct < 0 ? "-" : "";
	uint64_t v;

	if (isnan(pct))
		snprintf(buf, size, "-");
	else if (abs >= 1e15)
		snprintf(buf, size, "%s%s", sign, isinf(abs) ? "inf" : ">1e15");
	else if (abs == 0)
		snprintf(buf, size, "0.0");
	else if (abs < 0.01)
		snprintf(buf, size, "%s", pct < 0 ? ">-0.01" : "<0.01");
	else if (abs < 0.995) {
		v = (uint64_t)(abs * 100 + 0.5);
		snprintf(buf, size, "%s0.%02" PRIu64, sign, v);
	} else {
		v = (uint64_t)(abs * 10 + 0.5);
		snprintf(buf, size, "%s%" PRIu64 ".%" PRIu64, sign, v / 10, v % 10);
	}
	return buf;
}
