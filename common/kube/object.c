#include "common/kube/object.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <bsd/string.h>

static const struct kar_field owner_fields[] = {
	KAR_FIELD_PB(struct kar_wire_owner, api_version, "apiVersion", 5, KAR_F_STRING),
	KAR_FIELD_PB(struct kar_wire_owner, kind, "kind", 1, KAR_F_STRING),
	KAR_FIELD_PB(struct kar_wire_owner, name, "name", 3, KAR_F_STRING),
	KAR_FIELD_PB(struct kar_wire_owner, uid, "uid", 4, KAR_F_STRING),
	KAR_FIELD_PB(struct kar_wire_owner, controller, "controller", 6, KAR_F_BOOL),
};
static const struct kar_desc owner_desc = KAR_DESC("OwnerReference", struct kar_wire_owner, owner_fields);

static const struct kar_field meta_fields[] = {
	KAR_FIELD_PB(struct kar_wire_meta, name, "name", 1, KAR_F_STRING),
	KAR_FIELD_PB(struct kar_wire_meta, ns, "namespace", 3, KAR_F_STRING),
	KAR_FIELD_PB(struct kar_wire_meta, uid, "uid", 5, KAR_F_STRING),
	KAR_FIELD_PB(struct kar_wire_meta, resource_version, "resourceVersion", 6, KAR_F_STRING),
	KAR_FIELD_PB(struct kar_wire_meta, generation, "generation", 7, KAR_F_INT64),
	KAR_FIELD_PB(struct kar_wire_meta, creation, "creationTimestamp", 8, KAR_F_TIME),
	KAR_FIELD_PB(struct kar_wire_meta, deletion, "deletionTimestamp", 9, KAR_F_TIME),
	KAR_FIELD_PB(struct kar_wire_meta, deletion_grace, "deletionGracePeriodSeconds", 10, KAR_F_INT64),
	KAR_FIELD_PB(struct kar_wire_meta, labels, "labels", 11, KAR_F_MAP),
	KAR_FIELD_PB(struct kar_wire_meta, annotations, "annotations", 12, KAR_F_MAP),
	KAR_FIELD_PB(struct kar_wire_meta, finalizers, "finalizers", 14, KAR_F_ARRAY),
	KAR_FIELD_PB_SUB(struct kar_wire_meta, owners, "ownerReferences", 13, KAR_F_ARRAY, &owner_desc),
};
const struct kar_desc kar_wire_meta_desc = KAR_DESC("ObjectMeta", struct kar_wire_meta, meta_fields);

kar_rv kar_rv_parse(const char *s)
{
	kar_rv rv = 0;

	if (!s || s[0] == '0')
		return 0;
	for (; *s; s++) {
		if (*s < '0' || *s > '9' || __builtin_mul_overflow(rv, 10, &rv) ||
			__builtin_add_overflow(rv, (kar_rv)(*s - '0'), &rv))
			return 0;
	}
	return rv;
}

const struct kar_wire_owner *kar_wire_controller(const struct kar_wire_meta *m)
{
	const struct kar_wire_owner *owners = m->owners.items;

	for (size_t i = 0; i < m->owners.n; i++) {
		if (owners[i].controller)
			return &owners[i];
	}
	return NULL;
}

void kar_object_init(struct kar_object *o, const struct kar_type *t, const struct kar_wire_object *w,
	const char *name, const char *uid, struct kar_intern *strings)
{
	*o = (struct kar_object){
		.type = t,
		.strings = strings,
		.refs = 1,
		.ns = kar_intern_get(strings, w->meta.ns),
		.name = name,
		.uid = uid,
		.rv = kar_rv_parse(w->meta.resource_version),
		.unreadable = w->problem != NULL,
	};
}

/* Readers get const objects; the reference count is the one thing about them that changes. */
static struct kar_object *counted(const struct kar_object *o)
{
	return (struct kar_object *)(uintptr_t)o;
}

const struct kar_object *kar_object_ref(const struct kar_object *o)
{
	if (o) {
		assert(o->refs > 0 && o->refs < UINT32_MAX);
		counted(o)->refs++;
	}
	return o;
}

void kar_object_unref(const struct kar_object *o)
{
	if (!o)
		return;
	assert(o->refs > 0);
	if (--counted(o)->refs > 0)
		return;
	kar_intern_put(o->strings, o->ns);
	o->type->destroy(counted(o), o->strings);
}

bool kar_object_same(const struct kar_object *a, const struct kar_object *b)
{
	return strcmp(a->uid, b->uid) == 0 && a->unreadable == b->unreadable;
}

const char *kar_key(const char *ns, const char *name, char out[KAR_KEY_LEN])
{
	bool has_ns = ns && ns[0];

	snprintf(out, KAR_KEY_LEN, "%s%s%s", has_ns ? ns : "", has_ns ? "/" : "", name);
	return out;
}

const char *kar_object_by_namespace(const struct kar_object *o, int i KAR_UNUSED)
{
	return o->ns;
}

const char *kar_object_key(const struct kar_object *o, char out[KAR_KEY_LEN])
{
	return kar_key(o->ns, o->name, out);
}

void kar_key_split(const char *key, char buf[KAR_KEY_LEN], const char **ns, const char **name)
{
	strlcpy(buf, key, KAR_KEY_LEN);

	char *slash = strchr(buf, '/');

	*ns = slash ? buf : "";
	*name = slash ? slash + 1 : buf;
	if (slash)
		*slash = '\0';
}
