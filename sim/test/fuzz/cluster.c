#include "sim/test/fuzz/cluster.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <bsd/string.h>

#include "common/base/mem.h"
#include "common/base/timefmt.h"
#include "sim/apiserver/internal.h"
#include "sim/test/fuzz/cluster_impl.h"
#include "test/fuzz/fuzz.h"

#define TOKEN "Bearer t"
#define CRD_GROUP "apiextensions.k8s.io"
#define CRDS "customresourcedefinitions"

static const kar_time wall = 1795268787000; /* 2026-11-21T13:46:27Z */

enum { ESTABLISHED = 10 * 1000, SETTLED = 120 * 1000, LONGEST_WAIT = 3600 * 1000 }; /* ms */

/* What is there in the beginning. */
static const char *const objects[] = {
	"POST /api/v1/nodes {\"metadata\":{\"name\":\"n\"},\"status\":{\"allocatable\":{\"cpu\":\"4\",\"memory\":\"8Gi\",\"pods\":\"9\"}}}",
	"POST /api/v1/namespaces {\"metadata\":{\"name\":\"limited\"}}",
	"POST /api/v1/namespaces/limited/resourcequotas {\"metadata\":{\"name\":\"q\"},\"spec\":{\"hard\":{\"pods\":\"1\",\"requests.cpu\":\"2\"}}}",
	"POST /apis/scheduling.k8s.io/v1/priorityclasses {\"metadata\":{\"name\":\"high\"},\"value\":7}",
	"POST /api/v1/namespaces/default/pods {\"metadata\":{\"name\":\"a\",\"labels\":{\"app\":\"web\"},\"annotations\":{\"k\":\"v\"},"
	"\"finalizers\":[\"x.y/z\"]},\"spec\":{\"schedulingGates\":[{\"name\":\"x.y/g\"}],\"containers\":[{\"name\":\"c\",\"image\":\"i\","
	"\"env\":[{\"name\":\"E\",\"value\":\"1\"}],\"ports\":[{\"containerPort\":80}],\"resources\":{\"requests\":{\"cpu\":\"500m\"}}}],"
	"\"tolerations\":[{\"key\":\"t\",\"operator\":\"Exists\"}]}}",
	"POST /api/v1/namespaces/default/pods {\"metadata\":{\"name\":\"b\"},\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}",
	"POST /api/v1/namespaces/default/configmaps {\"metadata\":{\"name\":\"c\"},\"data\":{\"k\":\"v\"}}",
	"POST /apis/coordination.k8s.io/v1/namespaces/default/leases {\"metadata\":{\"name\":\"l\"},\"spec\":{\"holderIdentity\":\"h\"}}",
};
static const char *const own_objects[] = {
	"POST /apis/kube-arbitrator.io/v1alpha1/queues {\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"Queue\","
	"\"metadata\":{\"name\":\"research\"},\"spec\":{\"maxJobs\":2}}",
	"POST /apis/kube-arbitrator.io/v1alpha1/namespaces/default/queuejobs {\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\","
	"\"metadata\":{\"name\":\"train\"},\"spec\":{\"queue\":\"research\",\"taskSpecs\":[{\"name\":\"w\",\"replicas\":2,\"template\":{\"spec\":"
	"{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}]}}",
};

/* ---- the cluster ---- */

static void count_write(void *arg, const struct sim_change *change)
{
	struct fuzz_cluster *c = arg;

	c->writes++;
	c->charges += !strcmp(change->resource, "resourcequotas") && change->subresource;
}

/* Says lines that must be answered 201. */
static void create(struct fuzz_cluster *c, const char *const *lines, size_t n)
{
	struct kar_buf said = { .cap = SIZE_MAX };

	for (size_t i = 0; i < n; i++) {
		char *line = kar_xstrdup(lines[i]);

		kar_buf_clear(&said);
		fuzz_say(c, line, &said);
		FUZZ_CHECK(!strncmp(kar_buf_cstr(&said), "201 ", 4), "%s: %s", lines[i], kar_buf_cstr(&said));
		free(line);
	}
	kar_buf_release(&said);
}

/* A line of the audit log is one line of JSON. */
static void check_audit(void *arg KAR_UNUSED, const char *line, size_t n)
{
	struct sim_value *v = sim_parse(line, n, NULL);

	FUZZ_CHECK(v && n && memchr(line, '\n', n) == line + n - 1, "audit log: %.*s", (int)n, line);
	sim_unref(v);
}

static struct fuzz_cluster *make_empty(void)
{
	const struct sim_apiserver_options options = { .seed = 1, .history = 100 };
	const struct sim_door_options door = { .address = "127.0.0.1:6443",
		.admin_token = "t",
		.audit = check_audit };
	struct fuzz_cluster *c = kar_xcalloc(1, sizeof(*c));

