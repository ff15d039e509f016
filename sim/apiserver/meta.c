#include "sim/apiserver/verbs.h"

#include <stdio.h>
#include <string.h>

#include <bsd/string.h>

#include "common/base/timefmt.h"

enum {
	GENERATED = 5,                  /* random characters of a generated name */
	GENERATED_MAX = 63 - GENERATED, /* the prefix is cut so that the name is a DNS label */
	GENERATE_ATTEMPTS = 8,
};

/* ---- canonical form ---- */

struct meta_field {
	const char *name;
	enum sim_kind kind;
	bool of_strings; /* values of the map or items of the array */
	const char *go;  /* its type in error texts */
};

static const struct meta_field meta_fields[] = {
	{ "name", SIM_STRING, false, "string" },
	{ "generateName", SIM_STRING, false, "string" },
	{ "namespace", SIM_STRING, false, "string" },
	{ "selfLink", SIM_STRING, false, "string" },
	{ "uid", SIM_STRING, false, "types.UID" },
	{ "resourceVersion", SIM_STRING, false, "string" },
	{ "generation", SIM_INT, false, "int64" },
	{ "creationTimestamp", SIM_STRING, false, "v1.Time" },
	{ "deletionTimestamp", SIM_STRING, false, "v1.Time" },
	{ "deletionGracePeriodSeconds", SIM_INT, false, "int64" },
	{ "labels", SIM_OBJECT, true, "map[string]string" },
	{ "annotations", SIM_OBJECT, true, "map[string]string" },
	{ "ownerReferences", SIM_ARRAY, false, "[]v1.OwnerReference" },
	{ "finalizers", SIM_ARRAY, true, "[]string" },
	{ "managedFields", SIM_ARRAY, false, "[]v1.ManagedFieldsEntry" },
};

static const struct meta_field *field_of(const char *name)
{
	for (size_t i = 0; i < KAR_LEN(meta_fields); i++) {
		if (!strcmp(meta_fields[i].name, name))
			return &meta_fields[i];
	}
	return NULL;
}

static int wrong(const struct meta_field *f, const struct sim_value *v, const char *go, struct kar_err *err)
{
	return kar_fail(err, KAR_INVALID,
		"json: cannot unmarshal %s into Go struct field ObjectMeta.%s of type %s",
		sim_body_kind_name(v), f->name, go);
}

static int check_time(const struct sim_value *v, struct kar_err *err)
{
	kar_time unused;

	if (kar_time_parse(sim_text_or(v, ""), &unused) == 0)
		return 0;
	return kar_fail(err, KAR_INVALID,
		"parsing time \"%s\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"%s\" as \"2006\"",
		sim_text_or(v, ""), sim_text_or(v, ""));
}

static int check_inside(const struct meta_field *f, const struct sim_value *v, struct kar_err *err)
{
	enum sim_kind kind = f->of_strings ? SIM_STRING : SIM_OBJECT;
	const char *go = f->of_strings ? "string" : f->go + strlen("[]");

	for (size_t i = 0; f->kind == SIM_ARRAY && i < sim_count(v); i++) {
		if (sim_kind(sim_item(v, i)) != kind)
			return wrong(f, sim_item(v, i), go, err);
	}
	if (f->kind != SIM_OBJECT)
		return 0;
	for (struct sim_member m = sim_first(v); m.value; m = sim_next(m)) {
		if (sim_kind(m.value) != SIM_STRING && sim_kind(m.value) != SIM_NULL)
			return wrong(f, m.value, go, err);
	}
	return 0;
}

static bool has_null(const struct sim_value *map)
{
	if (sim_kind(map) != SIM_OBJECT)
		return false;
	for (struct sim_member m = sim_first(map); m.value; m = sim_next(m)) {
		if (sim_kind(m.value) == SIM_NULL)
			return true;
	}
	return false;
}

/* In a map of texts null reads as "". New reference. */
static struct sim_value *texts_of(const struct sim_value *map)
{
	struct sim_value *out = sim_ref(map);

	if (!has_null(map))
		return out;
	for (struct sim_member m = sim_first(map); m.value; m = sim_next(m)) {
		if (sim_kind(m.value) == SIM_NULL)
			sim_set_text(&out, "", m.key);
	}
	return out;
}

static int check_field(const struct meta_field *f, const struct sim_value *v, struct kar_err *err)
{
	if (sim_kind(v) != f->kind)
		return wrong(f, v, f->go, err);
	if (!strcmp(f->go, "v1.Time"))
		return check_time(v, err);
	return check_inside(f, v, err);
}

static bool is_zero(const struct meta_field *f, const struct sim_value *v)
{
	if (f->kind == SIM_STRING)
		return !*sim_text_or(v, "");
	if (f->kind == SIM_INT) /* the grace period is a pointer in Go: 0 is not nothing */
		return sim_int_of(v, 0) == 0 && !strcmp(f->name, "generation");
	return sim_count(v) == 0;
}

/* True if a member has to go or is wrong: metadata that the server itself made is never copied. */
static int look(const struct sim_value *meta, bool *as_it_should_be, struct kar_err *err)
{
	*as_it_should_be = true;
	for (struct sim_member m = sim_first(meta); m.value; m = sim_next(m)) {
		const struct meta_field *f = field_of(m.key);

		if (f && sim_kind(m.value) != SIM_NULL && check_field(f, m.value, err))
			return -1;
		if (!f || sim_kind(m.value) == SIM_NULL || is_zero(f, m.value) || has_null(m.value))
			*as_it_should_be = false;
	}
	return 0;
}

