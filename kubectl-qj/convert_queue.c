/* Queues of Kueue. */
#include "kubectl-qj/convert.h"

#include <string.h>

#include "api/names.h"
#include "common/base/str.h"
#include "common/sched/amounts.h"

/* Sums over flavors: our queues know resources, and nodes by what pods ask of them. */
struct quotas {
	struct kar_amounts right, most, kept;
	struct kar_amounts open; /* a flavor has no borrowingLimit: there is no upper limit */
	bool lent;               /* a flavor has a lendingLimit */
};

/* False: there is none, or it is no quantity. */
static bool read_amount(const struct qj_conv *c, const char *path, struct kar_quantity *out)
{
	const char *text = qj_take_text(c, path);

	if (!text)
		return false;
	if (kar_quantity_parse(text, out, NULL) == 0)
		return true;
	qj_note(c, path, "%s is no quantity: left out", text);
	return false;
}

static void add_resource(const struct qj_conv *c, struct quotas *sums)
{
	const char *name = qj_take_text(c, "name");
	struct kar_quantity nominal = { 0 }, more, lent;

	if (!kar_has_text(name) || !read_amount(c, "nominalQuota", &nominal))
		return;
	kar_amounts_add(&sums->right, name, &nominal);
	if (read_amount(c, "lendingLimit", &lent)) {
		struct kar_quantity kept = nominal;

		kar_quantity_sub(&kept, &lent);
		if (kept.nano > 0)
			kar_amounts_add(&sums->kept, name, &kept);
		sums->lent = true;
	}
	if (read_amount(c, "borrowingLimit", &more)) {
		kar_quantity_add(&nominal, &more);
		kar_amounts_add(&sums->most, name, &nominal);
	} else {
		kar_amounts_add(&sums->open, name, &nominal);
	}
}

static size_t add_group(const struct qj_conv *c, struct qj_doc *group, size_t at, struct quotas *sums)
{
	struct qj_conv of_group = qj_conv_item(c, group, "spec.resourceGroups", at, "", 0);
	struct qj_doc *flavors = qj_doc_get(group, "flavors");
	size_t n = 0;

	(void)qj_take(&of_group, "coveredResources");
	for (struct qj_doc *f = flavors ? flavors->first : NULL; f; f = f->next, n++) {
		struct qj_conv of_flavor = qj_conv_item(&of_group, f, "flavors", n, "", 0);
		struct qj_doc *resources = qj_doc_get(f, "resources");
		size_t i = 0;

		(void)qj_take(&of_flavor, "name");
		for (struct qj_doc *r = resources ? resources->first : NULL; r; r = r->next) {
			struct qj_conv of_resource = qj_conv_item(&of_flavor, r, "resources", i++, "", 0);

			add_resource(&of_resource, sums);
		}
	}
	return n;
}

/* Those of @amounts that are not in @but. */
static void put_amounts(const struct qj_conv *c, const struct kar_amounts *amounts,
	const struct kar_amounts *but, const char *from, const char *to)
{
	struct qj_doc *map = qj_doc_new(c->a, QJ_DOC_MAP, NULL);
	char text[KAR_QUANTITY_LEN];

	for (size_t i = 0; i < amounts->n; i++) {
		struct qj_doc *one = qj_doc_new(c->a, QJ_DOC_TEXT, NULL), **last = &map->first;

		if (but && kar_amounts_find(but, amounts->items[i].name))
			continue;
		one->text = kar_arena_printf(c->a, "%s", kar_quantity_text(&amounts->items[i].q, text));
		one->key = kar_arena_printf(c->a, "%s", amounts->items[i].name); /* may have dots */
		while (*last)
			last = &(*last)->next;
		*last = one;
	}
	if (map->first)
		qj_put(c, from, to, map);
}

static void move_quotas(const struct qj_conv *c, bool shares)
{
	struct qj_doc *groups = qj_doc_get(c->from, "spec.resourceGroups");
	struct quotas sums = { 0 };
	size_t n = 0, most = 0;

	for (struct qj_doc *g = groups ? groups->first : NULL; g; g = g->next, n++) {
		size_t flavors = add_group(c, g, n, &sums);

		most = flavors > most ? flavors : most;
	}
	put_amounts(c, &sums.right, NULL, "spec.resourceGroups[].nominalQuota", "spec.deserved");
	if (sums.lent)
		put_amounts(c, &sums.kept, NULL, "spec.resourceGroups[].lendingLimit", "spec.guarantee");
	if (!shares) /* in no cohort nobody borrows */
		put_amounts(c, &sums.right, NULL, "spec.resourceGroups[].nominalQuota", "spec.capability");
	else
		put_amounts(c, &sums.most, &sums.open, "spec.resourceGroups[].borrowingLimit",
			"spec.capability");
	if (most > 1)
		qj_note(c, "spec.resourceGroups[].flavors",
			"flavors are added up; pods choose their nodes by their nodeSelector");
	kar_amounts_release(&sums.right);
	kar_amounts_release(&sums.most);
	kar_amounts_release(&sums.kept);
	kar_amounts_release(&sums.open);
}

