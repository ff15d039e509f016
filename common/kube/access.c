#include "common/kube/access.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <bsd/sys/queue.h>

#include "common/base/buf.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/siphash.h"
#include "common/codec/json.h"
#include "common/kube/request.h"

#define ALLOWED_FOR KAR_MINUTE
#define DENIED_FOR (10 * KAR_SECOND)
#define REVIEW_TIMEOUT (5 * KAR_SECOND)
#define COMPLAIN_AGAIN (5 * KAR_MINUTE)

/* Of token, verb and path, by two keys: nobody can make a token that looks like another one. */
struct fingerprint {
	uint64_t a, b;
};

struct remembered {
	struct fingerprint who;
	int status;
	kar_time until; /* mono; 0: free */
};

struct question {
	TAILQ_ENTRY(question) link;
	struct kar_access *access;
	struct fingerprint who;
	char *verb, *path;
	struct kar_call *call;
	kar_access_fn *done;
	void *arg;
};

struct kar_access {
	struct kar_loop *loop;
	struct kar_client *client;
	struct kar_hash_key keys[2];
	struct remembered cache[KAR_ACCESS_REMEMBERED];
	TAILQ_HEAD(, question) open;
	size_t n_open;
	struct kar_bucket strangers; /* what they may ask */
	kar_time complained;         /* mono; 0: never, or the API server has answered since */
};

static const struct kar_resource tokenreviews = { .group = "authentication.k8s.io",
	.version = "v1",
	.plural = "tokenreviews",
	.kind = "TokenReview" };
static const struct kar_resource accessreviews = { .group = "authorization.k8s.io",
	.version = "v1",
	.plural = "subjectaccessreviews",
	.kind = "SubjectAccessReview" };

/* ---- what the API server says ---- */

struct user {
	const char *name, *uid;
	struct kar_array groups; /* const char * */
	struct kar_str extra;    /* a JSON object, passed on as it is */
};
static const struct kar_field user_fields[] = {
	KAR_FIELD(struct user, name, "username", KAR_F_STRING),
	KAR_FIELD(struct user, uid, "uid", KAR_F_STRING),
	KAR_FIELD(struct user, groups, "groups", KAR_F_ARRAY),
	KAR_FIELD(struct user, extra, "extra", KAR_F_RAW),
};
static const struct kar_desc user_desc = KAR_DESC("user", struct user, user_fields);

struct review_status {
	bool authenticated, allowed;
	struct user user;
};
static const struct kar_field status_fields[] = {
	KAR_FIELD(struct review_status, authenticated, "authenticated", KAR_F_BOOL),
	KAR_FIELD(struct review_status, allowed, "allowed", KAR_F_BOOL),
	KAR_FIELD_SUB(struct review_status, user, "user", KAR_F_OBJECT, &user_desc),
};
static const struct kar_desc status_desc = KAR_DESC("status", struct review_status, status_fields);

struct review {
	struct review_status status;
};
static const struct kar_field review_fields[] = {
	KAR_FIELD_SUB(struct review, status, "status", KAR_F_OBJECT, &status_desc),
};
static const struct kar_desc review_desc = KAR_DESC("review", struct review, review_fields);

/* ---- what is remembered ---- */

static struct fingerprint fingerprint(const struct kar_access *a, const char *token, const char *verb,
	const char *path)
{
	KAR_CLEANUP(kar_cleanup_buf) struct kar_buf text = { .secret = true };

	kar_buf_printf(&text, "%s %s ", verb, path);
	kar_buf_puts(&text, token);
	return (struct fingerprint){ kar_siphash(&a->keys[0], text.p, text.n),
		kar_siphash(&a->keys[1], text.p, text.n) };
}

static int recall(const struct kar_access *a, struct fingerprint who)
{
	kar_time now = kar_loop_mono(a->loop);

	for (size_t i = 0; i < KAR_LEN(a->cache); i++) {
		const struct remembered *r = &a->cache[i];

		if (r->until > now && r->who.a == who.a && r->who.b == who.b)
			return r->status;
	}
	return 0;
}

/* Was the last answer a yes, however long ago? */
static bool is_known(const struct kar_access *a, struct fingerprint who)
{
	for (size_t i = 0; i < KAR_LEN(a->cache); i++) {
		const struct remembered *r = &a->cache[i];

		if (r->status == 200 && r->who.a == who.a && r->who.b == who.b)
			return true;
	}
	return false;
}

