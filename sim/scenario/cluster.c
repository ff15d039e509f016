#include "sim/scenario/cluster.h"

#include <stdio.h>
#include <string.h>

#include "api/names.h"
#include "common/base/mem.h"
#include "common/kube/client_http.h"
#include "common/kube/kubeconfig.h"
#include "common/loop/loop.h"
#include "common/net/http.h"

/* A page must not have more than sim_parse() takes; a job or node with all its metadata has some 10 KiB. */
enum { PAGE = 100, PAGE_BYTES = 8 << 20 };

static const struct kar_resource kinds[] = {
	{ .group = "", .version = "v1", .plural = "nodes", .kind = "Node" },
	{ .group = "",
		.version = "v1",
		.plural = "resourcequotas",
		.kind = "ResourceQuota",
		.namespaced = true },
	{ .group = "scheduling.k8s.io",
		.version = "v1",
		.plural = "priorityclasses",
		.kind = "PriorityClass" },
	{ .group = KAR_GROUP, .version = KAR_VERSION_V1ALPHA1, .plural = "queues", .kind = "Queue" },
	{ .group = KAR_GROUP,
		.version = KAR_VERSION_V1ALPHA1,
		.plural = "queuejobs",
		.kind = "QueueJob",
		.namespaced = true },
};

struct visit {
	struct kar_arena arena;
	struct kar_kubeconfig config;
	struct kar_loop *loop;
	struct kar_client *client;
	struct sim_value *lists;
	size_t kind;
	char token[4096]; /* of the next page; "" : the first */
	struct kar_buf page;
	struct kar_err *err;
	bool failed;
};

static void ask(struct visit *v);

static int on_data(void *arg, const char *bytes, size_t n)
{
	struct visit *v = arg;

	kar_buf_append(&v->page, bytes, n);
	return v->page.overflow ? -1 : 0;
}

/* Takes the items of a page over; true if there is another page. */
static bool take_page(struct visit *v)
{
	struct sim_value *list = sim_parse(v->page.p ? v->page.p : "", v->page.n, v->err);
	struct sim_value *all = sim_take(&v->lists, kinds[v->kind].kind);
	const struct sim_value *items = sim_member(list, "items");
	const char *next = sim_text_or(sim_get(list, "metadata", "continue"), "");

	v->failed = !list || strlen(next) >= sizeof(v->token);
	if (!all)
		all = sim_array();
	for (size_t i = 0; i < sim_count(items); i++)
		sim_append(&all, sim_ref(sim_item(items, i)));
	sim_set(&v->lists, all, kinds[v->kind].kind);
	snprintf(v->token, sizeof(v->token), "%s", v->failed ? "" : next);
	sim_unref(list);
	kar_buf_clear(&v->page);
	return v->token[0] != '\0';
}

static void on_done(void *arg, const struct kar_answer *answer KAR_UNUSED, const struct kar_err *err)
{
	struct visit *v = arg;

	if (err && err->what == KAR_NOTFOUND && !v->token[0] && !strcmp(kinds[v->kind].group, KAR_GROUP)) {
		v->kind++; /* a cluster that is still to get kar-controllers */
		kar_buf_clear(&v->page);
	} else if (err) {
		*v->err = *err;
		v->failed = true;
	} else if (!take_page(v)) {
		v->kind++;
	}
	if (v->failed || v->kind == KAR_LEN(kinds))
		kar_loop_stop(v->loop);
	else
		ask(v);
}

static void ask(struct visit *v)
{
	struct kar_request rq = kar_client_list(&kinds[v->kind], NULL);

	rq.limit = PAGE;
	rq.continue_token = v->token[0] ? v->token : NULL;
	rq.on_data = on_data;
	rq.on_done = on_done;
	rq.arg = v;
	(void)kar_client_start(v->client, &rq);
}

static int connect_to(struct visit *v, const char *kubeconfig, const char *context)
{
	const struct kar_kubeconfig_options k = { .kubeconfig = kubeconfig, .context = context };
	const struct kar_client_http_options h = { .user_agent = "kar-sim/" KAR_VERSION };

	if (kar_kubeconfig_load(&v->arena, &k, &v->config, v->err) || kar_http_global_init(v->err))
		return -1;
	v->loop = kar_loop_new();
	v->client = kar_client_http_new(v->loop, &v->config, &h, v->err);
	return v->client ? 0 : -1;
}

struct sim_value *sim_cluster_read(const char *kubeconfig, const char *context, struct kar_err *err)
{
	struct visit v = { .lists = sim_object(), .page.cap = PAGE_BYTES, .err = err };

	v.failed = connect_to(&v, kubeconfig, context) != 0;
	if (!v.failed) {
		ask(&v);
		kar_loop_run(v.loop);
	}
	kar_client_free(v.client);
	kar_loop_free(v.loop);
	kar_buf_release(&v.page);
	kar_arena_release(&v.arena);
	if (!v.failed)
		return v.lists;
	sim_unref(v.lists);
	return NULL;
}
