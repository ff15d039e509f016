#include "controllers/cluster/volumes.h"

#include <string.h>

#include "api/types.h"
#include "common/base/buf.h"
#include "common/base/str.h"
#include "controllers/cluster/lookups.h"
#include "controllers/cluster/stores.h"

#define NO_PROVISIONER "kubernetes.io/no-provisioner"

/* What one volume says about the nodes of a pod. */
struct answer {
	const struct kar_pod_needs *nodes; /* whose terms hold, too; NULL: all nodes */
	const char
		*pending; /* what is to be said of its claim, without which it has no node; NULL: nothing */
	bool unknown;     /* the scheduler knows more */
	const char *by_scheduler; /* what only the scheduler does for it; NULL: nothing */
};

static bool are_read(const struct kar_stores *s)
{
	return kar_store_synced(s->volumeclaims) && kar_store_synced(s->volumes) &&
		kar_store_synced(s->storageclasses) && kar_store_synced(s->csidrivers);
}

/* The newest default class, as the admission of claims takes it; NULL: there is none. */
static const struct kar_storageclass *default_class(const struct kar_stores *s)
{
	const struct kar_storageclass *best = NULL;
	const struct kar_object *o;

	for (struct kar_iter it = kar_store_all(s->storageclasses); kar_iter_next(&it, &o);) {
		const struct kar_storageclass *c = kar_as_storageclass(o);

		if (c->is_default &&
			(!best || c->creation > best->creation ||
				(c->creation == best->creation && strcmp(c->o.name, best->o.name) < 0)))
			best = c;
	}
	return best;
}

static const struct kar_storageclass *class_named(const struct kar_stores *s, const char *name)
{
	const struct kar_object *o = kar_store_get(s->storageclasses, NULL, name);

	return o && !o->unreadable ? kar_as_storageclass(o) : NULL;
}

/* A volume that somebody has made already may be elsewhere than the class makes one. */
static bool may_have_another(const struct kar_stores *s, const struct kar_storageclass *c)
{
	return c->nodes && kar_store_index_count(s->volumes, KAR_VOLUME_FREE_BY_CLASS, c->o.name) > 0;
}

/* A volume of this class, which waits for a node, is to be made. */
static struct answer of_class(const struct kar_stores *s, const struct kar_storageclass *c)
{
	const struct kar_object *driver =
		c->provisioner ? kar_store_get(s->csidrivers, NULL, c->provisioner) : NULL;

	if (c->unknown || kar_streq(c->provisioner, NO_PROVISIONER) || may_have_another(s, c) ||
		(driver && (driver->unreadable || kar_as_csidriver(driver)->storage_capacity)))
		return (struct answer){ .unknown = true };
	return (struct answer){ .nodes = c->nodes, .by_scheduler = "volumes that are made for a node" };
}

/* Nodes may have a limit of volumes that are attached to them, which is not counted here. A driver of which nothing is known attaches. */
static bool is_attached(const struct kar_stores *s, const struct kar_volume *v)
{
	const struct kar_object *driver = v->driver ? kar_store_get(s->csidrivers, NULL, v->driver) : NULL;

	return v->driver && (!driver || driver->unreadable || kar_as_csidriver(driver)->attaches);
}

static struct answer of_volume(const struct kar_stores *s, const char *name)
{
	const struct kar_object *o = kar_store_get(s->volumes, NULL, name);

	if (!o) /* it comes in a moment, or never: kube-scheduler looks for it, too */
		return (struct answer){ .pending = "is bound to a PersistentVolume that does not exist" };
	if (o->unreadable || kar_as_volume(o)->unknown)
		return (struct answer){ .unknown = true };
	return (struct answer){ .nodes = kar_as_volume(o)->nodes,
		.by_scheduler =
			is_attached(s, kar_as_volume(o)) ? "volumes that are attached to nodes" : NULL };
}

/* Kube-scheduler looks at no claim that is to have a certain volume, or one that is made at once, before it has it. */
static struct answer of_unbound(const struct kar_stores *s, const struct kar_volumeclaim *c)
{
	const struct kar_storageclass *class = kar_has_text(c->class) ? class_named(s, c->class) : NULL;

	if (c->lost)
		return (struct answer){ .pending = "has lost its PersistentVolume" };
	if (class && class->waits && !c->volume) {
		/* The first of the pods that share it decides where it is, and kube-scheduler leaves the others no other node. */
		struct answer made = of_class(s, class);

		made.unknown = true;
		return made;
	}
	return (struct answer){ .pending = "is not bound" };
}

static struct answer of_claim(const struct kar_stores *s, const char *ns, const char *name)
{
	const struct kar_object *o = kar_store_get(s->volumeclaims, ns, name);
	const struct kar_volumeclaim *c;
	struct answer bound;

	if (!o)
		return (struct answer){ .pending = "does not exist" };
	if (o->unreadable)
		return (struct answer){ .unknown = true };
	c = kar_as_volumeclaim(o);
	if (c->deletion)
		return (struct answer){ .pending = "is being deleted" };
	if (!c->bound)
		return of_unbound(s, c);
	bound = c->volume ? of_volume(s, c->volume) : (struct answer){ .unknown = true };
	bound.unknown |= c->one_pod;
	return bound;
}

static struct answer answer_of(const struct kar_stores *s, const char *ns, const struct kar_volume_need *v)
{
	const struct kar_storageclass *class;

	if (!are_read(s))
		return (struct answer){ .unknown = true };
	if (v->claim)
		return of_claim(s, ns, v->claim);
	/* Its claim is made with the pod; if the class makes volumes at once, it may be anywhere. */
	class = v->class ? class_named(s, v->class) : default_class(s);
	return class && class->waits ? of_class(s, class) : (struct answer){ .unknown = true };
}

/* --- needs ------------------------------------------------------------------------------------------- */

const struct kar_pod_needs *kar_volumes_add(const struct kar_stores *s, const char *ns,
	const struct kar_pod_needs *needs, struct kar_arena *a)
{
	struct kar_pod_needs *out;
	bool unknown = false;

	if (!needs->n_volumes)
		return needs;
	out = kar_arena_alloc(a, 1, sizeof(*out));
	*out = *needs;
	out->volumes = NULL;
	out->n_volumes = 0;
	for (uint32_t i = 0; i < needs->n_volumes; i++) {
		const struct answer v = answer_of(s, ns, &needs->volumes[i]);

		unknown |= v.unknown || (v.nodes && !kar_needs_add_terms(out, v.nodes, a));
	}
	if (unknown)
		out->unverified =
			out->unverified ? kar_arena_printf(a, "%s, volumes", out->unverified) : "volumes";
	return out;
}

const char *kar_volumes_pending(const struct kar_stores *s, const char *ns, const struct kar_pod_needs *needs,
	struct kar_arena *a)
{
	for (uint32_t i = 0; i < needs->n_volumes; i++) {
		const struct answer v = answer_of(s, ns, &needs->volumes[i]);

		if (v.pending)
			return kar_arena_printf(a, "PersistentVolumeClaim %s %s", needs->volumes[i].claim,
				v.pending);
	}
	return NULL;
}

const char *kar_volumes_by_scheduler(const struct kar_stores *s, const char *ns,
	const struct kar_pod_needs *needs)
{
	const char *what = NULL;

	for (uint32_t i = 0; i < needs->n_volumes && !what; i++)
		what = answer_of(s, ns, &needs->volumes[i]).by_scheduler;
	return what;
}
