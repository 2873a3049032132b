/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DESIGN: one pass that writes values into the target and sorts argv into two
 * arrays, options and operands, which are put back together at the end. Not
 * getopt_long(): it accepts abbreviations (a script would break when we add an
 * option), prints its own messages and knows nothing of near misses.
 */
#include "opts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "escape.h"
#include "fmt.h"
#include "out.h"

#define NEAR_MAX 64 /* longest word compared; longer ones are no slip of ours */

/* Edits (change, insert, drop, swap neighbours) from a to b. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b), i, j, best;
	unsigned char d[3][NEAR_MAX + 1];
	unsigned char *before = d[0], *prev = d[1], *row = d[2], *tmp;

	if (la > NEAR_MAX || lb > NEAR_MAX)
		return NEAR_MAX;
	for (j = 0; j <= lb; j++)
		prev[j] = (unsigned char)j;
	for (i = 1; i <= la; i++) {
		row[0] = (unsigned char)i;
		for (j = 1; j <= lb; j++) {
			best = prev[j - 1] + (a[i - 1] != b[j - 1]);
			if (best > prev[j] + 1u)
				best = prev[j] + 1u;
			if (best > row[j - 1] + 1u)
				best = row[j - 1] + 1u;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
				best > before[j - 2] + 1u)
				best = before[j - 2] + 1u;
			row[j] = (unsigned char)best;
		}
		tmp = before;
		before = prev;
		prev = row;
		row = tmp;
	}
	return prev[lb];
}

const char *opts_nearest(const char *word, const char *const *known, size_t nr)
{
	size_t len = strlen(word), best = NEAR_MAX, i, d, limit;
	const char *found = NULL;

	for (i = 0; i < nr; i++) {
		d = edit_distance(word, known[i]);
		/* A started word is a better guess than one with as many edits. */
		if (len >= 2 && !strncmp(known[i], word, len))
			d = 1;
		limit = len < 3 ? 1 : len < 7 ? 2 : 3;
		if (d <= limit && d < best && d < strlen(known[i])) {
			best = d;
			found = known[i];
		}
	}
	return found;
}

/* The values of an option as one array; the words are cut out of @copy. */
static size_t split_words(char *copy, const char **words, size_t max)
{
	char *save = NULL, *w;
	size_t nr = 0;

	for (w = strtok_r(copy, " ", &save); w && nr < max; w = strtok_r(NULL, " ", &save))
		words[nr++] = w;
	return nr;
}

/* How the user wrote the option, for sentences. */
struct used {
	const struct opt *opt;
	int is_short;
};

static const char *shown(const struct used *u, char buf[64])
{
	if (u->is_short)
		snprintf(buf, 64, "-%c", u->opt->key);
	else
		snprintf(buf, 64, "--%.60s", u->opt->name);
	return buf;
}

static int check_value(const struct used *u, const char *value, size_t len, struct err *e)
{
	char brief[ESCAPE_BRIEF_BUF], name[64], list[512], part[NEAR_MAX + 1];
	const char *words[64], *near, *p = u->opt->values;
	size_t nr, n, i;

	for (; *p; p += n + (p[n] == ' ')) {
		n = strcspn(p, " ");
		if (n == len && !memcmp(p, value, n))
			return 0;
	}
	snprintf(part, sizeof(part), "%.*s", (int)(len < NEAR_MAX ? len : NEAR_MAX), value);
	snprintf(list, sizeof(list), "%s", u->opt->values);
	nr = split_words(list, words, 64);
	err_set(e, -EINVAL, "%s: \"%s\" is not one of its values", shown(u, name),
		escape_brief(brief, sizeof(brief), part));
	near = opts_nearest(part, words, nr);
	if (near) {
		err_hint(e, "did you mean %s?", near);
	} else if (e) {
		char hint[ERR_HINT_MAX] = "values are";
		size_t used = strlen(hint);

		for (i = 0; i < nr && used < sizeof(hint); i++)
			used += (size_t)snprintf(
				hint + used, sizeof(hint) - used, "%s %s", i ? "," : "", words[i]);
		err_hint(e, "%s", hint);
	}
	return -EINVAL;
}

static int list_add(struct opt_list *l, const char *value)
{
	const char **items = reallocarray(l->items, l->nr + 1, sizeof(*items));

	if (!items)
		return -ENOMEM;
	l->items = items;
	l->items[l->nr++] = value;
	return 0;
}

