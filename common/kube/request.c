#include "common/kube/request.h"

#include <assert.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/codec/json.h"
#include "common/codec/protobuf.h"
#include "common/net/http_text.h"

#define PROTOBUF "application/vnd.kubernetes.protobuf"

struct answer_meta {
	const char *resource_version, *uid;
};

struct answer_wire {
	struct answer_meta meta;
};

static const struct kar_field meta_fields[] = {
	KAR_FIELD_PB(struct answer_meta, resource_version, "resourceVersion", 6, KAR_F_STRING),
	KAR_FIELD_PB(struct answer_meta, uid, "uid", 5, KAR_F_STRING),
};
static const struct kar_desc meta_desc = KAR_DESC("ObjectMeta", struct answer_meta, meta_fields);

static const struct kar_field answer_fields[] = {
	KAR_FIELD_PB_SUB(struct answer_wire, meta, "metadata", 1, KAR_F_OBJECT, &meta_desc),
};
static const struct kar_desc answer_desc = KAR_DESC("answer", struct answer_wire, answer_fields);

const char *kar_request_method(enum kar_verb verb)
{
	static const char *const methods[] = {
		[KAR_GET] = "GET",
		[KAR_LIST] = "GET",
		[KAR_WATCH] = "GET",
		[KAR_CREATE] = "POST",
		[KAR_UPDATE] = "PUT",
		[KAR_PATCH] = "PATCH",
		[KAR_DELETE] = "DELETE",
		[KAR_DELETECOLLECTION] = "DELETE",
	};

	return methods[verb];
}

bool kar_request_writes(enum kar_verb verb)
{
	return kar_method_writes(kar_request_method(verb));
}

const char *kar_request_content_type(const struct kar_request *r)
{
	static const char *const patches[] = {
		[KAR_PATCH_JSON] = "application/json-patch+json",
		[KAR_PATCH_MERGE] = "application/merge-patch+json",
		[KAR_PATCH_STRATEGIC] = "application/strategic-merge-patch+json",
		[KAR_PATCH_APPLY] = "application/apply-patch+yaml", /* JSON is YAML */
	};

	return r->verb == KAR_PATCH ? patches[r->patch_type] : "application/json";
}

/*
 * A server that has not the first form takes the next; for errors all do. Metadata has a protobuf form for every type,
 * which spares both sides the JSON of managedFields.
 */
const char *kar_request_accept(const struct kar_request *r)
{
	if (r->metadata_only)
		return PROTOBUF ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1, application/json";
	return r->protobuf ? PROTOBUF ", application/json" : "application/json";
}

char *kar_request_url(const struct kar_request *r, const char *server)
{
	struct kar_buf url = { 0 };

	kar_buf_puts(&url, server);
	kar_request_path(r, &url);
	return kar_buf_detach(&url);
}

char *kar_request_what(const struct kar_request *r)
{
	bool in_ns = r->res->namespaced && r->ns && *r->ns;
	struct kar_buf out = { 0 };

	kar_buf_printf(&out, "%s %s", kar_verb_name(r->verb), r->res->plural);
	if (r->subresource)
		kar_buf_printf(&out, "/%s", r->subresource);
	if (r->name)
		kar_buf_printf(&out, " %s%s%s", in_ns ? r->ns : "", in_ns ? "/" : "", r->name);
	else if (in_ns)
		kar_buf_printf(&out, " in %s", r->ns);
	return kar_buf_detach(&out);
}

bool kar_request_is_whole(const struct kar_request *r)
{
	bool is_of_one = (r->verb == KAR_GET && r->name) || r->verb == KAR_UPDATE || r->verb == KAR_PATCH ||
		r->verb == KAR_DELETE;

	return !is_of_one || r->path || (r->name && *r->name);
}

/* DeleteOptions, those of the caller or none, with what else the request asks for. */
static void put_delete_options(struct kar_buf *out, const struct kar_request *r)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf none = { 0 };
	struct kar_str options = r->body;

	if (!options.n) {
		kar_delete_options(&none, NULL, 0, NULL, -1);
		options = (struct kar_str){ none.p, none.n };
	}
	if (r->dry_run) {
		assert(options.n > 2 &&
			options.p[options.n - 1] == '}'); /* of kar_delete_options(): it has members */
		kar_buf_append(out, options.p, options.n - 1);
		kar_buf_puts(out, ",\"dryRun\":[\"All\"]}");
	} else {
		kar_buf_append(out, options.p, options.n);
	}
}

char *kar_request_body(const struct kar_request *r, size_t *n)
{
	bool is_delete = r->verb == KAR_DELETE || r->verb == KAR_DELETECOLLECTION;
	struct kar_buf body = { 0 };

	if (is_delete)
		put_delete_options(&body, r);
	else if (r->body.n)
		kar_buf_append(&body, r->body.p, r->body.n);
	else
		return NULL;
	*n = body.n;
	return kar_buf_detach(&body);
}

int kar_document_decode(struct kar_arena *arena, const struct kar_desc *desc, struct kar_str body, void *out,
	struct kar_err *err)
{
	static const char envelope[] = { 'k', '8', 's', '\0' };

	if (body.n >= sizeof(envelope) && memcmp(body.p, envelope, sizeof(envelope)) == 0)
		return kar_protobuf_decode(arena, desc, NULL, body.p, body.n, out, err);
	return kar_json_decode(arena, desc, NULL, body.p, body.n, out, err);
}

int kar_answer_read(struct kar_arena *arena, int status, struct kar_str body, bool write,
	struct kar_answer *answer, struct kar_err *err)
{
	struct answer_wire wire = { { 0 } };

	if (kar_document_decode(arena, &answer_desc, body, &wire, err)) {
		kar_wrap(err, "the answer is not one complete document");
		if (err) {
			err->what = write ? KAR_UNKNOWN : KAR_RETRY;
			err->http = status;
		}
		return -1;
	}
	*answer = (struct kar_answer){ .status = status,
		.body = body,
		.uid = wire.meta.uid ? wire.meta.uid : "" };
	if (wire.meta.resource_version)
		answer->rv = kar_rv_parse(wire.meta.resource_version);
	return 0;
}

kar_time kar_bucket_take(struct kar_bucket *b, kar_time now)
{
	double per_ms = b->qps / (double)KAR_SECOND;

	if (b->qps <= 0)
		return 0;
	b->tokens += (double)(now - b->at) * per_ms;
	b->at = now;
	if (b->tokens > b->burst)
		b->tokens = b->burst;
	if (b->tokens < 1)
		return (kar_time)((1 - b->tokens) / per_ms) + 1;
	b->tokens--;
	return 0;
}

bool kar_seen_first(struct kar_seen *s, const char *text)
{
	uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
	for (size_t i = 0; i < KAR_SEEN; i++) {
		if (s->hashes[i] == hash)
			return false;
	}
	s->hashes[s->n++ % KAR_SEEN] = hash;
	return true;
}