	c->timeline = sim_timeline_new(wall);
	c->server = sim_apiserver_new(c->timeline, &options);
	c->door = sim_door_new(c->server, &door);
	sim_apiserver_listen(c->server, count_write, c);
	return c;
}

static void let_pass(struct fuzz_cluster *c, kar_time ms)
{
	sim_timeline_run(c->timeline, sim_timeline_mono(c->timeline) + ms);
}

static void destroy(struct fuzz_cluster *c)
{
	sim_door_free(c->door);
	sim_apiserver_free(c->server);
	sim_timeline_free(c->timeline);
	free(c);
}

/* ---- definitions of this project: read once, then created from what was read ---- */

static void take_definition(void *arg, const struct sim_value *stored)
{
	struct sim_value *crd = sim_object(), **all = arg;

	sim_set_text(&crd, sim_get_text(stored, "metadata", "name"), "metadata", "name");
	sim_set(&crd, sim_ref(sim_member(stored, "spec")), "spec");
	sim_append(all, crd);
}

/* New array. */
static struct sim_value *read_definitions(void)
{
	struct fuzz_cluster *c = make_empty();
	struct sim_value *all = sim_array();
	struct kar_err err = { 0 };

	FUZZ_CHECK(sim_apiserver_install_crds(c->server, KAR_CRDS, &err) == 0, "%s", err.msg);
	sim_apiserver_each(c->server, CRD_GROUP, CRDS, take_definition, &all);
	destroy(c);
	return all;
}

static void install_definitions(struct fuzz_cluster *c)
{
	static struct sim_value *definitions;

	if (!definitions)
		definitions = read_definitions();
	for (size_t i = 0; i < sim_count(definitions); i++) {
		const struct sim_request rq = {
			.verb = KAR_CREATE,
			.group = CRD_GROUP,
			.version = "v1",
			.resource = CRDS,
			.object = sim_item(definitions, i),
		};

		FUZZ_CHECK(sim_apiserver_do(c->server, rq) == 201, "definition %zu", i);
	}
	let_pass(c, ESTABLISHED);
}

/* ---- the one that is used ---- */

static struct fuzz_cluster *make(enum fuzz_types types)
{
	struct fuzz_cluster *c = make_empty();

	if (types == FUZZ_OWN)
		install_definitions(c);
	create(c, objects, KAR_LEN(objects));
	if (types == FUZZ_OWN)
		create(c, own_objects, KAR_LEN(own_objects));
	let_pass(c, ESTABLISHED);
	c->writes = 0;
	return c;
}

/* A cluster that nobody has changed is as good as a new one. */
struct fuzz_cluster *fuzz_cluster(enum fuzz_types types, bool fresh)
{
	static struct fuzz_cluster *clusters[FUZZ_OWN + 1];
	struct fuzz_cluster **c = &clusters[types];

	if (*c && (fresh || (*c)->writes)) {
		destroy(*c);
		*c = NULL;
	}
	if (!*c)
		*c = make(types);
	memset((*c)->headers, 0, sizeof((*c)->headers));
	return *c;
}

enum fuzz_types fuzz_types_of(const uint8_t *data, size_t n)
{
	return fuzz_mentions(data, n, "kube-arbitrator") ? FUZZ_OWN : FUZZ_BUILT_IN;
}

struct sim_apiserver *fuzz_server(const struct fuzz_cluster *c)
{
	return c->server;
}

int fuzz_send(struct fuzz_cluster *c, const struct sim_http_request *rq, struct kar_buf *said)
{
	struct sim_http_request complete = *rq;
	struct sim_http_answer a = { 0 };
	uint64_t before = c->writes - c->charges;
	int code;

	if (!complete.authorization)
		complete.authorization = TOKEN;
	sim_door_call(c->door, &complete, NULL, NULL, &a);
	fuzz_check_answer(rq, &a, c->writes - c->charges - before, said);
	code = a.code;
	sim_http_answer_release(&a);
	return code;
}

/* ---- conversations ---- */

enum header { ACCEPT, CONTENT_TYPE, AUTHORIZATION, USER_AGENT, IF_NONE_MATCH, IMPERSONATE };
static const char *const header_names[FUZZ_HEADERS] = {
	[ACCEPT] = "Accept: ",
	[CONTENT_TYPE] = "Content-Type: ",
	[AUTHORIZATION] = "Authorization: ",
	[USER_AGENT] = "User-Agent: ",
	[IF_NONE_MATCH] = "If-None-Match: ",
	[IMPERSONATE] = "Impersonate-User: ",
};

