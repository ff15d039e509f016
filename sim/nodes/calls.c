#include "sim/nodes/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <bsd/string.h>

/* Runs @rq on a v1 resource, of the core group unless it says otherwise. Names are copied: the write may free the pod or node they came from. */
static int call(struct sim_nodes *n, struct sim_request rq, const struct sim_value *body)
{
	char ns[SIM_NAME_MAX] = "", name[SIM_NAME_MAX] = "";
	struct sim_response out;

	strlcpy(ns, rq.ns ? rq.ns : "", sizeof(ns));
	strlcpy(name, rq.name ? rq.name : "", sizeof(name));
	rq.ns = ns[0] ? ns : NULL;
	rq.name = name[0] ? name : NULL;
	rq.group = rq.group ? rq.group : "";
	rq.version = "v1";
	rq.object = body;
	sim_apiserver_call(n->server, &rq, &out);

	int code = out.code;

	sim_response_release(&out);
	return code;
}

static int put(struct sim_nodes *n, struct sim_request rq, const struct sim_value *stored,
	struct sim_value *part, const char *member)
{
	struct sim_value *object = sim_ref(stored);
	int code;

	sim_set(&object, part, member);
	rq.verb = KAR_UPDATE;
	code = call(n, rq, object);
	sim_unref(object);
	return code;
}

int sim_put_pod_status(struct sim_pod *p, const char *user, struct sim_value *consumed)
{
	return put(p->nodes,
		(struct sim_request){ .resource = "pods",
			.subresource = "status",
			.ns = p->ns,
			.name = p->name,
			.user = user },
		p->value, consumed, "status");
}

int sim_put_node_status(struct sim_node *node, const char *user, struct sim_value *consumed)
{
	return put(node->nodes,
		(struct sim_request){ .resource = "nodes",
			.subresource = "status",
			.name = node->name,
			.user = user },
		node->value, consumed, "status");
}

int sim_put_node_spec(struct sim_node *node, const char *user, struct sim_value *consumed)
{
	return put(node->nodes, (struct sim_request){ .resource = "nodes", .name = node->name, .user = user },
		node->value, consumed, "spec");
}

int sim_put_budget_status(struct sim_nodes *n, const struct sim_value *budget, struct sim_value *consumed)
{
	return put(n,
		(struct sim_request){
			.group = "policy",
			.resource = "poddisruptionbudgets",
			.subresource = "status",
			.ns = sim_get_text(budget, "metadata", "namespace"),
			.name = sim_get_text(budget, "metadata", "name"),
			.user = SIM_USER_CONTROLLER,
		},
		budget, consumed, "status");
}

int sim_call_delete(struct sim_pod *p, const char *user, int64_t grace)
{
	struct sim_value *options = sim_object();
	int code;

	if (grace >= 0)
		sim_set(&options, sim_int(grace), "gracePeriodSeconds");
	sim_set_text(&options, p->uid, "preconditions", "uid");
	code = call(p->nodes,
		(struct sim_request){ .verb = KAR_DELETE,
			.resource = "pods",
			.ns = p->ns,
			.name = p->name,
			.user = user },
		options);
	sim_unref(options);
	return code;
}

static struct sim_value *about(const struct sim_pod *p, const char *version, const char *kind)
{
	struct sim_value *v = sim_object();

	sim_set_text(&v, version, "apiVersion");
	sim_set_text(&v, kind, "kind");
	sim_set_text(&v, p->name, "metadata", "name");
	sim_set_text(&v, p->ns, "metadata", "namespace");
	return v;
}

static int create_under(struct sim_pod *p, const char *subresource, const char *user,
	struct sim_value *consumed)
{
	int code = call(p->nodes,
		(struct sim_request){
			.verb = KAR_CREATE,
			.resource = "pods",
			.subresource = subresource,
			.ns = p->ns,
			.name = p->name,
			.user = user,
		},
		consumed);

	sim_unref(consumed);
	return code;
}

int sim_call_evict(struct sim_pod *p, const char *user)
{
	return create_under(p, "eviction", user, about(p, "policy/v1", "Eviction"));
}

