#include "controllers/runtime/trouble.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/intern.h"
#include "common/base/log.h"
#include "common/base/mem.h"
#include "common/base/timefmt.h"

enum {
	REPEAT = 5 * KAR_MINUTE, /* between two lines about a trouble that lasts */
	TEXTS = 4,               /* that alternate and are logged once each */
};

/* Whom a failure concerns: one cache, or all because of the API server. */
enum scope { ONE_CACHE, UNREACHABLE, NOT_ACCEPTED, BUSY };

/* Something that lasts, and what has been logged about it. */
struct spell {
	bool on;
	kar_time since, logged; /* mono */
	uint64_t texts[TEXTS];  /* hashes, the latest first; 0: none */
};

struct one {
	struct spell spell;
	bool in_outage; /* the last attempt was without an answer */
};

struct kar_trouble {
	const struct kar_manager_options *options;
	struct spell outage;
	enum scope scope;  /* of the outage, at last */
	size_t concerned;  /* caches that are in the outage */
	kar_time answered; /* mono: the first answer since the last failure; 0: none */
	struct one caches[KAR_MANAGER_CACHES];
};

struct kar_trouble *kar_trouble_new(const struct kar_manager_options *o)
{
	struct kar_trouble *t = kar_xcalloc(1, sizeof(*t));

	t->options = o;
	return t;
}

void kar_trouble_free(struct kar_trouble *t)
{
	free(t);
}

bool kar_trouble_is_outage(const struct kar_trouble *t)
{
	return t->outage.on;
}

bool kar_trouble_is_unreachable(const struct kar_trouble *t)
{
	return t->outage.on && t->scope == UNREACHABLE;
}

kar_time kar_trouble_lasts(const struct kar_trouble *t, size_t i, kar_time now)
{
	const struct one *c = &t->caches[i];
	kar_time in_outage = c->in_outage && t->outage.on ? now - t->outage.since : 0;
	kar_time alone = c->spell.on ? now - c->spell.since : 0;

	return in_outage > alone ? in_outage : alone;
}

static enum scope scope_of(const struct kar_err *err)
{
	if (err->cause == KAR_CAUSE_CONNECTION)
		return UNREACHABLE;
	if (err->cause == KAR_CAUSE_CREDENTIALS || err->what == KAR_UNAUTHORIZED)
		return NOT_ACCEPTED;
	/* Other server errors may be about one resource, for example its conversion webhook. */
	return err->what == KAR_RETRY && (err->http == 429 || err->http == 503 || err->http == 504)
		? BUSY
		: ONE_CACHE;
}

/* The text of @err without the request: "list things in default: refused" is true of all caches. */
static const char *without_request(const struct kar_err *err)
{
	bool named = strncmp(err->msg, "list ", 5) == 0 || strncmp(err->msg, "watch ", 6) == 0;
	const char *colon = named ? strstr(err->msg, ": ") : NULL;

	return colon ? colon + 2 : err->msg;
}

/* Numbers do not count: ports of this side and milliseconds differ from attempt to attempt. */
static uint64_t hash_of(enum scope scope, const struct kar_err *err)
{
	uint64_t h = 1 + (uint64_t)scope;

	for (const char *p = without_request(err); *p; p++) {
		if (!isdigit((unsigned char)*p))
			h = kar_hash(h, p, 1);
	}
	return h;
}

/* Should @err be logged now? If so, it is noted as logged. */
static bool is_news(struct spell *s, uint64_t text, kar_time now)
{
	bool known = false;

	if (!s->on)
		*s = (struct spell){ .on = true, .since = now };
	for (size_t i = 0; i < TEXTS; i++)
		known |= s->texts[i] == text;
	if (known && now - s->logged < REPEAT)
		return false;
	if (!known) {
		memmove(&s->texts[1], &s->texts[0], sizeof(s->texts) - sizeof(s->texts[0]));
		s->texts[0] = text;
	}
	s->logged = now;
	return true;
}

