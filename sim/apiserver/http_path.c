#include "sim/apiserver/http_path.h"

#include <ctype.h>
#include <string.h>

#include "sim/apiserver/internal.h"

/* ---- percent encoding ---- */

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The decoded copy of the @n bytes at @s. NULL: a % without two digits, or a NUL byte. */
static char *decode(struct kar_arena *a, const char *s, size_t n, bool plus_is_space)
{
	char *out = kar_arena_alloc(a, n + 1, 1);
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		char c = s[i];

		if (c == '+' && plus_is_space) {
			c = ' ';
		} else if (c == '%') {
			if (n - i < 3 || hex(s[i + 1]) < 0 || hex(s[i + 2]) < 0)
				return NULL;
			c = (char)(hex(s[i + 1]) * 16 + hex(s[i + 2]));
			i += 2;
		}
		if (!c)
			return NULL;
		out[used++] = c;
	}
	return out;
}

/* ---- query ---- */

static void add_parameter(struct kar_arena *a, struct sim_route *r, const char *s, size_t n)
{
	const char *equals = memchr(s, '=', n);
	size_t key = equals ? (size_t)(equals - s) : n;
	struct sim_parameter p;

	if (!n || memchr(s, ';', n))
		return;
	p.key = decode(a, s, key, true);
	p.value = equals ? decode(a, equals + 1, n - key - 1, true) : "";
	if (!p.key || !p.value)
		return;
	r->parameters = kar_arena_grow(a, r->parameters, r->n_parameters, sizeof(*r->parameters));
	r->parameters[r->n_parameters++] = p;
}

static void read_query(struct kar_arena *a, struct sim_route *r, const char *query)
{
	for (const char *p = query; *p;) {
		size_t n = strcspn(p, "&");

		add_parameter(a, r, p, n);
		p += n + (p[n] == '&');
	}
}

const char *sim_route_parameter(const struct sim_route *r, const char *key)
{
	for (size_t i = 0; i < r->n_parameters; i++) {
		if (!strcmp(r->parameters[i].key, key))
			return r->parameters[i].value;
	}
	return NULL;
}

/* ---- path ---- */

enum { MAX_SEGMENTS = 16 };

struct segments {
	char *at[MAX_SEGMENTS]; /* the last one keeps what is left, with its slashes */
	size_t n;
};

static void split(char *path, struct segments *out)
{
	size_t end;

	out->n = 0;
	while (*path == '/')
		path++;
	for (end = strlen(path); end && path[end - 1] == '/'; end--)
		path[end - 1] = '\0';
	while (*path) {
		char *slash = strchr(path, '/');

		out->at[out->n++] = path;
		if (!slash || out->n == MAX_SEGMENTS)
			break;
		*slash = '\0';
		path = slash + 1;
	}
}

static bool any_empty(const struct segments *s)
{
	for (size_t i = 0; i < s->n; i++) {
		if (!*s->at[i])
			return true;
	}
	return false;
}

/* namespaces/x/status and namespaces/x/finalize are of the Namespace itself. */
static bool is_namespace_subresource(const char *word)
{
	return !strcmp(word, "status") || !strcmp(word, "finalize");
}

/* [namespaces NS] RESOURCE [NAME [SUBRESOURCE [REST]]] */
static void read_resource(char **part, size_t n, struct sim_route *r)
{
	struct sim_request *rq = &r->request;

	if (!strcmp(part[0], "namespaces") && n > 2 && !is_namespace_subresource(part[2])) {
		rq->ns = part[1];
		part += 2;
		n -= 2;
	}
	rq->resource = part[0];
	rq->name = n > 1 ? part[1] : NULL;
	rq->subresource = n > 2 ? part[2] : NULL;
	r->rest = n > 3 ? part[3] : NULL;
}

static bool asks_to_watch(const struct sim_route *r)
{
	const char *watch = sim_route_parameter(r, "watch");

	return watch && strcmp(watch, "0") != 0 && strcasecmp(watch, "false") != 0;
}

static bool read_verb(struct sim_route *r)
{
	struct sim_request *rq = &r->request;
	const char *m = r->method;

	if (!strcmp(m, "GET"))
		rq->verb = rq->name ? KAR_GET : asks_to_watch(r) ? KAR_WATCH : KAR_LIST;
	else if (!strcmp(m, "POST"))
		rq->verb = KAR_CREATE;
	else if (!strcmp(m, "PUT"))
		rq->verb = KAR_UPDATE;
	else if (!strcmp(m, "PATCH"))
		rq->verb = KAR_PATCH;
	else if (!strcmp(m, "DELETE"))
		rq->verb = rq->name ? KAR_DELETE : KAR_DELETECOLLECTION;
	else
		return false;
	return true;
}

static bool refuse(struct sim_response *refused, int code, const char *reason, const char *text)
{
	sim_refuse(refused, code, reason, "%s", text);
	sim_set(&refused->object, sim_object(), "details");
	return false;
}

static bool refuse_method(struct sim_response *refused)
{
	return refuse(refused, 405, "MethodNotAllowed",
		"the server does not allow this method on the requested resource");
}

static bool refuse_path(struct sim_response *refused)
{
	return refuse(refused, 404, "NotFound", "the server could not find the requested resource");
}

/* What belongs to /api/VERSION/... or /apis/GROUP/VERSION/...; anything shorter or else is no resource. */
static bool read_path(struct sim_route *r, struct segments *s, struct sim_response *refused)
{
	bool core = s->n && !strcmp(s->at[0], "api"), group = s->n && !strcmp(s->at[0], "apis");
	size_t first = core ? 2 : 3;

	if ((!core && !group) || s->n <= first)
		return true;
	if (any_empty(s) || !strcmp(s->at[first], "watch") || !strcmp(s->at[first], "proxy"))
		return refuse_path(refused);
	r->is_resource = true;
	r->request.group = core ? "" : s->at[1];
	r->request.version = s->at[first - 1];
	read_resource(s->at + first, s->n - first, r);
	return read_verb(r) || refuse_method(refused);
}

bool sim_route_parse(struct kar_arena *a, const char *method, const char *target, struct sim_route *out,
	struct sim_response *refused)
{
	size_t path = strcspn(target, "?");
	struct segments s;
	char *copy;

	*out = (struct sim_route){ .method = kar_arena_strndup(a, method, strlen(method)) };
	out->path = decode(a, target, path, false);
	if (*target != '/' || !out->path)
		return sim_refuse_bad_request(refused, "the request line names no valid path");
	if (target[path])
		read_query(a, out, target + path + 1);
	copy = kar_arena_strndup(a, out->path, strlen(out->path));
	split(copy, &s);
	return read_path(out, &s, refused);
}
