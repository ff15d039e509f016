/* A write on its way from what the client wants to what may be stored. */
#include "sim/apiserver/verbs.h"

#include <stdio.h>
#include <string.h>

#include "sim/apiserver/apply.h"
#include "sim/apiserver/schema.h"
#include "sim/apiserver/types.h"

bool sim_call_is_status(const struct sim_call *c)
{
	return c->rq->subresource && !strcmp(c->rq->subresource, "status");
}

/* ---- custom resources: the strategy that all of them have ---- */

/* *@object with its member @key as in @from. */
static void take_member(struct sim_value **object, const struct sim_value *from, const char *key)
{
	const struct sim_value *v = sim_member(from, key);

	if (sim_member(*object, key) == v)
		return;
	if (v)
		sim_set(object, sim_ref(v), key);
	else
		sim_remove(object, key);
}

static void prepare_custom(const struct sim_call *c, struct sim_write *w)
{
	struct sim_value *status;

	if (!c->r->has_status)
		return;
	if (!sim_call_is_status(c)) {
		take_member(w->new, w->old, "status");
		return;
	}
	/* Through the status subresource nothing else changes, not even labels. */
	const struct sim_value *managed = sim_get(*w->new, "metadata", "managedFields");
	struct sim_value *fields = managed ? sim_ref(managed) : NULL, *new = sim_ref(w->old);

	status = sim_ref(sim_member(*w->new, "status"));
	if (status)
		sim_set(&new, status, "status");
	else
		sim_remove(&new, "status");
	if (fields && sim_get(w->old, "metadata", "managedFields") != fields)
		sim_set(&new, fields, "metadata", "managedFields");
	else
		sim_unref(fields);
	sim_unref(*w->new);
	*w->new = new;
}

static void validate_custom(const struct sim_call *c, struct sim_write *w)
{
	const char *kind = sim_text_or(sim_member(*w->new, "kind"), "");

	if (strcmp(kind, c->r->kind) != 0)
		sim_cause_add(&w->causes, "FieldValueInvalid", "kind", "Invalid value: \"%s\": must be %s",
			kind, c->r->kind);
	sim_meta_validate(w);
	if (!c->r->schema)
		return;
	if (w->old)
		sim_schema_validate_update(c->r->schema, w->old, *w->new, sim_call_is_status(c), &w->causes);
	else
		sim_schema_validate(c->r->schema, *w->new, &w->causes);
}

/* ---- generation ---- */

static bool counts(const struct sim_resource *r, const char *key)
{
	return strcmp(key, "metadata") != 0 && (!r->has_status || strcmp(key, "status") != 0);
}

static bool lacks_or_differs(const struct sim_resource *r, const struct sim_value *a,
	const struct sim_value *b)
{
	for (struct sim_member m = sim_first(a); m.value; m = sim_next(m)) {
		if (counts(r, m.key) && !sim_equal(m.value, sim_member(b, m.key)))
			return true;
	}
	return false;
}

static void set_generation(const struct sim_resource *r, struct sim_write *w)
{
	int64_t before = sim_get_int(w->old, 0, "metadata", "generation"), now = w->old ? before : 1;

	if (!r->custom && !r->tracks_generation)
		return;
	if (w->old && (lacks_or_differs(r, w->old, *w->new) || lacks_or_differs(r, *w->new, w->old)))
		now++;
	if (sim_get_int(*w->new, 0, "metadata", "generation") != now)
		sim_set(w->new, sim_int(now), "metadata", "generation");
}

/* ---- the pass ---- */

static void prepare(const struct sim_call *c, struct sim_write *w)
{
	const struct sim_strategy *strategy = c->stored->strategy;

	if (c->stored->custom)
		prepare_custom(c, w);
	if (strategy && sim_call_is_status(c) && strategy->prepare_status)
		strategy->prepare_status(w);
	else if (strategy && !sim_call_is_status(c) && strategy->prepare)
		strategy->prepare(w);
}