int sim_meta_canonical(struct sim_value **object, struct sim_value **removed, struct kar_err *err)
{
	const struct sim_value *meta = sim_member(*object, "metadata");
	struct sim_value *canonical;
	bool fine;

	if (sim_kind(meta) > SIM_NULL && sim_kind(meta) != SIM_OBJECT)
		return kar_fail(err, KAR_INVALID,
			"json: cannot unmarshal %s into Go value of type v1.ObjectMeta",
			sim_body_kind_name(meta));
	if (look(meta, &fine, err))
		return -1;
	if (fine)
		return 0;
	canonical = sim_object();
	for (struct sim_member m = sim_first(meta); m.value; m = sim_next(m)) {
		const struct meta_field *f = field_of(m.key);

		if (!f)
			sim_append(removed, sim_printf("metadata.%s", m.key));
		else if (sim_kind(m.value) != SIM_NULL && !is_zero(f, m.value))
			sim_set(&canonical, texts_of(m.value), m.key);
	}
	sim_set(object, canonical, "metadata");
	return 0;
}

/* ---- place ---- */

bool sim_meta_check_place(struct sim_call *c, struct sim_value **object)
{
	const char *given = sim_text_or(sim_get(*object, "metadata", "namespace"), "");
	const char *asked = c->r->namespaced && c->rq->ns ? c->rq->ns : "";

	if (!strcmp(given, asked))
		return true;
	if (!*given)
		sim_set_text(object, asked, "metadata", "namespace");
	else if (!*asked)
		sim_remove(object, "metadata", "namespace");
	else
		return sim_refuse_bad_request(c->out,
			"the namespace of the provided object does not match the namespace sent on the request");
	return true;
}

bool sim_meta_check_name(struct sim_call *c, const struct sim_value *object)
{
	const char *name = sim_text_or(sim_get(object, "metadata", "name"), "");

	if (!*name)
		return sim_refuse_bad_request(c->out,
			"the name of the object (%s based on URL) was undeterminable: name must be provided",
			c->rq->name);
	if (strcmp(name, c->rq->name) != 0)
		return sim_refuse_bad_request(c->out,
			"the name of the object (%s) does not match the name on the URL (%s)", name,
			c->rq->name);
	return true;
}

/* ---- what the server sets ---- */

void sim_meta_wipe(struct sim_value **object)
{
	sim_remove(object, "metadata", "creationTimestamp");
	sim_remove(object, "metadata", "uid");
	sim_remove(object, "metadata", "deletionTimestamp");
	sim_remove(object, "metadata", "deletionGracePeriodSeconds");
	sim_remove(object, "metadata", "selfLink");
}

static struct sim_value *new_uid(struct sim_random *random)
{
	uint64_t a = sim_random_next(random), b = sim_random_next(random);

	/* RFC 4122, version 4 */
	return sim_printf("%08x-%04x-4%03x-%04x-%012llx", (unsigned)(a >> 32), (unsigned)(a >> 16 & 0xffff),
		(unsigned)(a & 0xfff), (unsigned)(b >> 48 & 0x3fff) | 0x8000u,
		(unsigned long long)(b & 0xffffffffffffu));
}

/* No vowels and no digits that look like them, so that no words come out. */
static void generate(struct sim_random *random, const char *prefix, char out[64])
{
	static const char alphabet[] = "bcdfghjklmnpqrstvwxz2456789";
	size_t n = strlen(prefix) < GENERATED_MAX ? strlen(prefix) : GENERATED_MAX;

	memcpy(out, prefix, n);
	for (size_t i = 0; i < GENERATED; i++)
		out[n++] = alphabet[sim_random_below(random, sizeof(alphabet) - 1)];
	out[n] = '\0';
}

static void set_generated_name(struct sim_call *c, struct sim_value **object, const char *prefix)
{
	const char *ns = sim_text(sim_get(*object, "metadata", "namespace"));
	char name[64];

	for (int i = 0; i < GENERATE_ATTEMPTS; i++) {
		generate(&c->s->names, prefix, name);
		if (!sim_collection_get(c->stored->objects, ns, name))
			break;
	}
	sim_set_text(object, name, "metadata", "name");
}

void sim_meta_fill(struct sim_call *c, struct sim_value **object)
{
	const char *prefix = sim_text_or(sim_get(*object, "metadata", "generateName"), "");

	if (*prefix && !*sim_text_or(sim_get(*object, "metadata", "name"), ""))
		set_generated_name(c, object, prefix);
	sim_set(object, new_uid(&c->s->uids), "metadata", "uid");
	sim_set(object, sim_time(sim_timeline_wall(c->s->timeline)), "metadata", "creationTimestamp");
}

/* ---- owners ---- */

static bool owned_before(const struct sim_value *owners, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (sim_equal(sim_item(owners, k), sim_item(owners, i)))
			return true;
	}
	return false;
}

void sim_meta_dedup_owners(struct sim_call *c, struct sim_value **object)
{
	const struct sim_value *known = sim_get(*object, "metadata", "ownerReferences");
	struct sim_value *owners;
	size_t dropped = 0;

	if (sim_count(known) < 2)
		return;
	owners = sim_ref(known);
	for (size_t i = sim_count(owners); i-- > 1;) {
		if (!owned_before(owners, i))
			continue;
		kar_buf_printf(&c->warnings,
			"%s.metadata.ownerReferences contains duplicate entries; API server dedups owner "
			"references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate "
			"UID(s) observed: %s",
			c->warnings.n ? "\n" : "", sim_text_or(sim_member(sim_item(owners, i), "uid"), ""));
		sim_drop(&owners, i);
		dropped++;
	}
	if (dropped)
		sim_set(object, owners, "metadata", "ownerReferences");
	else
		sim_unref(owners);
}