static int store(const struct used *u, void *target, const char *value, struct err *e)
{
	const struct opt *o = u->opt;
	void *field = (char *)target + o->offset;
	const char *p;
	char name[64];
	size_t n;
	int ret = 0;

	switch (o->type) {
	case OPT_FLAG:
		++*(int *)field;
		return 0;
	case OPT_STR:
		if (o->values)
			ret = check_value(u, value, strlen(value), e);
		if (!ret)
			*(const char **)field = value;
		return ret;
	case OPT_LIST:
		for (p = value; o->values && !ret; p += n + 1) {
			n = strcspn(p, ",");
			ret = check_value(u, p, n, e);
			if (!p[n])
				break;
		}
		if (ret)
			return ret;
		ret = list_add(field, value);
		return ret ? err_set(e, ret, "out of memory") : 0;
	case OPT_U64:
		ret = parse_u64(value, 0, UINT64_MAX, field, e);
		break;
	case OPT_DURATION:
		ret = parse_duration(value, field, e);
		break;
	case OPT_SIZE:
		ret = parse_size(value, field, e);
		break;
	case OPT_GROUP:
		break;
	}
	if (ret)
		err_prefix(e, "%s", shown(u, name));
	return ret;
}

static int at_end(const struct opt *o)
{
	return !o->name && o->type != OPT_GROUP;
}

static const struct opt *find_long(const struct opt *table, const char *name, size_t len)
{
	const struct opt *o;

	for (o = table; !at_end(o); o++)
		if (o->name && strlen(o->name) == len && !memcmp(o->name, name, len))
			return o;
	return NULL;
}

static const struct opt *find_short(const struct opt *table, char key)
{
	const struct opt *o;

	for (o = table; !at_end(o); o++)
		if (o->name && o->key && o->key == key)
			return o;
	return NULL;
}

static int unknown_long(const struct opt *table, const char *name, size_t len, struct err *e)
{
	char brief[ESCAPE_BRIEF_BUF], word[ESCAPE_BRIEF_MAX + 1];
	const char *known[256], *near;
	const struct opt *o;
	size_t nr = 0;

	snprintf(word, sizeof(word), "%.*s", (int)(len < sizeof(word) ? len : sizeof(word)), name);
	for (o = table; !at_end(o) && nr < 256; o++)
		if (o->name)
			known[nr++] = o->name;
	err_set(e, -EINVAL, "unknown option --%s", escape_brief(brief, sizeof(brief), word));
	near = opts_nearest(word, known, nr);
	if (near)
		err_hint(e, "did you mean --%s?", near);
	else
		err_hint(e, "-h lists the options");
	return -EINVAL;
}

static int needs_value(const struct used *u, struct err *e)
{
	char name[64];

	err_set(e, -EINVAL, "%s needs a value", shown(u, name));
	if (u->opt->arg)
		err_hint(e, "%s %s: %s", shown(u, name), u->opt->arg, u->opt->help);
	return -EINVAL;
}

/* The value in the next argument, or NULL. "--" is never one: "-o -- ./app" forgot it. */
static const char *next_value(int argc, char **argv, int *i)
{
	if (*i + 1 >= argc || !strcmp(argv[*i + 1], "--"))
		return NULL;
	return argv[++*i];
}

static int parse_long(
	const struct opt *table, void *target, int argc, char **argv, int *i, struct err *e)
{
	const char *name = argv[*i] + 2, *value = NULL;
	size_t len = strcspn(name, "=");
	struct used u = {find_long(table, name, len), 0};
	const struct opt *flag;

	if (!u.opt && len > 3 && !strncmp(name, "no-", 3)) {
		flag = find_long(table, name + 3, len - 3);
		if (flag && flag->type == OPT_FLAG) {
			if (name[len])
				return err_set(e, -EINVAL, "--no-%s takes no value", flag->name);
			*(int *)((char *)target + flag->offset) = 0;
			return 0;
		}
	}
	if (!u.opt)
		return unknown_long(table, name, len, e);
	if (u.opt->type == OPT_FLAG) {
		if (name[len])
			return err_set(e, -EINVAL, "--%s takes no value", u.opt->name);
	} else {
		value = name[len] ? name + len + 1 : next_value(argc, argv, i);
		if (!value)
			return needs_value(&u, e);
	}
	return store(&u, target, value, e);
}

