/* The simulated API server as its neighbours in the same process see it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/mem.h"
#include "sim/apiserver/apiserver.h"

#define WALL 1795268787000 /* 2026-11-21T13:46:27Z */

struct world {
	struct sim_timeline *timeline;
	struct sim_apiserver *server;
};

static struct world set_up(uint64_t seed)
{
	struct world w = { .timeline = sim_timeline_new(WALL) };

	w.server = sim_apiserver_new(w.timeline, &(struct sim_apiserver_options){ .seed = seed });
	return w;
}

static void tear_down(struct world *w)
{
	sim_apiserver_free(w->server);
	sim_timeline_free(w->timeline);
}

static struct sim_request of_configmap(enum kar_verb verb, const char *name, const char *body)
{
	return (struct sim_request){ .verb = verb,
		.group = "",
		.version = "v1",
		.resource = "configmaps",
		.ns = "default",
		.name = name,
		.body = { body, body ? strlen(body) : 0 } };
}

static int call(struct world *w, struct sim_request rq)
{
	struct sim_response out;
	int code;

	sim_apiserver_call(w->server, &rq, &out);
	code = out.code;
	sim_response_release(&out);
	return code;
}

static void make(struct world *w, const char *name)
{
	struct sim_value *v = sim_object();
	struct sim_request rq = of_configmap(KAR_CREATE, NULL, NULL);

	sim_set_text(&v, name, "metadata", "name");
	rq.object = v;
	assert_int_equal(call(w, rq), 201);
	sim_unref(v);
}

/* ---- reading ---- */

static void print_name(void *arg, const struct sim_value *object)
{
	kar_buf_printf(arg, "%s/%s ", sim_get_text(object, "metadata", "namespace"),
		sim_get_text(object, "metadata", "name"));
}

static void objects_can_be_looked_at_without_a_request(void **state KAR_UNUSED)
{
	struct world w = set_up(1);
	struct kar_buf names = { 0 };

	make(&w, "b");
	make(&w, "a");
	assert_non_null(sim_apiserver_peek(w.server, "", "configmaps", "default", "a"));
	assert_null(sim_apiserver_peek(w.server, "", "configmaps", "default", "z"));
	assert_null(sim_apiserver_peek(w.server, "", "configmaps", "kube-system", "a"));
	assert_null(sim_apiserver_peek(w.server, "nope", "configmaps", "default", "a"));
	assert_non_null(sim_apiserver_peek(w.server, "", "namespaces", NULL, "default"));
	sim_apiserver_each(w.server, "", "configmaps", print_name, &names);
	assert_string_equal(kar_buf_cstr(&names), "default/a default/b ");
	assert_int_equal(sim_apiserver_count(w.server, "", "configmaps"), 2);
	assert_int_equal(sim_apiserver_count(w.server, "", "nope"), 0);
	assert_ptr_equal(sim_apiserver_timeline(w.server), w.timeline);
	kar_buf_release(&names);
	tear_down(&w);
}

static void names_that_are_too_long_are_not_there(void **state KAR_UNUSED)
{
	struct world w = set_up(1);
	char name[4000];

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(call(&w, of_configmap(KAR_GET, name, NULL)), 404);
	assert_int_equal(call(&w, of_configmap(KAR_DELETE, name, NULL)), 404);
	assert_null(sim_apiserver_peek(w.server, "", "configmaps", name, "a"));
	tear_down(&w);
}

static void one_text_is_shared_by_all_readers(void **state KAR_UNUSED)
{
	struct world w = set_up(1);
	struct sim_request rq = of_configmap(KAR_GET, "a", NULL);
	struct sim_response first, second;
	struct kar_buf body = { 0 };

	make(&w, "a");
	sim_apiserver_call(w.server, &rq, &first);
	sim_response_body(&first, &body);
	sim_apiserver_call(w.server, &rq, &second);
	assert_ptr_equal(first.object, second.object);
	assert_non_null(second.text);
	assert_int_equal(second.text->n, body.n);
	assert_memory_equal(second.text->p, body.p, body.n);
	/* it stays what it was, whatever happens to the object */
	assert_int_equal(call(&w, of_configmap(KAR_DELETE, "a", NULL)), 200);
	assert_memory_equal(second.text->p, body.p, body.n);
	sim_response_release(&first);
	sim_response_release(&second);
	kar_buf_release(&body);
	tear_down(&w);
}

