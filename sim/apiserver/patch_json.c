#include "sim/apiserver/patch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

/*
 * RFC 6902 as the API server applies it, which differs: a member that is absent may be replaced and reads as null in tests
 * and copies, an absent value is null, an index may count from the end, and the whole document can only be replaced.
 */
enum {
	MAX_OPERATIONS = 10000,
	MAX_COPIED = 3 << 20,   /* bytes of all copies, as the server's limit */
	MAX_DEPTH = 120,        /* of what comes out, as sim_parse() */
	MAX_VISITED = 10000000, /* values looked at to know their depth */
};

struct patch_run {
	struct sim_value *doc;
	size_t copied, visited;
};

/* ---- paths: "/spec/items/0"; what stands before the first slash is ignored ---- */

/* The token at *path, which stands on a slash, without its escapes; moves on. The caller frees it. */
static char *next_token(const char **path)
{
	const char *s = *path + 1, *end = strchrnul(s, '/');
	char *token = kar_xmalloc((size_t)(end - s) + 1), *out = token;

	for (; s < end; s++) {
		bool escape = s[0] == '~' && (s[1] == '0' || s[1] == '1');

		*out++ = escape ? (s[1] == '1' ? '/' : '~') : *s;
		s += escape;
	}
	*out = '\0';
	*path = end;
	return token;
}

/* The index that @token means in an array of @n items; negative ones count from the end. */
static bool parse_index(const char *token, size_t n, size_t *out)
{
	const char *digits = token + (*token == '-' || *token == '+');
	char *end;
	long i;

	if (!*digits || strspn(digits, "0123456789") != strlen(digits))
		return false;
	errno = 0;
	i = strtol(token, &end, 10);
	if (i < 0)
		i += (long)n;
	if (errno || i < 0 || (size_t)i >= n)
		return false;
	*out = (size_t)i;
	return true;
}

/* False: there is no such place. *@child stays NULL for an absent member of an object. */
static bool find_child(const struct sim_value *container, const char *token, struct sim_value **child)
{
	size_t i;

	if (sim_kind(container) == SIM_OBJECT) {
		*child = sim_member(container, token);
		return true;
	}
	if (sim_kind(container) != SIM_ARRAY || !parse_index(token, sim_count(container), &i))
		return false;
	*child = sim_item(container, i);
	return true;
}

/* What is at @path, borrowed; NULL if only the last member is absent. */
static bool find(const struct sim_value *doc, const char *path, struct sim_value **found)
{
	path = strchrnul(path, '/');
	if (!*path)
		return false;
	while (*path) {
		KAR_CLEANUP(kar_cleanup_free) char *token = next_token(&path);

		*found = NULL;
		if (!find_child(doc, token, found))
			return false;
		doc = *found;
	}
	return true;
}

static int levels_of_path(const char *path)
{
	int n = 0;

	for (; *path; path++)
		n += *path == '/';
	return n;
}

/* True if @v has at most @levels levels of containers. */
static bool fits(struct patch_run *run, const struct sim_value *v, int levels)
{
	if (++run->visited > MAX_VISITED)
		return false;
	if (sim_kind(v) < SIM_ARRAY)
		return true;
	if (levels <= 0)
		return false;
	for (size_t i = 0; sim_kind(v) == SIM_ARRAY && i < sim_count(v); i++) {
		if (!fits(run, sim_item(v, i), levels - 1))
			return false;
	}
	for (struct sim_member m = sim_first(v); m.value; m = sim_next(m)) {
		if (!fits(run, m.value, levels - 1))
			return false;
	}
	return true;
}

/* ---- edits of one container; each takes @consumed over ---- */

typedef int edit_fn(struct sim_value **container, const char *key, struct sim_value *consumed);

static int put_new(struct sim_value **container, const char *key, struct sim_value *consumed)
{
	size_t i = sim_count(*container);

	if (sim_kind(*container) == SIM_OBJECT) {
		sim_set(container, consumed, key);
		return 0;
	}
	if (strcmp(key, "-") != 0 && !parse_index(key, sim_count(*container) + 1, &i)) {
		sim_unref(consumed);
		return -1;
	}
	sim_insert(container, i, consumed);
	return 0;
}