int sim_call_bind(struct sim_pod *p, const struct sim_node *node)
{
	struct sim_value *binding = about(p, "v1", "Binding");

	sim_set_text(&binding, p->uid, "metadata", "uid");
	sim_set_text(&binding, "v1", "target", "apiVersion");
	sim_set_text(&binding, "Node", "target", "kind");
	sim_set_text(&binding, node->name, "target", "name");
	return create_under(p, "binding", SIM_USER_SCHEDULER, binding);
}

void sim_call_disrupt(struct sim_pod *p, const char *user, const char *reason, const char *message, bool fail)
{
	struct sim_value *status = sim_ref(sim_member(p->value, "status"));
	struct sim_value *conditions = sim_ref(sim_member(status, "conditions"));
	bool changed = false;

	if (reason)
		changed = sim_set_condition(p->nodes, &conditions,
			&(struct sim_condition){ .type = "DisruptionTarget",
				.status = "True",
				.reason = reason,
				.message = message },
			sim_get_int(p->value, 0, "metadata", "generation"));
	if (!status)
		status = sim_object();
	if (changed)
		sim_set(&status, conditions, "conditions");
	else
		sim_unref(conditions);
	if (fail && !p->terminal) {
		sim_set_text(&status, "Failed", "phase");
		changed = true;
	}
	if (changed)
		sim_put_pod_status(p, user, status);
	else
		sim_unref(status);
}

const char *sim_node_user(const struct sim_node *node, char out[SIM_NAME_MAX + 16])
{
	snprintf(out, SIM_NAME_MAX + 16, "system:node:%s", node->name);
	return out;
}

/* ---- events, for people ---- */

static struct sim_value *event_of(struct sim_nodes *n, const char *kind, const struct sim_value *object)
{
	const struct sim_value *meta = sim_member(object, "metadata");
	const char *name = sim_text_or(sim_member(meta, "name"), ""),
		   *ns = sim_text_or(sim_member(meta, "namespace"), "default");
	struct sim_value *v = sim_object();

	sim_set_text(&v, "v1", "apiVersion");
	sim_set_text(&v, "Event", "kind");
	sim_set(&v, sim_printf("%.200s.%016llx", name, 0x1000000000000000ull + ++n->events), "metadata",
		"name");
	sim_set_text(&v, ns, "metadata", "namespace");
	sim_set_text(&v, "v1", "involvedObject", "apiVersion");
	sim_set_text(&v, kind, "involvedObject", "kind");
	sim_set_text(&v, name, "involvedObject", "name");
	if (sim_member(meta, "namespace"))
		sim_set_text(&v, ns, "involvedObject", "namespace");
	/* Events about nodes carry the name for a UID, since kubelets know no other. */
	sim_set_text(&v, strcmp(kind, "Node") == 0 ? name : sim_text_or(sim_member(meta, "uid"), ""),
		"involvedObject", "uid");
	return v;
}

void sim_nodes_event(struct sim_nodes *n, const char *kind, const struct sim_value *object,
	const char *component, const char *type, const char *reason, const char *fmt, ...)
{
	struct sim_value *v;
	char message[1024], ns[SIM_NAME_MAX];
	va_list ap;

	if (!n->options.events)
		return;
	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	v = event_of(n, kind, object);
	sim_set_text(&v, type, "type");
	sim_set_text(&v, reason, "reason");
	sim_set_text(&v, message, "message");
	sim_set_text(&v, component, "source", "component");
	sim_set_text(&v, component, "reportingComponent");
	sim_set_text(&v, "", "reportingInstance");
	sim_set(&v, sim_now(n), "firstTimestamp");
	sim_set(&v, sim_now(n), "lastTimestamp");
	sim_set(&v, sim_int(1), "count");
	strlcpy(ns, sim_get_text(v, "metadata", "namespace"), sizeof(ns));
	call(n, (struct sim_request){ .verb = KAR_CREATE, .resource = "events", .ns = ns, .user = component },
		v);
	sim_unref(v);
}
