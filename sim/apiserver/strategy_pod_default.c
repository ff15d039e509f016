/* Defaults of v1.Pod (pkg/apis/core/v1/defaults.go) and its quality-of-service class. */
#include <string.h>

#include "sim/apiserver/quantity.h"
#include "sim/apiserver/strategy_pod.h"

enum { GRACE_SECONDS = 30, FILE_MODE = 0644, TOKEN_SECONDS = 3600, PROBE_PERIOD = 10, PROBE_FAILURES = 3 };

static void default_text(struct sim_value **object, const char *key, const char *text)
{
	if (!*sim_text_or(sim_member(*object, key), ""))
		sim_set_text(object, text, key);
}

static void default_int(struct sim_value **object, const char *key, int64_t n)
{
	if (sim_int_of(sim_member(*object, key), 0) == 0)
		sim_set(object, sim_int(n), key);
}

/* Calls @fn for each item of the list at @key, in place. */
static void each_item(struct sim_value **object, const char *key, void (*fn)(struct sim_value **item))
{
	if (sim_kind(sim_member(*object, key)) != SIM_ARRAY)
		return;
	struct sim_value *list = sim_take(object, key);

	for (size_t i = 0; i < sim_count(list); i++) {
		struct sim_value *item = sim_take_item(&list, i);

		if (sim_kind(item) == SIM_OBJECT)
			fn(&item);
		sim_replace(&list, i, item);
	}
	sim_set(object, list, key);
}

/* The same for an object at @key. */
static void in_member(struct sim_value **object, const char *key, void (*fn)(struct sim_value **member))
{
	if (sim_kind(sim_member(*object, key)) != SIM_OBJECT)
		return;
	struct sim_value *member = sim_take(object, key);

	fn(&member);
	sim_set(object, member, key);
}

/* ---- containers ---- */

/* "repository/image:tag@digest": no tag and no digest, or the tag "latest". */
static bool is_latest(const char *image)
{
	const char *name = strrchr(image, '/'), *colon;

	if (strchr(image, '@') || !*image)
		return false;
	colon = strchr(name ? name : image, ':');
	return !colon || !strcmp(colon, ":latest");
}

static void default_port(struct sim_value **port)
{
	default_text(port, "protocol", "TCP");
}

static void default_field_ref(struct sim_value **ref)
{
	default_text(ref, "apiVersion", "v1");
}

static void default_value_from(struct sim_value **from)
{
	in_member(from, "fieldRef", default_field_ref);
}

static void default_env(struct sim_value **env)
{
	in_member(env, "valueFrom", default_value_from);
}

static void default_http_get(struct sim_value **get)
{
	default_text(get, "path", "/");
	default_text(get, "scheme", "HTTP");
}

static void default_grpc(struct sim_value **grpc)
{
	if (!sim_member(*grpc, "service"))
		sim_set_text(grpc, "", "service");
}

static void default_handler(struct sim_value **handler)
{
	in_member(handler, "httpGet", default_http_get);
}

static void default_lifecycle(struct sim_value **lifecycle)
{
	in_member(lifecycle, "postStart", default_handler);
	in_member(lifecycle, "preStop", default_handler);
}

static void default_probe(struct sim_value **probe)
{
	default_handler(probe);
	in_member(probe, "grpc", default_grpc);
	default_int(probe, "timeoutSeconds", 1);
	default_int(probe, "periodSeconds", PROBE_PERIOD);
	default_int(probe, "successThreshold", 1);
	default_int(probe, "failureThreshold", PROBE_FAILURES);
}

/* What has a limit requests it too. */
static void default_requests(struct sim_value **resources)
{
	const struct sim_value *limits = sim_member(*resources, "limits");

	for (struct sim_member m = sim_first(limits); m.value; m = sim_next(m)) {
		if (!sim_get(*resources, "requests", m.key))
			sim_set(resources, sim_ref(m.value), "requests", m.key);
	}
}

static void default_container(struct sim_value **c)
{
	const char *image = sim_text_or(sim_member(*c, "image"), "");

	default_text(c, "terminationMessagePath", "/dev/termination-log");
	default_text(c, "terminationMessagePolicy", "File");
	default_text(c, "imagePullPolicy", is_latest(image) ? "Always" : "IfNotPresent");
	each_item(c, "ports", default_port);
	each_item(c, "env", default_env);
	in_member(c, "livenessProbe", default_probe);
	in_member(c, "readinessProbe", default_probe);
	in_member(c, "startupProbe", default_probe);
	in_member(c, "lifecycle", default_lifecycle);
	in_member(c, "resources", default_requests);
}

static void default_host_port(struct sim_value **port)
{
	default_int(port, "hostPort", sim_int_of(sim_member(*port, "containerPort"), 0));
}

static void default_host_ports(struct sim_value **c)
{
	each_item(c, "ports", default_host_port);
}

/* ---- volumes ---- */

static void default_mode(struct sim_value **source)
{
	default_int(source, "defaultMode", FILE_MODE);
}

static void default_downward_item(struct sim_value **item)
{
	in_member(item, "fieldRef", default_field_ref);
}

static void default_downward(struct sim_value **source)
{
	each_item(source, "items", default_downward_item);
}

static void default_downward_volume(struct sim_value **source)
{
	default_mode(source);
	default_downward(source);
}

static void default_token(struct sim_value **token)
{
	default_int(token, "expirationSeconds", TOKEN_SECONDS);
}

