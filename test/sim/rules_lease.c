/* Managers that elect one of them: who may write, and who takes the lease when. */
#include <string.h>

#include <bsd/string.h>

#include "api/suspendable/suspendable.h"
#include "common/kube/request.h"
#include "test/sim/rules.h"

enum {
	DURATION = 15000, /* ms; those of process.c */
	DEADLINE = 10000,
	RENEWED_WITHIN = 5000,
	FREE_AT_MOST = 2000,
};

void model_note_lease(struct model *l, const struct sim_change *c)
{
	const char *holder = sim_text_or(sim_get(c->new, "spec", "holderIdentity"), "");
	struct model_lease *lease = &l->lease;
	bool changes = strcmp(holder, lease->holder) != 0;

	if (changes && *holder && *lease->holder && model_now(l) - lease->renewed < DURATION)
		model_break(l, "lease-early", "%s takes the lease of %s, who has renewed it %lld ms ago",
			holder, lease->holder, (long long)(model_now(l) - lease->renewed));
	strlcpy(lease->holder, holder, sizeof(lease->holder));
	lease->renewed = model_now(l);
	lease->free = *holder ? 0 : model_now(l);
}

/* As in production nothing can stop what is under way already, so it is the moment of the sending that counts. */
void model_handed(struct model *l, const char *user, const struct sim_request *rq)
{
	const struct model_lease *lease = &l->lease;
	kar_time since = model_now(l) - lease->renewed;

	if (!l->leases || !model_is_manager(user) || !kar_request_writes(rq->verb) ||
		strcmp(rq->resource, "leases") == 0)
		return;
	if (strcmp(lease->holder, user) != 0)
		model_break(l, "fenced", "%s writes %s, but %s holds the lease", user, rq->resource,
			*lease->holder ? lease->holder : "nobody");
	else if (since >= DEADLINE)
		model_break(l, "fenced", "%s writes %s %lld ms after it has renewed the lease", user,
			rq->resource, (long long)since);
}

/* A kind that the simulated cluster does not serve is asked for now and then. */
static bool is_served(const char *resource)
{
#define IS_ONE(type_, cache_) || strcmp(resource, (type_).res.plural) == 0
	return !(false KAR_SUSPENDABLES(IS_ONE));
#undef IS_ONE
}

void rules_check_list(struct model *l, const char *user, const char *resource)
{
	if (is_served(resource) && l->leases && l->sure_network && strcmp(l->lease.holder, user) == 0)
		model_break(l, "no-new-list", "%s holds the lease and lists %s", user, resource);
}

void rules_check_stopped(struct model *l, const char *user)
{
	if (l->sure_network && strcmp(l->lease.holder, user) == 0)
		model_break(l, "lease-released", "%s has stopped and still holds the lease", user);
}

void rules_check_lease_due(struct model *l)
{
	kar_time now = model_now(l);

	if (!l->leases || l->undisturbed == KAR_NEVER || now < l->undisturbed + DURATION + RENEWED_WITHIN)
		return;
	if (now - l->lease.renewed > RENEWED_WITHIN)
		model_break(l, "lease-kept", "\"%s\" has not renewed the lease for %lld ms", l->lease.holder,
			(long long)(now - l->lease.renewed));
}