/* How long @s has lasted; "" if it has just begun. */
static const char *lasted(const struct spell *s, kar_time now, char out[KAR_TIME_LEN])
{
	out[0] = '\0';
	return now - s->since >= KAR_SECOND ? kar_duration_format(now - s->since, out) : out;
}

/* The action that a person can take. */
static const char *remedy(const struct kar_trouble *t, size_t i, const struct kar_err *err)
{
	const char *if_missing = t->options->caches[i].if_missing;

	if (err->what == KAR_NOTFOUND && if_missing)
		return if_missing;
	if (err->what == KAR_DENIED && t->options->ns)
		return "grant list and watch on this resource as in manifests/namespaced/rbac.yaml; waiting for it";
	if (err->what == KAR_DENIED)
		return "grant get, list and watch on this resource: kubectl apply -f manifests/rbac.yaml; waiting for it";
	return "trying again";
}

static void log_one(const struct kar_trouble *t, size_t i, const struct kar_err *err, kar_time now)
{
	const struct kar_resource *res = &kar_store_type(t->options->caches[i].store)->res;
	char since[KAR_TIME_LEN];

	kar_error(KAR_MSG("Cannot list or watch a resource"), KAR_S("resource", res->plural),
		KAR_S_IF("group", res->group), KAR_S("err", err->msg), KAR_S("remedy", remedy(t, i, err)),
		KAR_S_IF("since", lasted(&t->caches[i].spell, now, since)));
}

static void log_outage(const struct kar_trouble *t, const struct kar_err *err, kar_time now)
{
	static const char *const messages[] = {
		[UNREACHABLE] = "API server unreachable, trying again",
		[NOT_ACCEPTED] = "API server not usable with these credentials, trying again",
		[BUSY] = "API server fails to answer, trying again",
	};
	const char *advice = t->scope == NOT_ACCEPTED
		? "the credentials are not accepted: check the token or certificate in the kubeconfig"
		: NULL;
	char since[KAR_TIME_LEN];

	kar_error(KAR_MSG(messages[t->scope]), KAR_S("err", without_request(err)), KAR_S_IF("remedy", advice),
		KAR_S_IF("since", lasted(&t->outage, now, since)));
}

static void end_outage(struct kar_trouble *t)
{
	char after[KAR_TIME_LEN];

	kar_info(0, KAR_MSG("API server reachable again"),
		KAR_S("after", kar_duration_format(t->answered - t->outage.since, after)));
	t->outage.on = false;
}

static void leave_outage(struct kar_trouble *t, size_t i, kar_time now)
{
	if (!t->caches[i].in_outage)
		return;
	t->caches[i].in_outage = false;
	if (!t->answered)
		t->answered = now;
	if (--t->concerned == 0)
		end_outage(t);
}

static void enter_outage(struct kar_trouble *t, size_t i)
{
	t->concerned += !t->caches[i].in_outage;
	t->caches[i].in_outage = true;
	t->answered = 0;
}

void kar_trouble_failed(struct kar_trouble *t, size_t i, const struct kar_err *err, kar_time now)
{
	enum scope scope = scope_of(err);
	uint64_t text = hash_of(scope, err);

	if (scope != ONE_CACHE) {
		enter_outage(t, i);
		t->scope = scope;
		if (is_news(&t->outage, text, now))
			log_outage(t, err, now);
		return;
	}
	leave_outage(t, i, now);
	if (is_news(&t->caches[i].spell, text, now))
		log_one(t, i, err, now);
}

void kar_trouble_answered(struct kar_trouble *t, size_t i, kar_time now)
{
	leave_outage(t, i, now);
}

void kar_trouble_over(struct kar_trouble *t, size_t i, kar_time now)
{
	const struct kar_resource *res = &kar_store_type(t->options->caches[i].store)->res;
	struct spell *s = &t->caches[i].spell;
	char after[KAR_TIME_LEN];

	leave_outage(t, i, now);
	if (!s->on)
		return;
	kar_info(0, KAR_MSG("Resource is readable again"), KAR_S("resource", res->plural),
		KAR_S_IF("group", res->group), KAR_S("after", kar_duration_format(now - s->since, after)));
	s->on = false;
}
