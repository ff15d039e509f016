#include "common/kube/lease.h"

#include <string.h>

#include <bsd/string.h>

#include "common/base/str.h"
#include "common/base/text.h"
#include "common/base/timefmt.h"
#include "common/codec/json.h"

const struct kar_resource kar_lease_resource = { .group = "coordination.k8s.io",
	.version = "v1",
	.plural = "leases",
	.kind = "Lease",
	.namespaced = true };

static const struct kar_field spec_fields[] = {
	KAR_FIELD(struct kar_lease_spec, holder, "holderIdentity", KAR_F_STRING),
	KAR_FIELD(struct kar_lease_spec, duration_seconds, "leaseDurationSeconds", KAR_F_INT32),
	KAR_FIELD(struct kar_lease_spec, transitions, "leaseTransitions", KAR_F_INT32),
};
static const struct kar_desc spec_desc = KAR_DESC("LeaseSpec", struct kar_lease_spec, spec_fields);

static const struct kar_field lease_fields[] = {
	KAR_WIRE_HEAD_FIELDS(struct kar_lease_wire),
	KAR_FIELD_SUB(struct kar_lease_wire, spec, "spec", KAR_F_OBJECT, &spec_desc),
};
static const struct kar_desc lease_desc = KAR_WIRE_DESC("Lease", struct kar_lease_wire, lease_fields);

static const struct kar_field event_fields[] = {
	KAR_FIELD(struct kar_lease_event, type, "type", KAR_F_STRING),
	KAR_FIELD_SUB(struct kar_lease_event, object, "object", KAR_F_OBJECT, &lease_desc),
};
const struct kar_desc kar_lease_event_desc = KAR_DESC("WatchEvent", struct kar_lease_event, event_fields);

int kar_lease_record_of(const struct kar_lease_wire *w, const char *identity, struct kar_lease_record *out,
	struct kar_err *err)
{
	struct kar_lease_record r = { .exists = true };
	const char *version = w->head.meta.resource_version;

	if (!kar_has_text(version) || strlcpy(r.rv, version, sizeof(r.rv)) >= sizeof(r.rv))
		return kar_fail(err, KAR_INVALID, "the Lease has no usable metadata.resourceVersion");
	if (kar_has_text(w->spec.holder))
		kar_text_printf(r.holder, sizeof(r.holder), "%s", w->spec.holder);
	r.ours = kar_streq(w->spec.holder, identity);
	r.duration = w->spec.duration_seconds > 0 ? w->spec.duration_seconds * KAR_SECOND : 0;
	r.transitions = w->spec.transitions > 0 ? w->spec.transitions : 0;
	*out = r;
	return 0;
}

int kar_lease_decode(struct kar_str body, const char *identity, struct kar_lease_record *out,
	struct kar_err *err)
{
	struct kar_arena arena = { 0 };
	struct kar_lease_wire w;
	int failed = kar_json_decode(&arena, &lease_desc, NULL, body.p, body.n, &w, err) ||
		kar_lease_record_of(&w, identity, out, err);

	kar_arena_release(&arena);
	return failed ? -1 : 0;
}

static void put_time(struct kar_json_writer *j, const char *key, kar_time wall)
{
	char text[KAR_TIME_LEN];

	kar_jw_kv_string(j, key, kar_time_format_micro(wall, text));
}

static void begin(struct kar_json_writer *j, struct kar_buf *out)
{
	kar_json_writer_init(j, out);
	kar_jw_begin_object(j);
}

static void put_labels(struct kar_json_writer *j, const struct kar_lease_write *w)
{
	kar_jw_key(j, "labels");
	kar_jw_begin_object(j);
	kar_jw_kv_string(j, "app.kubernetes.io/name", w->app);
	kar_jw_end_object(j);
}

/* @w NULL: the labels stay as they are. */
static void begin_change(struct kar_json_writer *j, const struct kar_lease_record *before,
	const struct kar_lease_write *w, struct kar_buf *out)
{
	begin(j, out);
	kar_jw_key(j, "metadata");
	kar_jw_begin_object(j);
	kar_jw_kv_string(j, "resourceVersion", before->rv);
	if (w)
		put_labels(j, w);
	kar_jw_end_object(j);
	kar_jw_key(j, "spec");
	kar_jw_begin_object(j);
}

static void end(struct kar_json_writer *j)
{
	kar_jw_end_object(j); /* spec */
	kar_jw_end_object(j);
	kar_json_writer_release(j);
}

static void put_holder(struct kar_json_writer *j, const struct kar_lease_write *w)
{
	kar_jw_kv_string(j, "holderIdentity", w->identity);
	kar_jw_kv_int(j, "leaseDurationSeconds", (w->duration + KAR_SECOND - 1) / KAR_SECOND);
	put_time(j, "renewTime", w->now);
}

void kar_lease_create_body(const struct kar_lease_write *w, const char *ns, const char *name,
	struct kar_buf *out)
{
	struct kar_json_writer j;

	begin(&j, out);
	kar_jw_kv_string(&j, "apiVersion", "coordination.k8s.io/v1");
	kar_jw_kv_string(&j, "kind", "Lease");
	kar_jw_key(&j, "metadata");
	kar_jw_begin_object(&j);
	kar_jw_kv_string(&j, "name", name);
	kar_jw_kv_string(&j, "namespace", ns);
	put_labels(&j, w);
	kar_jw_end_object(&j);
	kar_jw_key(&j, "spec");
	kar_jw_begin_object(&j);
	put_holder(&j, w);
	put_time(&j, "acquireTime", w->now);
	kar_jw_kv_int(&j, "leaseTransitions", 0);
	end(&j);
}

/* What was there counts, not who: a holder that lost the answer to its own write takes the lease again. */
void kar_lease_take_body(const struct kar_lease_write *w, const struct kar_lease_record *before,
	struct kar_buf *out)
{
	int64_t transitions = before->ours ? before->transitions : before->transitions + 1;
	struct kar_json_writer j;

	begin_change(&j, before, w, out);
	put_holder(&j, w);
	put_time(&j, "acquireTime", w->now);
	kar_jw_kv_int(&j, "leaseTransitions", transitions < INT32_MAX ? transitions : 0);
	end(&j);
}

void kar_lease_renew_body(const struct kar_lease_write *w, const struct kar_lease_record *before,
	struct kar_buf *out)
{
	struct kar_json_writer j;

	begin_change(&j, before, NULL, out);
	put_holder(&j, w);
	end(&j);
}

/* As client-go does: some readers expect a duration. */
void kar_lease_release_body(const struct kar_lease_write *w, const struct kar_lease_record *before,
	struct kar_buf *out)
{
	struct kar_json_writer j;

	begin_change(&j, before, NULL, out);
	kar_jw_kv_string(&j, "holderIdentity", "");
	kar_jw_kv_int(&j, "leaseDurationSeconds", 1);
	put_time(&j, "renewTime", w->now);
	end(&j);
}
