#include "controllers/process/options_impl.h"

#include <string.h>

#include "common/codec/yaml.h"
#include "common/kube/kubeconfig.h"

enum { CONFIG_MAX = 1 << 20 /* bytes */ };

static char upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* True if @key is the name of the flag, or its camel case: kube-api-qps, kubeApiQps. */
static bool is_name(const char *key, const char *flag)
{
	if (!strcmp(key, flag))
		return true;
	for (; *flag; flag++, key++) {
		bool begins = *flag == '-'; /* a word */

		flag += begins;
		if (*key != (begins ? upper(*flag) : *flag))
			return false;
	}
	return !*key;
}

/* A file that asks for the help, or for another file, is a mistake. */
static bool may_be_in_a_file(const struct kar_flag *f)
{
	static const size_t never[] = { offsetof(struct kar_options, config),
		offsetof(struct kar_options, help), offsetof(struct kar_options, version),
		offsetof(struct kar_options, man) };

	for (size_t i = 0; i < KAR_LEN(never); i++) {
		if (f->offset == never[i])
			return false;
	}
	return true;
}

static const struct kar_flag *find_key(const char *key, size_t *at)
{
	const struct kar_flag *f;

	for (*at = 0; (f = kar_flag_at(*at)) != NULL; ++*at) {
		if (may_be_in_a_file(f) && is_name(key, f->name))
			return f;
	}
	return NULL;
}

/* apiVersion and kind: 1 if @p is one of them and right, 0 if it is another key. */
static int check_kind(const struct kar_yaml_pair *p, int *seen, struct kar_err *err)
{
	static const struct {
		const char *key, *value;
	} wanted[] = { { "apiVersion", KAR_CONFIG_VERSION }, { "kind", KAR_CONFIG_KIND } };

	for (size_t i = 0; i < KAR_LEN(wanted); i++) {
		if (strcmp(p->key, wanted[i].key))
			continue;
		if (strcmp(p->value, wanted[i].value))
			return kar_fail(err, KAR_FATAL, "line %zu, column %zu: %s: want %s, got \"%.200s\"",
				p->value_line, p->value_column, p->key, wanted[i].value, p->value);
		++*seen;
		return 1;
	}
	return 0;
}

static int set_pair(struct kar_options *o, const struct kar_yaml_pair *p, struct kar_err *err)
{
	size_t at;
	const struct kar_flag *f = find_key(p->key, &at);

	if (!f)
		return kar_fail(err, KAR_FATAL,
			"line %zu, column %zu: unknown key \"%.200s\"; the keys are the flags of --help without dashes",
			p->line, p->column, p->key);
	if (o->places[at].line)
		return kar_fail(err, KAR_FATAL, "line %zu, column %zu: duplicate key \"%.200s\"", p->line,
			p->column, p->key);
	o->places[at] = (struct kar_flag_place){ p->line, p->column };
	if (kar_flag_set(o, f, p->value, "", err))
		return kar_wrap(err, "line %zu, column %zu", p->value_line, p->value_column);
	return 0;
}

static int set_pairs(struct kar_options *o, const struct kar_array *pairs, struct kar_err *err)
{
	const struct kar_yaml_pair *p = pairs->items;
	int kinds = 0;

	for (size_t i = 0; i < pairs->n; i++) {
		int kind = check_kind(&p[i], &kinds, err);

		if (kind < 0 || (kind == 0 && set_pair(o, &p[i], err)))
			return -1;
	}
	if (kinds < 2)
		return kar_fail(err, KAR_FATAL,
			"line 1, column 1: want apiVersion: " KAR_CONFIG_VERSION
			" and kind: " KAR_CONFIG_KIND);
	return 0;
}

int kar_options_read_file(struct kar_options *o, struct kar_arena *arena, const char *path,
	struct kar_err *err)
{
	struct kar_array pairs = { 0 };
	size_t n;
	const char *text = kar_read_file(arena, path, CONFIG_MAX, false, &n, err);

	if (!text)
		return -1;
	if (!kar_yaml_flat(arena, text, n, &pairs, err) && !set_pairs(o, &pairs, err))
		return 0;
	err->what = KAR_FATAL;
	return kar_wrap(err, "%s", path);
}
