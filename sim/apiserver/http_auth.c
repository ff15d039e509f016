/* Who asks: bearer tokens of the administrator and of service accounts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>

#include "sim/apiserver/http_door_impl.h"

static const char anonymous[] = "system:anonymous";

void sim_door_add_token(struct sim_door *d, const char *text, const char *user)
{
	d->tokens = kar_xrealloc(d->tokens, d->n_tokens + 1, sizeof(*d->tokens));
	d->tokens[d->n_tokens++] = (struct sim_token){ kar_xstrdup(text), kar_xstrdup(user) };
}

static bool same(const char *a, const char *b, size_t n)
{
	unsigned char differs = 0;

	for (size_t i = 0; i < n; i++)
		differs |= (unsigned char)a[i] ^ (unsigned char)b[i];
	return !differs;
}

/* Looks at every byte of every token, so that the time it takes tells nothing about them. */
static const char *user_of(const struct sim_door *d, const char *token)
{
	const char *user = NULL;
	size_t n = strlen(token);

	for (size_t i = 0; i < d->n_tokens; i++) {
		const struct sim_token *t = &d->tokens[i];

		if (strlen(t->text) == n && same(t->text, token, n))
			user = t->user;
	}
	return user;
}

static bool is_public(const struct sim_route *r)
{
	static const char *const paths[] = { "/healthz", "/livez", "/readyz", "/version" };

	for (size_t i = 0; i < KAR_LEN(paths); i++) {
		if (!strncmp(r->path, paths[i], strlen(paths[i])))
			return true;
	}
	return false;
}

static bool refuse_anonymous(struct sim_door_call *c, struct sim_response *refused)
{
	const struct sim_request *rq = &c->route.request;
	const struct sim_resource *r = NULL;
	char method[16];

	if (!c->route.is_resource) {
		strlcpy(method, c->route.method, sizeof(method));
		for (char *p = method; *p; p++)
			*p = (char)(*p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);
		sim_refuse(refused, 403, "Forbidden", "forbidden: User \"%s\" cannot %s path \"%s\"",
			anonymous, method, c->route.path);
		sim_set(&refused->object, sim_object(), "details");
		return false;
	}
	r = sim_resource_find(c->door->server, rq->group, rq->version, rq->resource);
	const struct sim_resource unknown = { .group = rq->group, .plural = rq->resource, .kind = "" };

	return sim_refuse_forbidden(refused, r ? r : &unknown, rq->name ? rq->name : "",
		"User \"%s\" cannot %s resource \"%s\" in API group \"%s\" %s%s%s", anonymous,
		kar_verb_name(rq->verb), rq->resource, rq->group,
		rq->ns ? "in the namespace \"" : "at the cluster scope", rq->ns ? rq->ns : "",
		rq->ns ? "\"" : "");
}

bool sim_door_authenticate(struct sim_door_call *c, struct sim_response *refused)
{
	static const char scheme[] = "Bearer ";
	const char *header = c->rq->authorization, *user = NULL;

	strlcpy(c->user, anonymous, sizeof(c->user));
	if (!header)
		return is_public(&c->route) || refuse_anonymous(c, refused);
	if (!strncasecmp(header, scheme, sizeof(scheme) - 1))
		user = user_of(c->door, header + sizeof(scheme) - 1);
	if (!user)
		return sim_refuse(refused, 401, "Unauthorized", "Unauthorized");
	if (c->rq->impersonate_user && *c->rq->impersonate_user)
		user = c->rq->impersonate_user;
	strlcpy(c->user, user, sizeof(c->user));
	return true;
}

void sim_door_learn_token(struct sim_door_call *c, const struct sim_response *r)
{
	const struct sim_request *rq = &c->route.request;
	const char *token = sim_get_text(r->object, "status", "token");
	char user[512];

	if (r->code != 201 || !token || !rq->ns || !rq->name || !rq->subresource ||
		strcmp(rq->subresource, "token") != 0)
		return;
	snprintf(user, sizeof(user), "system:serviceaccount:%s:%s", rq->ns, rq->name);
	sim_door_add_token(c->door, token, user);
}
