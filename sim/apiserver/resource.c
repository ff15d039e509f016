#include "sim/apiserver/core.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/intern.h"
#include "common/base/mem.h"

const char *sim_resource_name(const struct sim_resource *r, char *out, size_t size)
{
	snprintf(out, size, "%s%s%s", r->plural, *r->group ? "." : "", r->group);
	return out;
}

const char *sim_keep(struct sim_apiserver *s, const char *text)
{
	size_t size = strlen(text) + 1;
	struct sim_kept *kept = kar_xmalloc(sizeof(*kept) + size);

	memcpy(kept->text, text, size);
	SLIST_INSERT_HEAD(&s->kept, kept, link);
	return kept->text;
}

static size_t bucket_of(const struct sim_apiserver *s, const char *group, const char *version,
	const char *plural)
{
	uint64_t h = kar_hash_str(kar_hash_str(kar_hash_str(0, group), version), plural);

	return (h ^ h >> 32) & (s->n_buckets - 1);
}

static void enter(struct sim_apiserver *s, struct sim_resource *r)
{
	size_t i = bucket_of(s, r->group, r->version, r->plural);

	while (s->buckets[i])
		i = (i + 1) & (s->n_buckets - 1);
	s->buckets[i] = r;
}

/* Enters all again, into a table that is large enough. */
static void rehash(struct sim_apiserver *s)
{
	enum { FEWEST = 256 };

	free(s->buckets);
	s->n_buckets = s->n_buckets ? s->n_buckets : FEWEST;
	while (s->n_buckets <= 2 * s->n_resources)
		s->n_buckets *= 2;
	s->buckets = kar_xcalloc(s->n_buckets, sizeof(struct sim_resource *));
	for (size_t i = 0; i < s->n_resources; i++)
		enter(s, s->resources[i]);
}

struct sim_resource *sim_resource_find(const struct sim_apiserver *s, const char *group, const char *version,
	const char *plural)
{
	for (size_t i = bucket_of(s, group, version, plural);; i = (i + 1) & (s->n_buckets - 1)) {
		struct sim_resource *r = s->buckets[i];

		if (!r ||
			(!strcmp(r->plural, plural) && !strcmp(r->group, group) &&
				!strcmp(r->version, version)))
			return r;
	}
}

struct sim_resource *sim_resource_of_kind(const struct sim_apiserver *s, const char *group, const char *kind)
{
	for (size_t i = 0; i < s->n_resources; i++) {
		if (!strcmp(s->resources[i]->kind, kind) && !strcmp(s->resources[i]->group, group))
			return s->resources[i];
	}
	return NULL;
}

struct sim_resource *sim_resource_of_group(const struct sim_apiserver *s, const char *group,
	const char *plural)
{
	for (size_t i = 0; i < s->n_resources; i++) {
		if (!strcmp(s->resources[i]->plural, plural) && !strcmp(s->resources[i]->group, group))
			return s->resources[i];
	}
	return NULL;
}

struct sim_resource *sim_resource_at(const struct sim_apiserver *s, size_t i)
{
	return i < s->n_resources ? s->resources[i] : NULL;
}

struct sim_resource *sim_resource_add(struct sim_apiserver *s, const struct sim_resource *r)
{
	struct sim_resource *added = kar_xmalloc(sizeof(*added));

	*added = *r;
	if (added->stored_as)
		added->objects = added->stored_as->objects;
	else
		added->objects = sim_collection_new();
	added->objects->limit = s->history;
	added->objects->forgotten = s->rv;
	s->resources = kar_xrealloc(s->resources, s->n_resources + 1, sizeof(struct sim_resource *));
	s->resources[s->n_resources++] = added;
	if (s->n_buckets <= 2 * s->n_resources)
		rehash(s);
	else
		enter(s, added);
	return added;
}

void sim_resource_remove(struct sim_apiserver *s, struct sim_resource *r)
{
	size_t i = 0;

	while (s->resources[i] != r)
		i++;
	s->n_resources--;
	memmove(&s->resources[i], &s->resources[i + 1], (s->n_resources - i) * sizeof(struct sim_resource *));
	rehash(s);
	if (!r->stored_as) {
		sim_watches_end(r->objects);
		r->objects->retired = true;
		if (TAILQ_EMPTY(&r->objects->watches))
			sim_collection_free(r->objects);
	}
	r->objects = NULL;
	s->retired = kar_xrealloc(s->retired, s->n_retired + 1, sizeof(struct sim_resource *));
	s->retired[s->n_retired++] = r;
}