static int put_instead(struct sim_value **container, const char *key, struct sim_value *consumed)
{
	size_t i;

	if (sim_kind(*container) == SIM_OBJECT) {
		sim_set(container, consumed, key);
		return 0;
	}
	if (!parse_index(key, sim_count(*container), &i)) {
		sim_unref(consumed);
		return -1;
	}
	sim_replace(container, i, consumed);
	return 0;
}

static int drop(struct sim_value **container, const char *key, struct sim_value *consumed)
{
	size_t i;

	sim_unref(consumed);
	if (sim_kind(*container) == SIM_OBJECT)
		return sim_remove(container, key) ? 0 : -1;
	if (!parse_index(key, sim_count(*container), &i))
		return -1;
	sim_drop(container, i);
	return 0;
}

static struct sim_value *take_child(struct sim_value **container, const char *token)
{
	size_t i;

	if (sim_kind(*container) == SIM_OBJECT)
		return sim_take(container, token);
	return parse_index(token, sim_count(*container), &i) ? sim_take_item(container, i) : NULL;
}

/* Edits the container at @path, whose last token is the key. As deep as the document. */
static int edit_at(struct sim_value **v, const char *path, edit_fn *fn, struct sim_value *consumed)
{
	KAR_CLEANUP(kar_cleanup_free) char *token = next_token(&path);
	struct sim_value *inner;
	int rc;

	if (!*path)
		return fn(v, token, consumed);
	inner = take_child(v, token);
	if (sim_kind(inner) < SIM_ARRAY) {
		sim_unref(inner);
		sim_unref(consumed);
		return -1;
	}
	rc = edit_at(&inner, path, fn, consumed);
	put_instead(v, token, inner);
	return rc;
}

static int edit(struct patch_run *run, const char *path, edit_fn *fn, struct sim_value *consumed)
{
	path = strchrnul(path, '/');
	if (*path && sim_kind(run->doc) >= SIM_ARRAY && fits(run, consumed, MAX_DEPTH - levels_of_path(path)))
		return edit_at(&run->doc, path, fn, consumed);
	sim_unref(consumed);
	return -1;
}

/* ---- operations ---- */

static struct sim_value *value_of(const struct sim_value *op)
{
	struct sim_value *v = sim_member(op, "value");

	return v ? sim_ref(v) : sim_null();
}

static int op_add(struct patch_run *run, const struct sim_value *op, const char *path)
{
	return edit(run, path, put_new, value_of(op));
}

static int op_remove(struct patch_run *run, const struct sim_value *op, const char *path)
{
	(void)op;
	return edit(run, path, drop, sim_null());
}

static int op_replace(struct patch_run *run, const struct sim_value *op, const char *path)
{
	struct sim_value *value = value_of(op);

	if (*path)
		return edit(run, path, put_instead, value);
	if (sim_kind(value) < SIM_ARRAY) {
		sim_unref(value);
		return -1;
	}
	sim_unref(run->doc);
	run->doc = value;
	return 0;
}

static int op_move(struct patch_run *run, const struct sim_value *op, const char *path)
{
	const char *from = sim_get_text(op, "from");
	struct sim_value *v;

	if (!from || !find(run->doc, from, &v) || !v)
		return -1;
	v = sim_ref(v);
	if (!edit(run, from, drop, sim_null()))
		return edit(run, path, put_new, v);
	sim_unref(v);
	return -1;
}

/* Copies share what they copy, but must not make the document longer than the server allows. */
static int op_copy(struct patch_run *run, const struct sim_value *op, const char *path)
{
	const char *from = sim_get_text(op, "from");
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf text = { .cap = MAX_COPIED };
	struct sim_value *v;

	if (!from || !find(run->doc, from, &v))
		return -1;
	if (!v)
		return edit(run, path, put_new, sim_null());
	if (!fits(run, v, MAX_DEPTH))
		return -1;
	sim_print(v, &text);
	run->copied += text.n;
	if (text.overflow || run->copied > MAX_COPIED)
		return -1;
	return edit(run, path, put_new, sim_ref(v));
}

