#include "controllers/cluster/claims.h"

#include <assert.h>
#include <string.h>

#include "api/copy.h"
#include "api/types.h"
#include "common/base/str.h"
#include "controllers/cluster/lookups.h"
#include "controllers/cluster/stores.h"

/* Needs in the making. */
struct making {
	const struct kar_stores *s;
	struct kar_arena *a;
	struct kar_pod_needs *needs;
	struct kar_sched_amount *amounts;
	const char *unread[8]; /* each once */
	size_t n_unread;
};

static bool are_read(const struct kar_stores *s)
{
	return kar_store_synced(s->deviceclasses) && kar_store_synced(s->resourceslices) &&
		kar_store_synced(s->resourceclaims) && kar_store_synced(s->claimtemplates);
}

static void note_unread(struct making *m, const char *what)
{
	size_t i = 0;

	while (i < m->n_unread && strcmp(m->unread[i], what) != 0)
		i++;
	if (i == m->n_unread && i < KAR_LEN(m->unread))
		m->unread[m->n_unread++] = what;
}

static int64_t at_most(int64_t amount)
{
	return amount < KAR_SCHED_MOST ? amount : KAR_SCHED_MOST;
}

static void add_amount(struct making *m, const char *resource, int64_t amount)
{
	uint32_t i = 0, n = m->needs->n_amounts;

	assert(m->amounts || !n);
	while (i < n && strcmp(m->amounts[i].resource, resource) != 0)
		i++;
	if (i == n) {
		m->amounts = kar_arena_grow(m->a, m->amounts, n, sizeof(*m->amounts));
		m->amounts[m->needs->n_amounts++] =
			(struct kar_sched_amount){ .resource = kar_copy(m->a, resource) };
	}
	m->amounts[i].amount = at_most(m->amounts[i].amount + at_most(amount));
}

static void add_requests(struct making *m, const char *ns, const struct kar_device_requests *all)
{
	for (uint32_t i = 0; i < all->n; i++) {
		const struct kar_device_asked asked = kar_devices_ask_for(m->s->devices, ns, &all->items[i]);

		if (asked.resource)
			add_amount(m, asked.resource, all->items[i].count);
		if (asked.part)
			add_amount(m, asked.part, all->items[i].count);
		if (!asked.resource)
			note_unread(m, "device requests");
		if (asked.unread)
			note_unread(m, asked.unread);
	}
	if (all->unread)
		note_unread(m, all->unread);
}

static void add_named(struct making *m, const struct kar_object *claim)
{
	const struct kar_resourceclaim *c = claim && !claim->unreadable ? kar_as_resourceclaim(claim) : NULL;

	if (!c || !c->allocated || !c->reserved || c->unknown_nodes)
		note_unread(m, "resource claims that pods share");
	else if (c->nodes && !kar_needs_add_terms(m->needs, c->nodes, m->a))
		note_unread(m, "node affinity");
}

static void add_claim(struct making *m, const char *ns, const struct kar_claim_need *c)
{
	const struct kar_object *o;

	if (c->claim) {
		add_named(m, kar_store_get(m->s->resourceclaims, ns, c->claim));
		return;
	}
	o = kar_store_get(m->s->claimtemplates, ns, c->template);
	if (o && !o->unreadable)
		add_requests(m, ns, &kar_as_resourceclaimtemplate(o)->requests);
	else
		note_unread(m, "resource claims");
}

static void finish(struct making *m)
{
	struct kar_pod_needs *out = m->needs;

	out->amounts = m->amounts;
	for (size_t i = 0; i < m->n_unread; i++)
		out->unverified = out->unverified
			? kar_arena_printf(m->a, "%s, %s", out->unverified, m->unread[i])
			: m->unread[i];
}

const struct kar_pod_needs *kar_claims_add(const struct kar_stores *s, const char *ns,
	const struct kar_pod_needs *needs, struct kar_arena *a)
{
	struct making m = { .s = s, .a = a };

	if (!needs->n_claims)
		return needs;
	m.needs = kar_arena_alloc(a, 1, sizeof(*m.needs));
	*m.needs = *needs;
	m.needs->claims = NULL;
	m.needs->n_claims = 0;
	for (uint32_t i = 0; i < needs->n_amounts; i++) {
		m.amounts = kar_arena_grow(a, m.amounts, i, sizeof(*m.amounts));
		m.amounts[i] = needs->amounts[i];
	}
	if (!are_read(s))
		note_unread(&m, "resource claims");
	for (uint32_t i = 0; i < needs->n_claims && are_read(s); i++)
		add_claim(&m, ns, &needs->claims[i]);
	finish(&m);
	return m.needs;
}

const struct kar_pod_needs *kar_claims_of_bound(const struct kar_stores *s, const struct kar_pod *pod,
	struct kar_arena *a)
{
	struct making m = { .s = s, .a = a };
	struct kar_sched_amount *had;
	uint32_t n = kar_devices_claimed_by(s->devices, pod->o.uid, a, &had);

	m.needs = kar_arena_alloc(a, 1, sizeof(*m.needs));
	*m.needs = *pod->needs;
	m.needs->claims = NULL;
	m.needs->n_claims = 0;
	m.needs->n_amounts = 0;
	for (uint32_t i = 0; i < pod->needs->n_amounts; i++)
		add_amount(&m, pod->needs->amounts[i].resource, pod->needs->amounts[i].amount);
	for (uint32_t i = 0; i < n; i++)
		add_amount(&m, had[i].resource, had[i].amount);
	finish(&m);
	return m.needs;
}

/* --- what is not there yet ------------------------------------------------------------------------------ */

static const char *missing_class(const struct kar_stores *s, const struct kar_device_requests *all,
	struct kar_arena *a)
{
	for (uint32_t i = 0; i < all->n; i++) {
		if (!kar_store_get(s->deviceclasses, NULL, all->items[i].class))
			return kar_arena_printf(a, "DeviceClass %s does not exist", all->items[i].class);
	}
	return NULL;
}

static const char *pending(const struct kar_stores *s, const char *ns, const struct kar_claim_need *c,
	struct kar_arena *a)
{
	const struct kar_object *o = c->claim ? kar_store_get(s->resourceclaims, ns, c->claim)
					      : kar_store_get(s->claimtemplates, ns, c->template);

	if (!o)
		return kar_arena_printf(a, "%s %s does not exist",
			c->claim ? "ResourceClaim" : "ResourceClaimTemplate",
			c->claim ? c->claim : c->template);
	return c->claim || o->unreadable ? NULL
					 : missing_class(s, &kar_as_resourceclaimtemplate(o)->requests, a);
}

const char *kar_claims_pending(const struct kar_stores *s, const char *ns, const struct kar_pod_needs *needs,
	struct kar_arena *a)
{
	const char *why = NULL;

	for (uint32_t i = 0; i < needs->n_claims && !why && are_read(s); i++)
		why = pending(s, ns, &needs->claims[i], a);
	return why;
}