static bool goes_before(const struct remembered *x, const struct remembered *y)
{
	if ((x->status == 200) != (y->status == 200))
		return x->status != 200;
	return x->until < y->until;
}

/* In its own place, else in that of what would be forgotten first; a yes only gives way to a yes. */
static void remember(struct kar_access *a, struct fingerprint who, int status)
{
	struct remembered *oldest = &a->cache[0];

	for (size_t i = 0; i < KAR_LEN(a->cache); i++) {
		struct remembered *r = &a->cache[i];

		if (r->until && r->who.a == who.a && r->who.b == who.b) {
			oldest = r;
			break;
		}
		if (goes_before(r, oldest))
			oldest = r;
	}
	if (oldest->status == 200 && status != 200 && !is_known(a, who))
		return;
	*oldest = (struct remembered){ who, status,
		kar_loop_mono(a->loop) + (status == 200 ? ALLOWED_FOR : DENIED_FOR) };
}

/* ---- a question ---- */

static void drop(struct question *q)
{
	TAILQ_REMOVE(&q->access->open, q, link);
	q->access->n_open--;
	free(q->verb);
	free(q->path);
	free(q);
}

static void end(struct question *q, int status)
{
	kar_access_fn *done = q->done;
	void *arg = q->arg;

	if (status != 503)
		remember(q->access, q->who, status);
	drop(q);
	done(arg, status);
}

/* The API server has not answered. */
static void end_unknown(struct question *q, const struct kar_err *err)
{
	struct kar_access *a = q->access;
	kar_time now = kar_loop_mono(a->loop);
	const char *remedy = err->what == KAR_DENIED
		? "grant create on tokenreviews and subjectaccessreviews: kubectl apply -f manifests/rbac.yaml"
		: NULL;

	if (!a->complained || now - a->complained >= COMPLAIN_AGAIN) {
		a->complained = now;
		kar_error(KAR_MSG("Cannot ask the API server who may read metrics: nobody is answered"),
			KAR_S("err", err->msg), KAR_S_IF("remedy", remedy));
	}
	end(q, 503);
}

static void review(struct question *q, const struct kar_resource *res, const struct kar_buf *body,
	void (*on_done)(void *arg, const struct kar_answer *answer, const struct kar_err *err))
{
	struct kar_request rq = kar_client_create(res, NULL, (struct kar_str){ body->p, body->n });

	/* Never behind writes for jobs. A review changes nothing, so the fence of those who wait for the lease lets it through. */
	rq.lane = KAR_LANE_LISTS;
	rq.replayable = true;
	rq.timeout = REVIEW_TIMEOUT;
	rq.on_done = on_done;
	rq.arg = q;
	q->call = kar_client_start(q->access->client, &rq);
}

static int read_review(struct kar_arena *arena, const struct kar_answer *answer, struct review *out,
	struct kar_err *err)
{
	return kar_json_decode(arena, &review_desc, NULL, answer->body.p, answer->body.n, out, err);
}

static void on_access(void *arg, const struct kar_answer *answer, const struct kar_err *failure)
{
	struct question *q = arg;
	struct kar_arena arena = { 0 };
	struct review r = { 0 };
	struct kar_err err;

	if (failure) {
		end_unknown(q, failure);
	} else if (read_review(&arena, answer, &r, &err)) {
		end_unknown(q, &err);
	} else {
		q->access->complained = 0;
		end(q, r.status.allowed ? 200 : 403);
	}
	kar_arena_release(&arena);
}

static void begin_review(struct kar_json_writer *w, struct kar_buf *body, const char *api_version,
	const char *kind)
{
	kar_json_writer_init(w, body);
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "apiVersion", api_version);
	kar_jw_kv_string(w, "kind", kind);
	kar_jw_key(w, "spec");
	kar_jw_begin_object(w);
}

static void end_review(struct kar_json_writer *w)
{
	kar_jw_end_object(w);
	kar_jw_end_object(w);
	kar_json_writer_release(w);
}