static int op_test(struct patch_run *run, const struct sim_value *op, const char *path)
{
	const struct sim_value *want = sim_member(op, "value");
	struct sim_value *is = run->doc;

	if (*path && !find(run->doc, path, &is))
		return -1;
	if (sim_kind(is) <= SIM_NULL)
		return sim_kind(want) <= SIM_NULL ? 0 : -1;
	return sim_equal(is, want) ? 0 : -1;
}

static int apply(struct patch_run *run, const struct sim_value *op)
{
	static const struct {
		const char *name;
		int (*fn)(struct patch_run *run, const struct sim_value *op, const char *path);
	} ops[] = {
		{ "add", op_add },
		{ "remove", op_remove },
		{ "replace", op_replace },
		{ "move", op_move },
		{ "copy", op_copy },
		{ "test", op_test },
	};
	const char *name = sim_text_or(sim_member(op, "op"), ""), *path = sim_get_text(op, "path");

	for (size_t i = 0; path && i < KAR_LEN(ops); i++) {
		if (!strcmp(name, ops[i].name))
			return ops[i].fn(run, op, path);
	}
	return -1;
}

/* ---- the patch as a document ---- */

static int refuse(struct kar_err *err, int http)
{
	err->http = http;
	return -1;
}

/* As Go names what it cannot decode. */
static const char *go_kind(const struct sim_value *v)
{
	static const char *const names[] = {
		[SIM_ABSENT] = "",
		[SIM_NULL] = "null",
		[SIM_BOOL] = "bool",
		[SIM_INT] = "number",
		[SIM_REAL] = "number",
		[SIM_STRING] = "string",
		[SIM_ARRAY] = "array",
		[SIM_OBJECT] = "object",
	};

	return names[sim_kind(v)];
}

static int check_operation(const struct sim_value *op, struct kar_err *err)
{
	static const char *const texts[] = { "op", "path", "from" };

	if (sim_kind(op) != SIM_OBJECT && sim_kind(op) != SIM_NULL) {
		kar_fail(err, KAR_INVALID,
			"error decoding patch: json: cannot unmarshal %s into Go value of type handlers.jsonPatchOp",
			go_kind(op));
		return refuse(err, 400);
	}
	for (size_t i = 0; i < KAR_LEN(texts); i++) {
		const struct sim_value *v = sim_member(op, texts[i]);

		if (!v || sim_kind(v) == SIM_NULL || sim_kind(v) == SIM_STRING)
			continue;
		kar_fail(err, KAR_INVALID,
			"error decoding patch: json: cannot unmarshal %s into Go struct field jsonPatchOp.%s of type string",
			go_kind(v), texts[i]);
		return refuse(err, 400);
	}
	return 0;
}

static int check_patch(const struct sim_value *operations, struct kar_err *err)
{
	if (sim_kind(operations) != SIM_ARRAY && sim_kind(operations) != SIM_NULL) {
		kar_fail(err, KAR_INVALID,
			"error decoding patch: json: cannot unmarshal %s into Go value of type []handlers.jsonPatchOp",
			go_kind(operations));
		return refuse(err, 400);
	}
	for (size_t i = 0; i < sim_count(operations); i++) {
		if (check_operation(sim_item(operations, i), err))
			return -1;
	}
	if (sim_count(operations) <= MAX_OPERATIONS)
		return 0;
	kar_fail(err, KAR_INVALID, "The allowed maximum operations in a JSON patch is %d, got %zu",
		MAX_OPERATIONS, sim_count(operations));
	return refuse(err, 413);
}

int sim_patch_json(struct sim_value **target, const struct sim_value *operations, struct kar_err *err)
{
	struct patch_run run = { 0 };

	if (check_patch(operations, err))
		return -1;
	run.doc = sim_ref(*target);
	for (size_t i = 0; i < sim_count(operations); i++) {
		if (!apply(&run, sim_item(operations, i)))
			continue;
		sim_unref(run.doc);
		/* The server keeps to itself what was wrong. */
		kar_fail(err, KAR_INVALID, "the server rejected our request due to an error in our request");
		return refuse(err, 422);
	}
	sim_unref(*target);
	*target = run.doc;
	return 0;
}
