#include "sim/apiserver/discovery.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

/* The order of built-in groups; custom ones come behind, by name. */
static const char *const group_order[] = { "", "apps", "events.k8s.io", "authorization.k8s.io", "policy",
	"rbac.authorization.k8s.io", "apiextensions.k8s.io", "scheduling.k8s.io", "coordination.k8s.io" };

static size_t rank(const char *group)
{
	for (size_t i = 0; i < KAR_LEN(group_order); i++) {
		if (!strcmp(group, group_order[i]))
			return i;
	}
	return KAR_LEN(group_order);
}

/* "v2beta1" in numbers; stable versions are the highest level, other names than these the lowest. */
struct maturity {
	int level;
	long major, minor;
};

/* The digits at @text; *@end is what follows them. */
static bool take_number(const char *text, long *value, const char **end)
{
	char *rest;

	if (!isdigit((unsigned char)text[0]))
		return false;
	*value = strtol(text, &rest, 10);
	*end = rest;
	return true;
}

static bool is_word(const char *text, size_t n, const char *word)
{
	return n == strlen(word) && !memcmp(text, word, n);
}

static struct maturity maturity_of(const char *version)
{
	enum { NO_VERSION, ALPHA, BETA, STABLE };
	struct maturity m = { NO_VERSION, 0, 0 };
	const char *word, *end;
	size_t n;

	if (version[0] != 'v' || !take_number(version + 1, &m.major, &word))
		return m;
	n = strcspn(word, "0123456789");
	if (!*word)
		m.level = STABLE;
	else if (take_number(word + n, &m.minor, &end) && !*end)
		m.level = is_word(word, n, "beta") ? BETA : is_word(word, n, "alpha") ? ALPHA : NO_VERSION;
	return m;
}

/* The order in which clients prefer versions: v2, v1, v1beta1, v1alpha1, others by name. */
static int by_maturity(const char *a, const char *b)
{
	struct maturity x = maturity_of(a), y = maturity_of(b);

	if (x.level != y.level)
		return x.level > y.level ? -1 : 1;
	if (x.level && x.major != y.major)
		return x.major > y.major ? -1 : 1;
	if (x.level && x.minor != y.minor)
		return x.minor > y.minor ? -1 : 1;
	return strcmp(a, b);
}

static int by_rank(const void *a, const void *b)
{
	const struct sim_group_version *x = a, *y = b;
	size_t rx = rank(x->group), ry = rank(y->group);
	int group = strcmp(x->group, y->group);

	if (rx != ry)
		return rx < ry ? -1 : 1;
	return group ? group : by_maturity(x->version, y->version);
}

static struct sim_group_version *find(struct sim_group_versions *l, const struct sim_resource *r)
{
	for (size_t i = 0; i < l->n; i++) {
		if (!strcmp(l->items[i].group, r->group) && !strcmp(l->items[i].version, r->version))
			return &l->items[i];
	}
	return NULL;
}

static void add(struct sim_group_versions *l, const struct sim_resource *r)
{
	struct sim_group_version *known = find(l, r);

	if (known) {
		known->custom &= r->custom;
		return;
	}
	l->items = kar_xrealloc(l->items, l->n + 1, sizeof(*l->items));
	l->items[l->n++] = (struct sim_group_version){ r->group, r->version, r->custom };
}

struct sim_group_versions sim_group_versions_of(const struct sim_apiserver *s)
{
	struct sim_group_versions l = { 0 };
	const struct sim_resource *r;

	for (size_t i = 0; (r = sim_resource_at(s, i)) != NULL; i++) {
		if (!r->unserved)
			add(&l, r);
	}
	if (l.n)
		qsort(l.items, l.n, sizeof(*l.items), by_rank);
	return l;
}

void sim_group_versions_release(struct sim_group_versions *l)
{
	free(l->items);
	*l = (struct sim_group_versions){ 0 };
}

bool sim_group_is_served(const struct sim_apiserver *s, const char *group, const char *version)
{
	const struct sim_resource *r;

	for (size_t i = 0; (r = sim_resource_at(s, i)) != NULL; i++) {
		if (!r->unserved && !strcmp(r->group, group) && (!version || !strcmp(r->version, version)))
			return true;
	}
	return false;
}

static const struct sim_subresource subresources[] = {
	{ "", "namespaces", "finalize", NULL, NULL, NULL, KAR_UPDATE },
	{ "", "pods", "binding", "", "v1", "Binding", KAR_CREATE },
	{ "", "pods", "eviction", "policy", "v1", "Eviction", KAR_CREATE },
	{ "", "pods", "log", NULL, NULL, NULL, KAR_GET },
	{ "", "serviceaccounts", "token", "authentication.k8s.io", "v1", "TokenRequest", KAR_CREATE },
};

const struct sim_subresource *sim_subresource_at(const struct sim_resource *r, size_t i)
{
	for (size_t k = 0; k < KAR_LEN(subresources); k++) {
		const struct sim_subresource *sub = &subresources[k];

		if (!strcmp(sub->group, r->group) && !strcmp(sub->plural, r->plural) && i-- == 0)
			return sub;
	}
	return NULL;
}

bool sim_resource_has(const struct sim_resource *r, const char *subresource)
{
	const struct sim_subresource *sub;

	if (!strcmp(subresource, "status"))
		return r->has_status;
	for (size_t i = 0; (sub = sim_subresource_at(r, i)) != NULL; i++) {
		if (!strcmp(sub->name, subresource))
			return true;
	}
	return false;
}
