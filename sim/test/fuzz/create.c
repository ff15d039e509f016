/*
 * A JSON body, sent as an object of the kind that it names: refused with a Status, or created as the dry run says, and then
 * read back as it was answered; sent back unchanged it changes nothing.
 */
#include <string.h>

#include "sim/apiserver/internal.h"
#include "sim/test/fuzz/cluster.h"
#include "test/fuzz/fuzz.h"

enum { ONE_IN = 4 /* inputs is not only tried dry */ };

/* The resource that the body says it is of; pods if it does not say. */
static const struct sim_resource *resource_of(const struct sim_apiserver *s, const struct sim_value *body)
{
	const char *version = sim_text_or(sim_member(body, "apiVersion"), ""), *slash = strchr(version, '/');
	struct kar_buf group = { 0 };
	const struct sim_resource *r;

	kar_buf_append(&group, version, slash ? (size_t)(slash - version) : 0);
	r = sim_resource_of_kind(s, kar_buf_cstr(&group), sim_text_or(sim_member(body, "kind"), ""));
	kar_buf_release(&group);
	return r ? r : sim_resource_find(s, "", "v1", "pods");
}

/* "/api/v1/namespaces/default/pods"; names are without anything that a path would need escaped. */
static void put_path(const struct sim_resource *r, const char *name, struct kar_buf *out)
{
	kar_buf_printf(out, "/%s%s/%s%s/%s", *r->group ? "apis/" : "api", r->group, r->version,
		r->namespaced ? "/namespaces/default" : "", r->plural);
	if (name)
		kar_buf_printf(out, "/%s", name);
}

static int ask(struct fuzz_cluster *c, const char *method, const char *path, struct kar_str body,
	struct kar_buf *said)
{
	return fuzz_send(c,
		&(const struct sim_http_request){ .method = method,
			.target = path,
			.content_type = "application/json",
			.body = body },
		said);
}

/* What was answered, without "CODE ". */
static struct kar_str body_of(const struct kar_buf *said)
{
	return (struct kar_str){ said->p + 4, said->n - 4 };
}

/* @created: the answer to the create. */
static void check_read_back(struct fuzz_cluster *c, const char *path, const struct kar_buf *created)
{
	struct kar_buf read = { .cap = SIZE_MAX }, updated = { .cap = SIZE_MAX };
	struct sim_value *a = NULL, *b = NULL;
	struct kar_str none = { "", 0 };

	if (ask(c, "GET", path, none, &read) == 200) {
		int64_t before = sim_apiserver_rv(fuzz_server(c));

		a = sim_parse(body_of(created).p, body_of(created).n, NULL);
		b = sim_parse(body_of(&read).p, body_of(&read).n, NULL);
		FUZZ_CHECK(sim_equal(a, b), "created %s read back %s", created->p, read.p);
		FUZZ_CHECK(ask(c, "PUT", path, body_of(&read), &updated) == 200, "sent back %s answered %s",
			read.p, updated.p);
		FUZZ_CHECK(sim_apiserver_rv(fuzz_server(c)) == before, "sent back unchanged, but written: %s",
			updated.p);
	}
	sim_unref(a);
	sim_unref(b);
	kar_buf_release(&read);
	kar_buf_release(&updated);
}

/* The name if it can stand in a path as it is. */
static const char *plain_name(const struct sim_value *object)
{
	const char *name = sim_get_text(object, "metadata", "name");

	return name && *name && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789.-") == strlen(name) ? name
												       : NULL;
}

static void check_created(struct fuzz_cluster *c, const struct sim_resource *r, const struct kar_buf *created)
{
	struct sim_value *object = sim_parse(body_of(created).p, body_of(created).n, NULL);
	const char *name = plain_name(object);
	struct kar_buf path = { 0 };

	if (name) {
		put_path(r, name, &path);
		check_read_back(c, kar_buf_cstr(&path), created);
	}
	kar_buf_release(&path);
	sim_unref(object);
}

/* The path to create objects of @r at, with @options. */
static int create(struct fuzz_cluster *c, const struct sim_resource *r, const char *options,
	struct kar_str body, struct kar_buf *said)
{
	struct kar_buf path = { 0 };
	int code;

	put_path(r, NULL, &path);
	kar_buf_puts(&path, options);
	code = ask(c, "POST", kar_buf_cstr(&path), body, said);
	kar_buf_release(&path);
	return code;
}

/* What a dry run has answered with @expected is tried in earnest. */
static void create_in_earnest(struct fuzz_cluster *c, const struct sim_resource *r, const char *options,
	struct kar_str body, int expected)
{
	struct kar_buf said = { .cap = SIZE_MAX };
	int code = create(c, r, options, body, &said);

	FUZZ_CHECK(code == expected, "the dry run: %d, then: %s", expected, said.p);
	if (code == 201)
		check_created(c, r, &said);
	fuzz_settle(c);
	kar_buf_release(&said);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static const char *const dry[] = { "?dryRun=All&fieldValidation=Ignore",
		"?dryRun=All&fieldValidation=Warn", "?dryRun=All&fieldValidation=Strict" };
	static const char *const earnest[] = { "?fieldValidation=Ignore", "?fieldValidation=Warn",
		"?fieldValidation=Strict" };
	size_t how = fuzz_choose(data, n, KAR_LEN(dry));
	const struct kar_str body = { (const char *)data, n };
	struct fuzz_cluster *c = fuzz_cluster(fuzz_types_of(data, n), false);
	struct sim_value *v = sim_parse(body.p, body.n, NULL);
	const struct sim_resource *r = resource_of(fuzz_server(c), v);
	int64_t before = sim_apiserver_rv(fuzz_server(c));
	struct kar_buf said = { .cap = SIZE_MAX };
	int code = create(c, r, dry[how], body, &said);

	FUZZ_CHECK(sim_apiserver_rv(fuzz_server(c)) == before, "the dry run has written: %s", said.p);
	if (fuzz_turn(data, n, 0, ONE_IN))
		create_in_earnest(c, r, earnest[how], body, code);
	kar_buf_release(&said);
	sim_unref(v);
	return 0;
}