static void default_and_admit(const struct sim_call *c, struct sim_write *w, bool *admitted)
{
	const struct sim_strategy *strategy = c->stored->strategy;

	if (c->stored->custom && c->r->schema && c->rq->verb == KAR_PATCH &&
		c->rq->patch_type == KAR_PATCH_APPLY)
		sim_schema_default_applied(c->r->schema, w->new);
	else if (c->stored->custom && c->r->schema)
		sim_schema_default(c->r->schema, w->new);
	if (strategy && strategy->default_)
		strategy->default_(w);
	*admitted = !strategy || !strategy->admit || strategy->admit(w, c->out);
}

static bool refuse_causes(struct sim_call *c, struct sim_write *w)
{
	const char *name = sim_text_or(sim_get(*w->new, "metadata", "name"), "");
	const char *kind = c->r->custom ? sim_text_or(sim_member(*w->new, "kind"), "") : c->r->kind;

	/* What has two APIs (events) is validated as the one that is stored. */
	return sim_refuse_invalid_kind(c->out, c->stored->group, kind, name, &w->causes);
}

bool sim_write_pass(struct sim_call *c, struct sim_write *w)
{
	const struct sim_strategy *strategy = c->stored->strategy;
	bool ok = false;

	prepare(c, w);
	default_and_admit(c, w, &ok);
	if (!ok)
		return false;
	set_generation(c->stored, w);
	if (c->stored->custom)
		validate_custom(c, w);
	else
		sim_meta_validate(w);
	if (strategy && strategy->validate)
		strategy->validate(w);
	ok = w->causes.n == 0 || refuse_causes(c, w);
	sim_causes_release(&w->causes);
	return ok && (!c->stored->namespaced || sim_quota_admit(w, c->out));
}

/* ---- managedFields ---- */

/* One empty entry: how a client asks to forget who manages what. */
static bool clears_managed_fields(const struct sim_value *new)
{
	const struct sim_value *fields = sim_get(new, "metadata", "managedFields"),
			       *first = sim_item(fields, 0);

	return sim_count(fields) == 1 && sim_kind(first) == SIM_OBJECT && sim_count(first) == 0;
}

void sim_write_track(struct sim_call *c, const struct sim_value *old, struct sim_value **new)
{
	const struct sim_value *kept = sim_get(old, "metadata", "managedFields");
	char version[SIM_RESOURCE_NAME_MAX];
	struct sim_apply a = { .manager = c->rq->field_manager,
		.type = c->stored->type,
		.schema = c->r->schema,
		.status_is_plain = !c->stored->has_status,
		.subresource = sim_call_is_status(c) ? "status" : NULL,
		.now = sim_timeline_wall(c->s->timeline) };

	if (clears_managed_fields(*new)) {
		sim_remove(new, "metadata", "managedFields");
		return;
	}
	if (sim_get(*new, "metadata", "managedFields") != kept) {
		if (kept)
			sim_set(new, sim_ref(kept), "metadata", "managedFields");
		else
			sim_remove(new, "metadata", "managedFields");
	}
	if (!kept || sim_equal(old, *new))
		return;
	snprintf(version, sizeof(version), "%s%s%s", c->r->group, *c->r->group ? "/" : "", c->r->version);
	a.api_version = version;
	if (!a.manager || !*a.manager)
		a.manager = c->rq->user ? c->rq->user : "kubectl";
	sim_apply_track(old, new, &a);
}

static bool is_same_manager(const struct sim_value *a, const struct sim_value *b)
{
	KAR_CLEANUP(sim_cleanup_value) struct sim_value *x = sim_ref(a), *y = sim_ref(b);

	sim_remove(&x, "time");
	sim_remove(&y, "time");
	return sim_equal(x, y);
}

void sim_write_keep_times(const struct sim_value *old, struct sim_value **new)
{
	const struct sim_value *before = sim_get(old, "metadata", "managedFields"),
			       *after = sim_get(*new, "metadata", "managedFields");
	KAR_CLEANUP(sim_cleanup_value) struct sim_value *kept = NULL;

	if (!before || sim_count(before) != sim_count(after))
		return;
	for (size_t i = 0; i < sim_count(before); i++) {
		if (!is_same_manager(sim_item(before, i), sim_item(after, i)))
			return;
	}
	kept = sim_ref(*new);
	sim_set(&kept, sim_ref(before), "metadata", "managedFields");
	if (sim_equal(old, kept)) {
		sim_unref(*new);
		*new = sim_ref(kept);
	}
}