/* ---- listening ---- */

struct heard {
	struct sim_apiserver *server;
	struct kar_buf text;
};

static void hear(void *arg, const struct sim_change *c)
{
	struct heard *h = arg;
	const char *what = !c->old ? "created" : !c->new ? "removed" : "changed";

	if (strcmp(c->resource, "configmaps") != 0)
		return;
	assert_int_equal(c->rv, sim_apiserver_rv(h->server));
	kar_buf_printf(&h->text, "%s %s %s/%s by %s; ", what, kar_verb_name(c->verb), c->ns, c->name,
		c->user);
}

static void listeners_hear_every_write_once(void **state KAR_UNUSED)
{
	struct world w = set_up(1);
	struct heard h = { .server = w.server };
	struct sim_request rq = of_configmap(KAR_PATCH, "a", "{\"data\":{\"x\":\"1\"}}");

	rq.patch_type = KAR_PATCH_MERGE;
	rq.user = "tester";
	sim_apiserver_listen(w.server, hear, &h);
	make(&w, "a");
	assert_int_equal(call(&w, rq), 200);
	assert_int_equal(call(&w, rq), 200); /* changes nothing */
	rq.dry_run = true;
	rq.body = (struct kar_str){ "{\"data\":null}", 13 };
	assert_int_equal(call(&w, rq), 200);
	assert_int_equal(call(&w, of_configmap(KAR_DELETE, "a", NULL)), 200);
	assert_int_equal(call(&w, of_configmap(KAR_DELETE, "a", NULL)), 404);
	assert_string_equal(kar_buf_cstr(&h.text),
		"created create default/a by kubernetes-admin; changed patch default/a by tester; "
		"removed delete default/a by kubernetes-admin; ");
	kar_buf_release(&h.text);
	tear_down(&w);
}

static void count(void *arg)
{
	++*(int *)arg;
}

static void watchers_are_told_once_until_they_have_read(void **state KAR_UNUSED)
{
	struct world w = set_up(1);
	struct sim_request rq = of_configmap(KAR_WATCH, NULL, NULL);
	struct sim_response refused;
	struct kar_buf line = { 0 };
	int told = 0;
	struct sim_watch *watch = sim_watch_open(w.server, &rq, count, &told, &refused);

	make(&w, "a");
	assert_int_equal(told, 0); /* nobody has read yet: the first read comes unasked */
	assert_int_equal(sim_watch_read(watch, &line), SIM_WATCH_EVENT);
	make(&w, "b");
	assert_int_equal(told, 0); /* not dry yet */
	assert_int_equal(sim_watch_read(watch, &line), SIM_WATCH_EVENT);
	assert_int_equal(sim_watch_read(watch, &line), SIM_WATCH_DRY);
	make(&w, "c");
	make(&w, "d");
	assert_int_equal(told, 1);
	assert_int_equal(sim_watch_read(watch, &line), SIM_WATCH_EVENT);
	assert_int_equal(sim_watch_read(watch, &line), SIM_WATCH_EVENT);
	assert_int_equal(sim_watch_read(watch, &line), SIM_WATCH_DRY);
	/* another namespace is none of its business */
	rq = of_configmap(KAR_CREATE, NULL, "{\"metadata\":{\"name\":\"a\"}}");
	rq.ns = "kube-system";
	assert_int_equal(call(&w, rq), 201);
	assert_int_equal(told, 1);
	sim_apiserver_cut_watches(w.server);
	assert_int_equal(told, 2);
	assert_int_equal(sim_watch_read(watch, &line), SIM_WATCH_ENDED);
	sim_watch_close(watch);
	kar_buf_release(&line);
	tear_down(&w);
}

/* ---- seeds ---- */

static void tell_story(uint64_t seed, struct kar_buf *out)
{
	struct world w = set_up(seed);
	struct sim_request list = of_configmap(KAR_LIST, NULL, NULL);
	struct sim_response r;

	for (int i = 0; i < 3; i++)
		assert_int_equal(call(&w,
					 of_configmap(KAR_CREATE, NULL,
						 "{\"metadata\":{\"generateName\":\"a-\"}}")),
			201);
	sim_timeline_run(w.timeline, sim_timeline_mono(w.timeline) + KAR_MINUTE);
	sim_apiserver_call(w.server, &list, &r);
	sim_response_body(&r, out);
	sim_response_release(&r);
	tear_down(&w);
}

