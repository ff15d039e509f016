/*
 * reflector_script - a reflector of toys over a scripted server: texts of lists and events, and a scene that runs a script. For one
 * test executable: all functions are static. Include after cmocka.h.
 */
#ifndef KAR_TEST_REFLECTOR_SCRIPT_H
#define KAR_TEST_REFLECTOR_SCRIPT_H

#include <stdlib.h>
#include <string.h>

#include "common/kube/reflector.h"
#include "common/kube/reflector_policy.h"
#include "test/unit/fake_client.h"
#include "test/unit/toy.h"

/* clang-format off: tables and texts */
#define TOY(name, uid, rv) \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"n\",\"uid\":\"" uid \
	"\",\"resourceVersion\":\"" rv "\"," \
	"\"managedFields\":[{\"manager\":\"m\",\"fieldsV1\":{\"f:x\":{}}}]},\"colour\":\"red\"}"
/* A part of it cannot be read. */
#define BAD_TOY(name, uid, rv) \
	"{\"metadata\":{\"name\":\"" name "\",\"namespace\":\"n\",\"uid\":\"" uid \
	"\",\"resourceVersion\":\"" rv "\"},\"colour\":5}"
#define MORE(rv, token, items) \
	"{\"kind\":\"ToyList\",\"apiVersion\":\"example.com/v1\",\"metadata\":{\"resourceVersion\":\"" rv \
	"\"," \
	"\"continue\":\"" token "\",\"remainingItemCount\":1},\"items\":[" items "]}\n"
#define LIST(rv, items) MORE(rv, "", items)
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define ADDED(name, uid, rv) EVENT("ADDED", TOY(name, uid, rv))
#define MODIFIED(name, uid, rv) EVENT("MODIFIED", TOY(name, uid, rv))
#define DELETED(name, uid, rv) EVENT("DELETED", TOY(name, uid, rv))
#define BAD(name, uid, rv) EVENT("MODIFIED", BAD_TOY(name, uid, rv))
#define BOOKMARK(rv) \
	EVENT("BOOKMARK", \
		"{\"kind\":\"Toy\",\"metadata\":{\"resourceVersion\":\"" rv "\"," \
		"\"creationTimestamp\":null},\"colour\":null}")
#define ERROR(code, reason) \
	EVENT("ERROR", \
		"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{}," \
		"\"status\":\"Failure\",\"message\":\"told so\",\"reason\":\"" reason "\",\"code\":" code \
		"}")

#define TOYS "/apis/example.com/v1/toys"
#define FIRST "list " TOYS "?limit=500"
#define PAGE(token) "list " TOYS "?limit=500&continue=" token
#define WHOLE "list " TOYS
#define RELIST(rv) "list " TOYS "?resourceVersion=" rv "&resourceVersionMatch=NotOlderThan"
#define WATCH(rv) "watch " TOYS "?watch=true&allowWatchBookmarks=true&resourceVersion=" rv "&timeoutSeconds=1"

#define GONE \
	{ \
		.what = KAR_GONE, .http = 410, .reason = "Expired" \
	}
#define LOST \
	{ \
		.what = KAR_RETRY, .msg = "connection reset" \
	}
#define FORBIDDEN \
	{ \
		.what = KAR_DENIED, .http = 403, .reason = "Forbidden", .msg = "toys is forbidden" \
	}
/* clang-format on */

struct scene {
	struct fake_client fake;
	struct kar_intern *strings;
	struct kar_store *store;
	struct kar_reflector *reflector;
	struct kar_buf heard, trouble;
	int synced;
};

static void hear(void *arg, const struct kar_object *old, const struct kar_object *new)
{
	struct scene *s = arg;
	const struct kar_object *o = new ? new : old;

	kar_buf_printf(&s->heard, "%c%s@%ju%s ",
		!old          ? '+'
			: new ? '~'
			      : '-',
		o->name, (uintmax_t)o->rv, o->unreadable ? "?" : "");
}

static void on_synced(void *arg)
{
	struct scene *s = arg;

	s->synced++;
	assert_true(kar_reflector_synced(s->reflector));
	assert_true(kar_store_synced(s->store));
}

static void on_trouble(void *arg, const struct kar_reflector *r, const struct kar_err *err)
{
	struct scene *s = arg;

	assert_true((kar_reflector_trouble(r) != NULL) == (err != NULL));
	kar_buf_printf(&s->trouble, "%s ", err ? kar_err_class_name(err->what) : "ok");
}

static void on_answer(void *arg, const struct kar_reflector *r)
{
	struct scene *s = arg;

	assert_non_null(kar_reflector_trouble(r));
	kar_buf_puts(&s->trouble, "answer ");
}

static void on_unreadable(void *arg, const struct kar_object *o, const char *problem)
{
	struct scene *s = arg;

	assert_memory_equal(problem, "colour: want ", strlen("colour: want "));
	kar_buf_printf(&s->trouble, "%s? ", o->name);
}

/* Every watch counts as long enough: the policy has a test of its own. */
static const struct kar_reflector_times quick = {
	.backoff_base = 1,
	.backoff_cap = 4,
	.watch_min = 20,
	.watch_max = 20,
	.grace = 20,
	.idle = 10,
	.settle = 10,
	.brief = 0,
	.healthy = 10,
	.refused = 3,
	.list = 1000,
};

static void begin(struct scene *s, const char *name, const struct fake_step *steps, size_t chunk,
	struct kar_reflector_options o)
{
	o.seed = 1;
	o.on_synced = on_synced;
	o.on_trouble = on_trouble;
	o.on_answer = on_answer;
	o.on_unreadable = on_unreadable;
	o.arg = s;
	o.times = o.times ? o.times : &quick;
	fake_init(&s->fake, name, steps);
	s->fake.chunk = chunk;
	s->strings = kar_intern_new();
	s->store = kar_store_new(&toy_type, s->strings);
	kar_store_listen(s->store, hear, s);
	s->reflector = kar_reflector_new(s->fake.loop, &s->fake.base, s->store, &o);
	kar_reflector_start(s->reflector);
}

static void end(struct scene *s)
{
	kar_reflector_free(s->reflector);
	kar_store_free(s->store);
	kar_intern_free(s->strings);
	fake_release(&s->fake);
	kar_buf_release(&s->heard);
	kar_buf_release(&s->trouble);
	assert_int_equal(toy_alive, 0);
}

#endif
