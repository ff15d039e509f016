/* Requests, one at a time: asked, repeated while the server is busy, read. */
#include "kubectl-qj/qj.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/str.h"
#include "common/base/text.h"
#include "common/codec/json.h"
#include "common/kube/client_http.h"
#include "common/loop/clock.h"
#include "common/loop/loop.h"
#include "common/net/http.h"

enum { TRIES = 4, PAGE = 500, MAX_ANSWER = 64 << 20 /* bytes */ };

static const kar_time PAUSE = 500,
		      LONGEST_PAUSE =
			      10 * KAR_SECOND; /* before the next try; the server says which between */

static const char *environment(const char *upper, const char *lower)
{
	const char *value = getenv(upper);

	return kar_has_text(value) ? value : getenv(lower);
}

/* As kubectl: that of the kubeconfig, else that of the environment, which is never asked for this machine itself. */
static void choose_proxy(struct qj *q)
{
	const char *proxy = environment("HTTPS_PROXY", "https_proxy"),
		   *none = environment("NO_PROXY", "no_proxy");

	if (kar_has_text(q->kubeconfig.proxy_url) || !kar_has_text(proxy) || kar_streq(none, "*") ||
		strncmp(q->kubeconfig.server, "https://", strlen("https://")) != 0)
		return;
	q->kubeconfig.proxy_url = proxy;
	q->kubeconfig.no_proxy = kar_arena_printf(&q->arena, "%s%slocalhost,127.0.0.1,::1", none ? none : "",
		kar_has_text(none) ? "," : "");
}

static void choose_user(struct qj *q)
{
	if (q->kubeconfig.exec)
		q->kubeconfig.exec->attended = true;
	if (q->o.as_user) {
		q->kubeconfig.as_user = q->o.as_user;
		q->kubeconfig.as_groups = q->o.as_groups;
		q->kubeconfig.n_as_groups = q->o.n_as_groups;
	}
}

int qj_open(struct qj *q, struct kar_err *err)
{
	const struct kar_client_http_options o = { .user_agent = "kubectl-qj/" KAR_VERSION };

	q->o.cluster.home_first = true;
	if (kar_kubeconfig_load(&q->arena, &q->o.cluster, &q->kubeconfig, err) || kar_http_global_init(err))
		return -1;
	choose_proxy(q);
	choose_user(q);
	q->loop = kar_loop_new();
	q->answer.cap = MAX_ANSWER;
	q->client = kar_client_http_new(q->loop, &q->kubeconfig, &o, err);
	q->ns = q->o.all ? "" : kar_has_text(q->o.ns) ? q->o.ns : q->kubeconfig.ns;
	q->now = kar_clock_wall();
	return q->client ? 0 : -1;
}

void qj_close(struct qj *q)
{
	kar_client_free(q->client);
	kar_loop_free(q->loop);
	kar_buf_release(&q->answer);
	kar_arena_wipe(&q->arena);
	kar_http_global_cleanup();
}

static int collect(void *arg, const char *bytes, size_t n)
{
	struct qj *q = arg;

	kar_buf_append(&q->answer, bytes, n);
	return q->answer.overflow ? -1 : 0;
}

static void done(void *arg, const struct kar_answer *answer, const struct kar_err *err)
{
	struct qj *q = arg;

	q->err = err ? *err : (struct kar_err){ 0 };
	if (answer && answer->body.n)
		kar_buf_append(&q->answer, answer->body.p, answer->body.n);
	kar_loop_stop(q->loop);
}

static void wake(void *arg)
{
	kar_loop_stop(arg);
}

void qj_pause(struct qj *q, kar_time ms)
{
	struct kar_timer *t = kar_timer_new(q->loop, wake, q->loop);

	kar_timer_start(t, ms);
	kar_loop_run(q->loop);
	kar_timer_free(t);
}

