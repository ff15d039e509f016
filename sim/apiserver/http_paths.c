/* Paths that are no resources: discovery, OpenAPI, health, version. */
#include <stdlib.h>
#include <string.h>

#include "sim/apiserver/discovery.h"
#include "sim/apiserver/http_door_impl.h"

static bool is_below(const char *path, const char *prefix)
{
	size_t n = strlen(prefix);

	return !strncmp(path, prefix, n) && (!path[n] || path[n] == '/');
}

static void answer_health(struct sim_door_call *c)
{
	const char *path = c->route.path;
	struct kar_buf text KAR_CLEANUP(kar_cleanup_buf) = { 0 };

	if (!sim_route_parameter(&c->route, "verbose")) {
		sim_door_answer_text(c, 200, "ok");
		return;
	}
	kar_buf_printf(&text, "[+]ping ok\n%.*s check passed\n", (int)strcspn(path + 1, "/"), path + 1);
	sim_door_answer_text(c, 200, kar_buf_cstr(&text));
}

static void answer_openapi(struct sim_door_call *c)
{
	const char *name = c->route.path + strlen("/openapi/v3"), *hash, *text;
	struct sim_accept accept;

	name += *name == '/';
	if (!*name) {
		sim_door_answer_value(c, sim_openapi_index(c->door->openapi, c->door->server));
		sim_door_tag(c);
		return;
	}
	if (!sim_accept_parse(c->rq->accept, SIM_ACCEPT_PLAIN, &accept)) {
		sim_door_answer_text(c, 406, "");
		return;
	}
	text = sim_openapi_document(c->door->openapi, c->door->server, name, &hash);
	if (!text) {
		sim_door_answer_text(c, 404, "404 page not found\n");
		return;
	}
	c->out->code = 200;
	c->out->content_type = "application/json";
	c->out->body.cap = SIZE_MAX;
	kar_buf_puts(&c->out->body, text);
	sim_door_tag(c);
}

/*
 * kubectl wants this document before it sends the items of a v1 List (`kubectl get -o yaml | kubectl apply -f -`), and checks by
 * it the types that it names. It names none: the server checks everything anyway.
 */
static void answer_openapi_v2(struct sim_door_call *c)
{
	static const char protobuf[] = "com.github.proto-openapi.spec.v2";
	static const char binary[] = "\x0a\x03" /* swagger */ "2.0"
				     "\x12\x0c\x0a\x07kar-sim\x12\x01" /* info: title, version */ "1"
				     "\x42"; /* paths, of the length that the final zero tells */
	static const char json[] =
		"{\"swagger\":\"2.0\",\"info\":{\"title\":\"kar-sim\",\"version\":\"1\"},\"paths\":{}}\n";
	const char *wanted = c->rq->accept ? c->rq->accept : "";
	struct sim_accept accept;

	if (strstr(wanted, protobuf)) {
		c->out->code = 200;
		c->out->content_type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
		kar_buf_append(&c->out->body, binary, sizeof(binary));
	} else if (sim_accept_parse(wanted, SIM_ACCEPT_PLAIN, &accept)) {
		sim_door_answer_text(c, 200, json);
		c->out->content_type = "application/json";
	} else {
		sim_door_answer_text(c, 406, "");
	}
}

static void answer_discovery(struct sim_door_call *c)
{
	const struct sim_door *d = c->door;
	struct sim_accept accept;
	struct sim_value *v;

	if (!sim_accept_parse(c->rq->accept, SIM_ACCEPT_DISCOVERY, &accept)) {
		sim_door_refuse_accept(c);
		return;
	}
	v = sim_discovery(d->server, c->route.path, accept.aggregated, d->options.address);
	if (!v) {
		if (is_below(c->route.path, "/api"))
			sim_door_refuse_path(c);
		else
			sim_door_answer_text(c, 404, "404 page not found\n");
		return;
	}
	bool aggregated = accept.aggregated && sim_member(v, "items");

	sim_door_answer_value(c, v);
	if (aggregated)
		c->out->content_type = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
	sim_door_tag(c);
}

void sim_door_path(struct sim_door_call *c)
{
	const char *path = c->route.path;

	if (strcmp(c->route.method, "GET") != 0 && strcmp(c->route.method, "HEAD") != 0)
		sim_door_refuse_method(c);
	else if (is_below(path, "/healthz") || is_below(path, "/livez") || is_below(path, "/readyz"))
		answer_health(c);
	else if (!strcmp(path, "/version") || !strcmp(path, "/version/"))
		sim_door_answer_value(c, sim_version_info());
	else if (!strcmp(path, "/openapi/v2"))
		answer_openapi_v2(c);
	else if (is_below(path, "/openapi/v3"))
		answer_openapi(c);
	else
		answer_discovery(c);
}
