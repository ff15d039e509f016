#include "sim/apiserver/expiry.h"

#include <stdlib.h>
#include <string.h>

#include <bsd/sys/queue.h>

#include "common/base/mem.h"

#define EVENT_TTL (60 * KAR_MINUTE)

/* One write of one event; a later write makes it void. */
struct entry {
	STAILQ_ENTRY(entry) link;
	kar_time due; /* mono */
	int64_t rv;
	const char *name; /* in text, after the namespace */
	char ns[];
};

struct sim_expiry {
	struct sim_apiserver *s;
	struct sim_alarm *alarm;
	STAILQ_HEAD(, entry) entries; /* in order of time */
};

static void expire(struct sim_expiry *x, const struct entry *e)
{
	const struct sim_value *event = sim_apiserver_peek(x->s, "", "events", e->ns, e->name);
	const char *rv = sim_text_or(sim_get(event, "metadata", "resourceVersion"), "");

	if (event && strtoll(rv, NULL, 10) == e->rv)
		sim_apiserver_do(x->s,
			(struct sim_request){ .verb = KAR_DELETE,
				.group = "",
				.version = "v1",
				.resource = "events",
				.ns = e->ns,
				.name = e->name,
				.user = "system:apiserver" });
}

static void expire_due(void *arg)
{
	struct sim_expiry *x = arg;
	kar_time now = sim_timeline_mono(sim_apiserver_timeline(x->s));
	struct entry *e;

	while ((e = STAILQ_FIRST(&x->entries)) && e->due <= now) {
		STAILQ_REMOVE_HEAD(&x->entries, link);
		expire(x, e);
		free(e);
	}
	if (e)
		sim_alarm_start(x->alarm, e->due - now);
}

static void on_change(void *arg, const struct sim_change *c)
{
	struct sim_expiry *x = arg;
	size_t ns_size, name_size;
	struct entry *e;

	if (!c->new || strcmp(c->resource, "events") != 0 || *c->group)
		return;
	ns_size = strlen(c->ns) + 1;
	name_size = strlen(c->name) + 1;
	e = kar_xmalloc(sizeof(*e) + ns_size + name_size);
	memcpy(e->ns, c->ns, ns_size);
	memcpy(e->ns + ns_size, c->name, name_size);
	e->name = e->ns + ns_size;
	e->rv = c->rv;
	e->due = sim_timeline_mono(sim_apiserver_timeline(x->s)) + EVENT_TTL;
	STAILQ_INSERT_TAIL(&x->entries, e, link);
	if (!sim_alarm_running(x->alarm))
		sim_alarm_start(x->alarm, EVENT_TTL);
}

struct sim_expiry *sim_expiry_new(struct sim_apiserver *s)
{
	struct sim_expiry *x = kar_xcalloc(1, sizeof(*x));

	x->s = s;
	STAILQ_INIT(&x->entries);
	x->alarm = sim_alarm_new(sim_apiserver_timeline(s), expire_due, x);
	sim_apiserver_listen(s, on_change, x);
	return x;
}

void sim_expiry_free(struct sim_expiry *x)
{
	struct entry *e;

	if (!x)
		return;
	while ((e = STAILQ_FIRST(&x->entries))) {
		STAILQ_REMOVE_HEAD(&x->entries, link);
		free(e);
	}
	sim_alarm_free(x->alarm);
	free(x);
}