int qj_ask(struct qj *q, struct kar_request r)
{
	r.on_done = done;
	r.on_data = r.verb == KAR_LIST ? collect : NULL;
	r.arg = q;
	for (int i = 0; i < TRIES; i++) {
		if (i)
			qj_pause(q, q->err.retry_after > PAUSE ? q->err.retry_after : PAUSE);
		kar_buf_clear(&q->answer);
		kar_client_start(q->client, &r);
		kar_loop_run(q->loop);
		/* A plug-in for credentials has asked its user already; and who would wait for minutes may as well ask again. */
		if (q->err.what != KAR_RETRY || q->err.cause == KAR_CAUSE_CREDENTIALS ||
			q->err.retry_after > LONGEST_PAUSE)
			break;
	}
	if (q->err.what && q->answer.overflow)
		kar_fail(&q->err, KAR_INVALID, "the answer has more than %d MiB: ask for less, with -n or -l",
			MAX_ANSWER >> 20);
	return q->err.what ? -1 : 0;
}

int qj_fail(const struct qj *q)
{
	/* Only of a write: whoever repeats a restart that was done has two. */
	const char *perhaps = q->err.what == KAR_UNKNOWN
		? "; it may have been done all the same: look before you repeat it"
		: "";
	char msg[sizeof(q->err.msg)], reason[sizeof(q->err.reason)];

	kar_text_clean(msg, sizeof(msg), q->err.msg);
	kar_text_clean(reason, sizeof(reason), q->err.reason);
	if (q->err.http)
		fprintf(stderr, "Error from server (%s): %s%s\n", reason[0] ? reason : "Unknown", msg,
			perhaps);
	else
		fprintf(stderr, "error: %s%s\n", msg, perhaps);
	return 1;
}

/* --- lists ------------------------------------------------------------------------------------------ */

struct list_meta {
	const char *next, *version;
};
static const struct kar_field meta_fields[] = {
	KAR_FIELD(struct list_meta, next, "continue", KAR_F_STRING),
	KAR_FIELD(struct list_meta, version, "resourceVersion", KAR_F_STRING),
};
static const struct kar_desc meta_desc = KAR_DESC("metadata", struct list_meta, meta_fields);

struct list {
	struct list_meta meta;
	struct kar_array items;
};

static int read_page(struct qj *q, const struct kar_desc *item, struct list *out)
{
	const struct kar_field fields[] = {
		KAR_FIELD_SUB(struct list, meta, "metadata", KAR_F_OBJECT, &meta_desc),
		KAR_FIELD_SUB(struct list, items, "items", KAR_F_ARRAY, item),
	};
	const struct kar_desc desc = KAR_DESC("list", struct list, fields);
	const struct kar_limits limits = { .document = MAX_ANSWER, .elements = 4000000 };

	if (kar_json_decode(&q->arena, &desc, &limits, q->answer.p, q->answer.n, out, &q->err))
		return -1;
	for (size_t i = 0; item == &qj_group_desc && i < out->items.n; i++)
		qj_group_complete(q, (struct qj_group *)out->items.items + i);
	return 0;
}

int qj_list(struct qj *q, const struct qj_query *query, qj_page_fn *page, void *arg)
{
	const char *next = NULL;

	do {
		struct kar_request r = kar_client_list(query->res, query->ns);
		struct list l = { 0 };

		r.lane = KAR_LANE_LISTS;
		r.label_selector = query->labels;
		r.field_selector = query->fields;
		r.limit = PAGE;
		r.continue_token = next;
		if (qj_ask(q, r) || read_page(q, query->item, &l))
			return -1;
		if (page(arg, &l.items))
			return 0;
		next = l.meta.next;
		snprintf(q->version, sizeof(q->version), "%s", l.meta.version ? l.meta.version : "");
	} while (kar_has_text(next));
	return 0;
}

int qj_get(struct qj *q, const struct kar_resource *res, const char *ns, const char *name,
	const struct kar_desc *desc, void *out)
{
	if (qj_ask(q, kar_client_get(res, ns, name)))
		return -1;
	if (kar_json_decode(&q->arena, desc, NULL, q->answer.p, q->answer.n, out, &q->err))
		return -1;
	if (desc == &qj_group_desc)
		qj_group_complete(q, out);
	return 0;
}