static bool take_header(struct fuzz_cluster *c, const char *line)
{
	for (size_t i = 0; i < FUZZ_HEADERS; i++) {
		size_t n = strlen(header_names[i]);

		if (strncasecmp(line, header_names[i], n) != 0)
			continue;
		strlcpy(c->headers[i], line + n, FUZZ_HEADER_MAX);
		return true;
	}
	return false;
}

static const char *header(const struct fuzz_cluster *c, enum header h)
{
	return c->headers[h][0] ? c->headers[h] : NULL;
}

/* Words for what would need headers. */
static const struct {
	const char *word, *method, *content_type, *accept;
} words[] = {
	{ "JSON", "PATCH", "application/json-patch+json", NULL },
	{ "MERGE", "PATCH", "application/merge-patch+json", NULL },
	{ "STRATEGIC", "PATCH", "application/strategic-merge-patch+json", NULL },
	{ "APPLY", "PATCH", "application/apply-patch+yaml", NULL },
	{ "POST:YAML", "POST", "application/yaml", NULL },
	{ "GET:Table", "GET", NULL, "application/json;as=Table;v=v1;g=meta.k8s.io" },
	{ "GET:Metadata", "GET", NULL, "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" },
};

static void use_word(struct sim_http_request *rq)
{
	for (size_t i = 0; i < KAR_LEN(words); i++) {
		if (strcmp(rq->method, words[i].word) != 0)
			continue;
		rq->method = words[i].method;
		rq->content_type = words[i].content_type ? words[i].content_type : rq->content_type;
		rq->accept = words[i].accept ? words[i].accept : rq->accept;
		return;
	}
}

/* @line: "METHOD TARGET [BODY]". */
static void request(struct fuzz_cluster *c, char *line, struct kar_buf *said)
{
	const char *method = strsep(&line, " "), *target = strsep(&line, " ");
	struct sim_http_request rq = {
		.method = method,
		.target = target,
		.accept = header(c, ACCEPT),
		.content_type = header(c, CONTENT_TYPE),
		.authorization = header(c, AUTHORIZATION),
		.user_agent = header(c, USER_AGENT),
		.if_none_match = header(c, IF_NONE_MATCH),
		.impersonate_user = header(c, IMPERSONATE),
	};

	if (!target || *target != '/')
		return;
	if (line)
		rq.body = (struct kar_str){ line, strlen(line) };
	use_word(&rq);
	fuzz_send(c, &rq, said);
}

static void wait_for(struct fuzz_cluster *c, const char *text)
{
	kar_time ms;

	if (kar_duration_parse(text, &ms) == 0 && ms <= LONGEST_WAIT)
		let_pass(c, ms);
	c->writes++; /* time is part of the cluster */
}

void fuzz_say(struct fuzz_cluster *c, char *line, struct kar_buf *said)
{
	line += strspn(line, "\t");
	if (!strncmp(line, "wait ", 5)) {
		wait_for(c, line + 5);
	} else if (!strcmp(line, "compact")) {
		sim_apiserver_compact(c->server);
		c->writes++;
	} else if (!take_header(c, line)) {
		request(c, line, said);
	}
}

/* ---- afterwards ---- */

static void check_list(struct fuzz_cluster *c, const struct sim_resource *r)
{
	const struct sim_request rq = { .verb = KAR_LIST,
		.group = r->group,
		.version = r->version,
		.resource = r->plural };
	struct kar_buf text = { .cap = SIZE_MAX };
	struct sim_response list;
	struct kar_err err = { 0 };
	struct sim_value *v;

	sim_apiserver_call(c->server, &rq, &list);
	FUZZ_CHECK(list.code == 200, "list of %s: %d", r->plural, list.code);
	sim_response_body(&list, &text);
	v = sim_parse(kar_buf_cstr(&text), text.n, &err);
	FUZZ_CHECK(v, "list of %s: %s: %s", r->plural, err.msg, kar_buf_cstr(&text));
	FUZZ_CHECK(sim_count(sim_get(v, "items")) == sim_apiserver_count(c->server, r->group, r->plural),
		"list of %s: %zu items of %zu", r->plural, sim_count(sim_get(v, "items")),
		sim_apiserver_count(c->server, r->group, r->plural));
	sim_unref(v);
	sim_response_release(&list);
	kar_buf_release(&text);
}

void fuzz_settle(struct fuzz_cluster *c)
{
	const struct sim_resource *r;

	if (!c->writes)
		return;
	let_pass(c, SETTLED);
	for (size_t i = 0; (r = sim_resource_at(c->server, i)) != NULL; i++) {
		if (!r->verbs || (r->verbs & 1u << KAR_LIST))
			check_list(c, r);
	}
}