static void ask_for_access(struct question *q, const struct user *u)
{
	struct kar_buf body = { 0 };
	struct kar_json_writer w;

	begin_review(&w, &body, "authorization.k8s.io/v1", accessreviews.kind);
	kar_jw_kv_string(&w, "user", u->name ? u->name : "");
	if (u->uid)
		kar_jw_kv_string(&w, "uid", u->uid);
	kar_jw_key(&w, "groups");
	kar_jw_begin_array(&w);
	for (size_t i = 0; i < u->groups.n; i++)
		kar_jw_string(&w, ((const char *const *)u->groups.items)[i]);
	kar_jw_end_array(&w);
	if (u->extra.n) {
		kar_jw_key(&w, "extra");
		kar_jw_raw(&w, u->extra);
	}
	kar_jw_key(&w, "nonResourceAttributes");
	kar_jw_begin_object(&w);
	kar_jw_kv_string(&w, "path", q->path);
	kar_jw_kv_string(&w, "verb", q->verb);
	kar_jw_end_object(&w);
	end_review(&w);
	review(q, &accessreviews, &body, on_access);
	kar_buf_release(&body);
}

static void on_token(void *arg, const struct kar_answer *answer, const struct kar_err *failure)
{
	struct question *q = arg;
	struct kar_arena arena = { 0 };
	struct review r = { 0 };
	struct kar_err err;

	q->call = NULL;
	if (failure)
		end_unknown(q, failure);
	else if (read_review(&arena, answer, &r, &err))
		end_unknown(q, &err);
	else if (!r.status.authenticated)
		end(q, 401);
	else
		ask_for_access(q, &r.status.user);
	kar_arena_release(&arena);
}

static void ask_for_user(struct question *q, const char *token)
{
	struct kar_buf body = { .secret = true };
	struct kar_json_writer w;

	begin_review(&w, &body, "authentication.k8s.io/v1", tokenreviews.kind);
	kar_jw_kv_string(&w, "token", token);
	end_review(&w);
	review(q, &tokenreviews, &body, on_token);
	kar_buf_release(&body);
}

/* ---- */

static const char *token_of(const char *authorization)
{
	static const char scheme[] = "Bearer ";
	size_t n = strlen(scheme);

	if (!authorization || strncasecmp(authorization, scheme, n) != 0)
		return NULL;
	authorization += n;
	authorization += strspn(authorization, " ");
	return *authorization ? authorization : NULL;
}

static bool may_ask(struct kar_access *a, struct fingerprint who)
{
	if (is_known(a, who))
		return a->n_open < KAR_ACCESS_ASKED;
	return a->n_open < KAR_ACCESS_STRANGERS &&
		kar_bucket_take(&a->strangers, kar_loop_mono(a->loop)) == 0;
}

void kar_access_ask(struct kar_access *a, const char *authorization, const char *verb, const char *path,
	kar_access_fn *done, void *arg)
{
	const char *token = token_of(authorization);
	struct fingerprint who = token ? fingerprint(a, token, verb, path) : (struct fingerprint){ 0 };
	int known = token ? recall(a, who) : 401;
	struct question *q;

	if (!known && !may_ask(a, who))
		known = 503;
	if (known) {
		done(arg, known);
		return;
	}
	q = kar_xcalloc(1, sizeof(*q));
	q->access = a;
	q->who = who;
	q->verb = kar_xstrdup(verb);
	q->path = kar_xstrdup(path);
	q->done = done;
	q->arg = arg;
	TAILQ_INSERT_TAIL(&a->open, q, link);
	a->n_open++;
	ask_for_user(q, token);
}

struct kar_access *kar_access_new(struct kar_loop *l, struct kar_client *client)
{
	struct kar_access *a = kar_xcalloc(1, sizeof(*a));

	a->loop = l;
	a->client = client;
	a->strangers = (struct kar_bucket){ .qps = KAR_ACCESS_RATE,
		.burst = KAR_ACCESS_STRANGERS,
		.tokens = KAR_ACCESS_STRANGERS,
		.at = kar_loop_mono(l) };
	a->keys[0] = kar_hash_key_new();
	a->keys[1] = kar_hash_key_new();
	TAILQ_INIT(&a->open);
	return a;
}

void kar_access_free(struct kar_access *a)
{
	if (!a)
		return;
	while (!TAILQ_EMPTY(&a->open)) {
		struct question *q = TAILQ_FIRST(&a->open);

		kar_client_cancel(a->client, q->call);
		drop(q);
	}
	free(a);
}
