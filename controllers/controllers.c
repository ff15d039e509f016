#include "controllers/controllers.h"

#include <stdlib.h>

#include "common/base/intern.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "controllers/cluster/native.h"

#define MEMBER(fn) fn,
static void (*const all[])(struct kar_controller *) = { KAR_CONTROLLERS(MEMBER) };

/* Owned by the manager, which frees them with release(). */
struct parts {
	struct kar_intern *strings;
	struct kar_stores stores;
	struct kar_cache caches[KAR_N_STORES];
	struct kar_settings settings;
	struct kar_client *client;
	const char *ns;
	struct kar_call *asks;           /* whether the namespace exists; NULL: not now */
	struct kar_native_probe *native; /* fills in .settings; NULL: nobody wants to know */
};

static void on_namespace(void *arg, const struct kar_answer *answer KAR_UNUSED, const struct kar_err *err)
{
	struct parts *p = arg;

	p->asks = NULL;
	if (err && err->what == KAR_NOTFOUND)
		kar_warn(
			KAR_MSG("The namespace does not exist; jobs are managed as soon as somebody creates it"),
			KAR_S("namespace", p->ns));
}

/*
 * Lists of a namespace that does not exist are empty, so a misspelt one would be waited for in silence. Any answer but 404 is fine: a
 * role may not allow the question, but then the namespace of that role exists.
 */
static void ask_for_namespace(void *arg)
{
	static const struct kar_resource namespaces = { .group = "",
		.version = "v1",
		.plural = "namespaces",
		.kind = "Namespace" };
	struct parts *p = arg;
	struct kar_request q;

	if (!p->ns)
		return;
	q = kar_client_get(&namespaces, NULL, p->ns);
	q.metadata_only = true;
	q.on_done = on_namespace;
	q.arg = p;
	p->asks = kar_client_start(p->client, &q);
}

static void release(void *arg)
{
	struct parts *p = arg;

	if (p->asks)
		kar_client_cancel(p->client, p->asks);
	kar_native_probe_free(p->native);
	kar_stores_release(&p->stores);
	kar_intern_free(p->strings);
	free(p);
}

struct kar_manager *kar_controllers_new(struct kar_loop *l, struct kar_client *client,
	const struct kar_controllers_options *o)
{
	struct parts *p = kar_xcalloc(1, sizeof(*p));
	const struct kar_manager_options m = {
		.ns = o->ns,
		.instance = o->instance,
		.seed = o->seed,
		.candidate = o->candidate,
		.caches = p->caches,
		.n_caches = KAR_N_STORES,
		.controllers = all,
		.n_controllers = KAR_LEN(all),
		.stores = &p->stores,
		.settings = &p->settings,
		.executor = o->executor,
		.metrics = o->metrics,
		.ready = ask_for_namespace,
		.release = release,
		.arg = p,
	};

	p->strings = kar_intern_new();
	p->settings = o->settings;
	p->client = client;
	p->ns = o->ns;
	kar_stores_init(&p->stores, p->strings);
	p->stores.default_queue = p->settings.default_queue;
	kar_preemptible_set(p->stores.preemptible, p->settings.preemptible);
	kar_stores_list(&p->stores, p->caches);
	if (o->settings.gang_backend != KAR_GANGS_BY_GATES)
		p->native = kar_native_probe_new(l, client, kar_native_interval(&o->settings),
			&p->settings.native);
	return kar_manager_new(l, client, &m);
}
