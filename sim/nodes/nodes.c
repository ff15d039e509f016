#include "sim/nodes/internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/base/mem.h"

struct sim_nodes *sim_nodes_new(struct sim_apiserver *s, const struct sim_nodes_options *o)
{
	struct sim_nodes *n = kar_xcalloc(1, sizeof(*n));

	n->server = s;
	n->timeline = sim_apiserver_timeline(s);
	n->options = *o;
	n->random = sim_random_of(o->seed, "nodes");
	sim_resource_names_init(&n->names);
	TAILQ_INIT(&n->zones);
	sim_scheduler_init(n);
	sim_podgc_init(n);
	sim_disruption_init(n);
	sim_mirror_start(n);
	return n;
}

void sim_nodes_free(struct sim_nodes *n)
{
	if (!n)
		return;
	sim_mirror_stop(n);
	sim_scheduler_release(n);
	sim_podgc_release(n);
	sim_disruption_release(n);
	sim_lifecycle_release(n);
	sim_words_release(n);
	sim_resource_names_release(&n->names);
	free(n);
}

/* ---- operations ---- */

static struct sim_node *existing(struct sim_nodes *n, const char *name, struct kar_err *err)
{
	struct sim_node *node = sim_mirror_node(n, name);

	if (node && node->value)
		return node;
	kar_fail(err, KAR_NOTFOUND, "nodes \"%s\" not found", name);
	return NULL;
}

static int answer(struct sim_response *out, struct kar_err *err)
{
	int code = out->code;

	if (code / 100 != 2)
		kar_fail(err, KAR_INVALID, "%s", sim_text_or(sim_member(out->object, "message"), "refused"));
	sim_response_release(out);
	return code / 100 == 2 ? 0 : -1;
}

static struct sim_value *labels_of(const struct sim_node_options *o)
{
	static const char *const always[][2] = { { "kubernetes.io/os", "linux" },
		{ "kubernetes.io/arch", "amd64" } };
	struct sim_value *labels = o->labels ? sim_ref(o->labels) : sim_object();

	for (size_t i = 0; i < KAR_LEN(always); i++)
		sim_set_text(&labels, always[i][1], always[i][0]);
	sim_set_text(&labels, o->name, "kubernetes.io/hostname");
	return labels;
}

int sim_nodes_add(struct sim_nodes *n, const struct sim_node_options *o, struct kar_err *err)
{
	struct sim_value *node = sim_object();
	char user[SIM_NAME_MAX + 16];
	struct sim_response out;

	snprintf(user, sizeof(user), "system:node:%s", o->name);
	sim_set_text(&node, "v1", "apiVersion");
	sim_set_text(&node, "Node", "kind");
	sim_set_text(&node, o->name, "metadata", "name");
	sim_set(&node, labels_of(o), "metadata", "labels");
	if (o->taints)
		sim_set(&node, sim_ref(o->taints), "spec", "taints");
	if (o->capacity)
		sim_set(&node, sim_ref(o->capacity), "status", "capacity");
	sim_apiserver_call(n->server,
		&(struct sim_request){ .verb = KAR_CREATE,
			.group = "",
			.version = "v1",
			.resource = "nodes",
			.object = node,
			.user = user },
		&out);
	sim_unref(node);
	return answer(&out, err);
}

int sim_nodes_remove(struct sim_nodes *n, const char *name, struct kar_err *err)
{
	struct sim_response out;

	sim_apiserver_call(n->server,
		&(struct sim_request){ .verb = KAR_DELETE,
			.group = "",
			.version = "v1",
			.resource = "nodes",
			.name = name },
		&out);
	return answer(&out, err);
}

int sim_nodes_cordon(struct sim_nodes *n, const char *name, bool on, struct kar_err *err)
{
	struct sim_node *node = existing(n, name, err);
	struct sim_value *spec;

	if (!node)
		return -1;
	if (node->unschedulable == on)
		return 0;
	spec = sim_ref(sim_member(node->value, "spec"));
	if (!spec)
		spec = sim_object();
	if (on)
		sim_set(&spec, sim_bool(true), "unschedulable");
	else
		sim_remove(&spec, "unschedulable");
	return sim_put_node_spec(node, "kubernetes-admin", spec) / 100 == 2
		? 0
		: kar_fail(err, KAR_INVALID, "nodes \"%s\": refused", name);
}

int sim_nodes_drain(struct sim_nodes *n, const char *name, struct kar_err *err)
{
	if (sim_nodes_cordon(n, name, true, err) < 0)
		return -1;
	sim_drain_start(sim_mirror_node(n, name));
	return 0;
}

int sim_nodes_kill(struct sim_nodes *n, const char *name, enum sim_loss loss, struct kar_err *err)
{
	struct sim_node *node = existing(n, name, err);

	if (!node)
		return -1;
	if (!node->silent)
		sim_lifecycle_silent(node);
	node->silent = true;
	node->powerless |= loss == SIM_LOSS_POWER;
	sim_alarm_stop(node->kubelet);
	sim_kubelet_pause(node);
	return 0;
}

int sim_nodes_recover(struct sim_nodes *n, const char *name, struct kar_err *err)
{
	struct sim_node *node = existing(n, name, err);

	if (!node)
		return -1;
	if (!node->silent)
		return 0;
	node->silent = false;
	sim_lifecycle_heard(node);
	sim_kubelet_resume(node);
	node->powerless = false;
	sim_alarm_start(node->kubelet, 0);
	return 0;
}

int sim_nodes_pressure(struct sim_nodes *n, const char *name, kar_time duration, struct kar_err *err)
{
	struct sim_node *node = existing(n, name, err);

	if (!node)
		return -1;
	node->pressure_until = sim_timeline_mono(n->timeline) + duration;
	if (!node->silent)
		sim_alarm_start(node->kubelet, 0);
	return 0;
}