static void move_preemption(const struct qj_conv *c)
{
	const char *within = qj_take_text(c, "spec.preemption.withinClusterQueue");

	if (kar_has_text(within))
		qj_put(c, "spec.preemption.withinClusterQueue", "spec.preemptionPolicy",
			qj_doc_new(c->a, QJ_DOC_TEXT,
				kar_streq(within, "Never") ? "Never" : "LowerPriority"));
	if (kar_streq(within, "LowerOrNewerEqualPriority"))
		qj_note(c, "spec.preemption.withinClusterQueue",
			"nobody is evicted for a job of the same priority");
	if (qj_take(c, "spec.preemption.reclaimWithinCohort"))
		qj_note(c, "spec.preemption.reclaimWithinCohort",
			"a queue always has back what it has a right to, but for gangs of queues with reclaimable: false");
}

static void move_state(const struct qj_conv *c)
{
	const char *stop = qj_take_text(c, "spec.stopPolicy");

	if (!kar_has_text(stop) || kar_streq(stop, "None"))
		return;
	qj_put(c, "spec.stopPolicy", "spec.state", qj_doc_new(c->a, QJ_DOC_TEXT, "Closed"));
	if (kar_streq(stop, "HoldAndDrain"))
		qj_put(c, "spec.stopPolicy", "spec.drain", qj_doc_new(c->a, QJ_DOC_PLAIN, "true"));
}

void qj_convert_cluster_queue(const struct qj_conv *c)
{
	bool newer = qj_move(c, "spec.cohortName", "spec.parent"),
	     shares = newer || qj_move(c, "spec.cohort", "spec.parent");
	const char *weight;

	if (shares)
		qj_note(c, newer ? "spec.cohortName" : "spec.cohort",
			"the queue of this name must be made, too, if it is none of the file");
	move_quotas(c, shares);
	(void)qj_move(c, "spec.queueingStrategy", "spec.queueingStrategy");
	if (qj_doc_get(c->from, "spec.namespaceSelector"))
		(void)qj_move(c, "spec.namespaceSelector", "spec.namespaceSelector");
	else
		qj_note(c, "spec.namespaceSelector",
			"there is none: Kueue lets no namespace in, we let in all");
	move_preemption(c);
	move_state(c);
	weight = qj_take_text(c, "spec.fairSharing.weight");
	if (weight && *weight && !weight[strspn(weight, "0123456789")] && *weight != '0')
		qj_put(c, "spec.fairSharing.weight", "spec.weight", qj_doc_new(c->a, QJ_DOC_PLAIN, weight));
	else if (weight)
		qj_note(c, "spec.fairSharing.weight", "%s is no whole number above 0: not carried over",
			weight);
}

/* Jobs of ours name the queue itself, or their namespace does. */
void qj_convert_local_queue(const struct qj_conv *c)
{
	static const char *const head[] = { "apiVersion", "kind", "metadata", "status" };
	const char *ns = qj_doc_text(c->from, "metadata.namespace");
	struct qj_doc *queue = qj_doc_get(c->from, "spec.clusterQueue"),
		      *map = qj_doc_new(c->a, QJ_DOC_MAP, NULL);

	for (size_t i = 0; i < KAR_LEN(head); i++)
		(void)qj_take(c, head[i]);
	qj_put(c, "metadata.namespace", "metadata.name", qj_doc_new(c->a, QJ_DOC_TEXT, ns ? ns : "default"));
	if (!queue || !queue->text)
		return;
	queue->used = true;
	map->first = qj_doc_new(c->a, QJ_DOC_TEXT, queue->text);
	map->first->key = KAR_LABEL_QUEUE;
	qj_put(c, "spec.clusterQueue", "metadata.annotations", map);
	qj_note(c, "metadata.name", "jobs of this namespace that name no queue are in queue %s", queue->text);
}
