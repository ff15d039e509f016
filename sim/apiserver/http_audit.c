/* One line per answered request, as the audit log of a real server at level Metadata has it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/timefmt.h"
#include "sim/apiserver/http_door_impl.h"

struct sim_audit {
	struct sim_value *event;
	bool named; /* the path names the object */
};

static void set_time(struct sim_value **v, const char *key, kar_time wall)
{
	char text[KAR_TIME_LEN];

	sim_set_text(v, kar_time_format_micro(wall, text), key);
}

static void set_if(struct sim_value **v, const char *key, const char *text)
{
	if (text && *text)
		sim_set_text(v, text, key);
}

static struct sim_value *object_ref(const struct sim_request *rq)
{
	struct sim_value *v = sim_object();

	set_if(&v, "resource", rq->resource);
	set_if(&v, "namespace", rq->ns);
	set_if(&v, "name", rq->name);
	set_if(&v, "apiGroup", rq->group);
	set_if(&v, "apiVersion", rq->version);
	set_if(&v, "subresource", rq->subresource);
	return v;
}

struct sim_audit *sim_audit_new(const struct sim_door_call *c)
{
	struct sim_value *v;
	struct sim_audit *a;

	if (!c->door->options.audit)
		return NULL;
	v = sim_object();
	sim_set_text(&v, "Event", "kind");
	sim_set_text(&v, "audit.k8s.io/v1", "apiVersion");
	sim_set_text(&v, "Metadata", "level");
	sim_set(&v, sim_printf("%" PRIu64, ++c->door->audit_ids), "auditID");
	sim_set_text(&v, "ResponseComplete", "stage");
	sim_set_text(&v, c->rq->target, "requestURI");
	sim_set_text(&v, kar_verb_name(c->route.request.verb), "verb");
	sim_set_text(&v, c->user, "user", "username");
	set_if(&v, "userAgent", c->rq->user_agent);
	sim_set(&v, object_ref(&c->route.request), "objectRef");
	set_time(&v, "requestReceivedTimestamp", c->received);
	sim_set_text(&v, "allow", "annotations", "authorization.k8s.io/decision");
	a = kar_xcalloc(1, sizeof(*a));
	*a = (struct sim_audit){ v, c->route.request.name != NULL };
	return a;
}

void sim_audit_end(struct sim_door *d, struct sim_audit *a, int code, const char *name)
{
	struct kar_buf line KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	if (!a)
		return;
	if (!a->named && name)
		sim_set_text(&a->event, name, "objectRef", "name");
	sim_set(&a->event, sim_int(code), "responseStatus", "code");
	set_time(&a->event, "stageTimestamp", sim_timeline_wall(sim_apiserver_timeline(d->server)));
	sim_print(a->event, &line);
	kar_buf_puts(&line, "\n");
	d->options.audit(d->options.audit_arg, kar_buf_cstr(&line), line.n);
	sim_unref(a->event);
	free(a);
}
