#include "api/new_object.h"

#include <stdio.h>

const char *kar_api_version(const struct kar_resource *res, char out[KAR_API_VERSION_LEN])
{
	snprintf(out, KAR_API_VERSION_LEN, "%s%s%s", res->group, res->group[0] ? "/" : "", res->version);
	return out;
}

void kar_new_object_begin(struct kar_json_writer *w, const struct kar_resource *res, const char *ns,
	const char *name)
{
	char version[KAR_API_VERSION_LEN];

	kar_jw_kv_string(w, "apiVersion", kar_api_version(res, version));
	kar_jw_kv_string(w, "kind", res->kind);
	kar_jw_key(w, "metadata");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "name", name);
	kar_jw_kv_string(w, "namespace", ns ? ns : "");
}

void kar_new_object_owner(struct kar_json_writer *w, const struct kar_wire_owner *owner, bool blocks)
{
	kar_jw_key(w, "ownerReferences");
	kar_jw_begin_array(w);
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "apiVersion", owner->api_version);
	kar_jw_kv_string(w, "kind", owner->kind);
	kar_jw_kv_string(w, "name", owner->name);
	kar_jw_kv_string(w, "uid", owner->uid);
	kar_jw_kv_bool(w, "controller", true);
	if (blocks)
		kar_jw_kv_bool(w, "blockOwnerDeletion", true);
	kar_jw_end_object(w);
	kar_jw_end_array(w);
}