static void default_projection(struct sim_value **source)
{
	in_member(source, "serviceAccountToken", default_token);
	in_member(source, "downwardAPI", default_downward);
}

static void default_projected(struct sim_value **source)
{
	default_mode(source);
	each_item(source, "sources", default_projection);
}

static void default_host_path(struct sim_value **source)
{
	if (!sim_member(*source, "type"))
		sim_set_text(source, "", "type");
}

static void default_volume(struct sim_value **volume)
{
	if (sim_count(*volume) <= 1) /* a name and no source */
		sim_set(volume, sim_object(), "emptyDir");
	in_member(volume, "secret", default_mode);
	in_member(volume, "configMap", default_mode);
	in_member(volume, "downwardAPI", default_downward_volume);
	in_member(volume, "projected", default_projected);
	in_member(volume, "hostPath", default_host_path);
}

/* ---- the pod ---- */

static void default_service_account(struct sim_value **spec)
{
	const char *name = sim_text_or(sim_member(*spec, "serviceAccountName"), "");

	if (!*name)
		name = sim_text_or(sim_member(*spec, "serviceAccount"), "");
	if (!*name)
		return;
	struct sim_value *text = sim_string(name);

	sim_set(spec, sim_ref(text), "serviceAccountName");
	sim_set(spec, text, "serviceAccount");
}

static void default_spec(struct sim_value **spec)
{
	const struct sim_value *grace;

	default_service_account(spec);
	default_text(spec, "dnsPolicy", "ClusterFirst");
	default_text(spec, "restartPolicy", "Always");
	default_text(spec, "schedulerName", "default-scheduler");
	if (!sim_member(*spec, "securityContext"))
		sim_set(spec, sim_object(), "securityContext");
	grace = sim_member(*spec, "terminationGracePeriodSeconds");
	if (!grace || sim_int_of(grace, 0) < 0)
		sim_set(spec, sim_int(grace ? 1 : GRACE_SECONDS), "terminationGracePeriodSeconds");
	if (!sim_member(*spec, "enableServiceLinks"))
		sim_set(spec, sim_bool(true), "enableServiceLinks");
	each_item(spec, "volumes", default_volume);
	each_item(spec, "initContainers", default_container);
	each_item(spec, "containers", default_container);
	if (sim_bool_of(sim_member(*spec, "hostNetwork"), false)) {
		each_item(spec, "initContainers", default_host_ports);
		each_item(spec, "containers", default_host_ports);
	}
}

/* podIP and podIPs say the same; the first leads. */
static void default_ips(struct sim_value **pod)
{
	const char *ip = sim_text_or(sim_get(*pod, "status", "podIP"), "");
	const char *first = sim_text_or(sim_get(sim_item(sim_get(*pod, "status", "podIPs"), 0), "ip"), "");

	if (!strcmp(ip, first))
		return;
	if (!*ip) {
		sim_set_text(pod, first, "status", "podIP");
		return;
	}
	struct sim_value *list = sim_array(), *item = sim_object();

	sim_set_text(&item, ip, "ip");
	sim_append(&list, item);
	sim_set(pod, list, "status", "podIPs");
}

void sim_pod_default(struct sim_write *w)
{
	default_ips(w->new);
	if (w->old && sim_member(w->old, "spec") == sim_member(*w->new, "spec"))
		return;
	struct sim_value *spec =
		sim_kind(sim_member(*w->new, "spec")) == SIM_OBJECT ? sim_take(w->new, "spec") : sim_object();

	default_spec(&spec);
	sim_set(w->new, spec, "spec");
	if (!w->old)
		sim_set_text(w->new, sim_pod_qos(*w->new), "status", "qosClass");
}

/* ---- quality of service ---- */

struct qos {
	bool some;       /* a request or limit of cpu or memory, anywhere */
	bool guaranteed; /* so far */
};

static bool above_zero(const struct sim_value *list, const char *resource)
{
	const struct sim_value *v = sim_member(list, resource);

	return v && sim_quantity_of(v).nano > 0;
}

static bool equal(const struct sim_value *requests, const struct sim_value *limits, const char *resource)
{
	struct kar_quantity a = sim_quantity_of(sim_member(requests, resource)),
			    b = sim_quantity_of(sim_member(limits, resource));

	return kar_quantity_cmp(&a, &b) == 0;
}

static void weigh(struct qos *q, const struct sim_value *containers)
{
	static const char *const computed[] = { "cpu", "memory" };

	for (size_t i = 0; i < sim_count(containers); i++) {
		const struct sim_value *resources = sim_member(sim_item(containers, i), "resources");
		const struct sim_value *requests = sim_member(resources, "requests"),
				       *limits = sim_member(resources, "limits");

		for (size_t k = 0; k < KAR_LEN(computed); k++) {
			q->some |= above_zero(requests, computed[k]) || above_zero(limits, computed[k]);
			q->guaranteed &=
				above_zero(limits, computed[k]) && equal(requests, limits, computed[k]);
		}
	}
}

const char *sim_pod_qos(const struct sim_value *pod)
{
	struct qos q = { .guaranteed = true };

	weigh(&q, sim_get(pod, "spec", "containers"));
	weigh(&q, sim_get(pod, "spec", "initContainers"));
	if (!q.some)
		return "BestEffort";
	return q.guaranteed ? "Guaranteed" : "Burstable";
}