static void a_seed_decides_everything(void **state KAR_UNUSED)
{
	struct kar_buf first = { 0 }, again = { 0 }, other = { 0 };

	tell_story(7, &first);
	tell_story(7, &again);
	tell_story(8, &other);
	assert_string_equal(kar_buf_cstr(&first), kar_buf_cstr(&again));
	assert_string_not_equal(kar_buf_cstr(&first), kar_buf_cstr(&other));
	kar_buf_release(&first);
	kar_buf_release(&again);
	kar_buf_release(&other);
}

/* ---- definitions from files ---- */

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void remove_file(const char *folder, const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(remove(path), 0);
}

static void definitions_are_installed_from_a_folder(void **state KAR_UNUSED)
{
	static const char crd[] =
		"# two documents, one of them of another kind\nkind: ConfigMap\n---\n"
		"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: foos.x.io}\n"
		"spec:\n  group: x.io\n  scope: Cluster\n  names: {plural: foos, kind: Foo}\n"
		"  versions:\n  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}\n";
	char folder[] = "/tmp/kar-crds-XXXXXX";
	struct world w = set_up(1);
	struct kar_err err = { 0 };
	struct sim_request rq = { .verb = KAR_LIST, .group = "x.io", .version = "v1", .resource = "foos" };

	assert_non_null(mkdtemp(folder));
	write_file(folder, "a.yaml", crd);
	write_file(folder, "README.md", "not a definition: {");
	assert_int_equal(sim_apiserver_install_crds(w.server, folder, &err), 0);
	assert_int_equal(call(&w, rq), 200);

	static const struct {
		const char *name, *text, *msg;
	} rows[] = {
		{ "taken", crd,
			"b.yaml: customresourcedefinitions.apiextensions.k8s.io \"foos.x.io\" already exists" },
		{ "no_yaml", "a: [", "b.yaml: " },
		{ "no_definition", "kind: CustomResourceDefinition\nmetadata: {name: a.b}\nspec: {}\n",
			"b.yaml: CustomResourceDefinition.apiextensions.k8s.io \"a.b\" is invalid: " },
	};

	remove_file(folder, "a.yaml");
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		write_file(folder, "b.yaml", rows[i].text);
		assert_int_equal(sim_apiserver_install_crds(w.server, folder, &err), -1);
		if (!strstr(err.msg, rows[i].msg))
			fail_msg("%s: expected ...%s, got %s", rows[i].name, rows[i].msg, err.msg);
	}
	remove_file(folder, "b.yaml");
	remove_file(folder, "README.md");
	assert_int_equal(remove(folder), 0);
	assert_int_equal(sim_apiserver_install_crds(w.server, folder, &err), -1);
	assert_non_null(strstr(err.msg, "cannot read folder"));
	tear_down(&w);
}

static void warnings_name_unknown_fields(void **state KAR_UNUSED)
{
	struct world w = set_up(1);
	struct sim_request rq =
		of_configmap(KAR_CREATE, NULL, "{\"metadata\":{\"name\":\"a\",\"bar\":1},\"foo\":1}");
	struct sim_response r;

	rq.field_validation = "Warn";
	sim_apiserver_call(w.server, &rq, &r);
	assert_int_equal(r.code, 201);
	assert_non_null(r.warning);
	assert_non_null(strstr(r.warning, "unknown field \"foo\""));
	assert_non_null(strstr(r.warning, "unknown field \"metadata.bar\""));
	sim_response_release(&r);
	tear_down(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_can_be_looked_at_without_a_request),
		cmocka_unit_test(names_that_are_too_long_are_not_there),
		cmocka_unit_test(one_text_is_shared_by_all_readers),
		cmocka_unit_test(listeners_hear_every_write_once),
		cmocka_unit_test(watchers_are_told_once_until_they_have_read),
		cmocka_unit_test(a_seed_decides_everything),
		cmocka_unit_test(definitions_are_installed_from_a_folder),
		cmocka_unit_test(warnings_name_unknown_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