static int parse_short(
	const struct opt *table, void *target, int argc, char **argv, int *i, struct err *e)
{
	char brief[ESCAPE_BRIEF_BUF];
	const char *s = argv[*i] + 1, *value;
	int ret;

	for (; *s; s++) {
		struct used u = {find_short(table, *s), 1};

		if (!u.opt) {
			/* The whole argument: one letter of "-name" would not say what is wrong. */
			err_set(e, -EINVAL, "unknown option %s%c%s%s",
				*s > ' ' && *s < 0x7f && *s != '\\' ? "-" : "",
				*s > ' ' && *s < 0x7f && *s != '\\' ? *s : '?',
				s[1] || s != argv[*i] + 1 ? " in " : "",
				s[1] || s != argv[*i] + 1
					? escape_brief(brief, sizeof(brief), argv[*i])
					: "");
			if (find_long(table, argv[*i] + 1, strcspn(argv[*i] + 1, "=")))
				err_hint(e, "did you mean -%s?",
					escape_brief(brief, sizeof(brief), argv[*i]));
			else
				err_hint(e, "-h lists the options");
			return -EINVAL;
		}
		if (u.opt->type == OPT_FLAG) {
			ret = store(&u, target, NULL, e);
			if (ret)
				return ret;
			continue;
		}
		value = s[1] ? s + 1 : next_value(argc, argv, i);
		if (!value)
			return needs_value(&u, e);
		return store(&u, target, value, e);
	}
	return 0;
}

int opts_parse(const struct opt *table, void *target, int argc, char **argv, int *rest,
	int *dashdash, struct err *e)
{
	int i, first, nr_opts = 1, nr_operands = 0, ret = 0;
	char **operands;

	operands = calloc((size_t)(argc > 0 ? argc : 1), sizeof(*operands));
	if (!operands)
		return err_set(e, -ENOMEM, "out of memory");
	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (argv[i][0] != '-' || !argv[i][1]) {
			operands[nr_operands++] = argv[i];
			continue;
		}
		first = i;
		if (argv[i][1] == '-')
			ret = parse_long(table, target, argc, argv, &i, e);
		else
			ret = parse_short(table, target, argc, argv, &i, e);
		if (ret)
			goto out;
		/* nr_opts <= first: what is overwritten has been read. */
		while (first <= i)
			argv[nr_opts++] = argv[first++];
	}
	if (nr_operands)
		memcpy(argv + nr_opts, operands, (size_t)nr_operands * sizeof(*argv));
	if (rest)
		*rest = nr_opts;
	if (dashdash)
		*dashdash = i;
out:
	free(operands);
	return ret;
}

void opts_release(const struct opt *table, void *target)
{
	const struct opt *o;
	struct opt_list *l;

	for (o = table; !at_end(o); o++) {
		if (!o->name || o->type != OPT_LIST)
			continue;
		l = (struct opt_list *)(void *)((char *)target + o->offset);
		free(l->items);
		*l = (struct opt_list){0};
	}
}

/* Words of @text from column @col on, continued at @indent. Ends the line. */
static void wrap(struct out *o, const char *text, size_t col, size_t indent, size_t width)
{
	int line_start = 1;
	size_t n, w;

	while (*text) {
		n = strcspn(text, " ");
		w = text_width(text, n);
		if (width && !line_start && col + 1 + w > width) {
			out_printf(o, "\n%*s", (int)indent, "");
			col = indent;
			line_start = 1;
		}
		if (!line_start) {
			out_char(o, ' ');
			col++;
		}
		out_write(o, text, n);
		col += w;
		line_start = 0;
		text += n + strspn(text + n, " ");
	}
	out_char(o, '\n');
}

void opts_help(const struct opt *table, struct out *o, int width)
{
	const size_t indent = width && width < 64 ? 12 : 28;
	struct buf left = BUF_INIT, help = BUF_INIT;
	const struct opt *opt;
	const char *p;

	for (opt = table; !at_end(opt); opt++) {
		if (opt->type == OPT_GROUP) {
			out_printf(o, "%s%s:\n", opt == table ? "" : "\n", opt->help);
			continue;
		}
		buf_clear(&left);
		buf_clear(&help);
		if (opt->key)
			buf_addf(&left, "  -%c, --%s", opt->key, opt->name);
		else
			buf_addf(&left, "      --%s", opt->name);
		if (opt->arg)
			buf_addf(&left, " %s", opt->arg);
		buf_adds(&help, opt->help);
		for (p = opt->values; p && *p; p++) {
			if (p == opt->values)
				buf_adds(&help, ": ");
			if (*p == ' ')
				buf_addc(&help, ',');
			buf_addc(&help, *p);
		}
		if (left.err || help.err) {
			out_fail(o, -ENOMEM);
			break;
		}
		out_write(o, left.data, left.len);
		if (left.len + 2 > indent)
			out_printf(o, "\n%*s", (int)indent, "");
		else
			out_printf(o, "%*s", (int)(indent - left.len), "");
		wrap(o, buf_str(&help), indent, indent, (size_t)(width > 0 ? width : 0));
	}
	buf_release(&left);
	buf_release(&help);
}
