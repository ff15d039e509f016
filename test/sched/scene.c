/*
 * scene - what the placement engine says of scenes whose objects the API server has stored. For test/sched/run.
 *
 * Reads commands, one per line. LENGTH: so many bytes of an object follow, JSON or protobuf, and a newline.
 *   snapshot                 forgets all objects
 *   node LENGTH              a Node
 *   bound LENGTH             a Pod with spec.nodeName
 *   claim, volume, class, driver LENGTH    a PersistentVolumeClaim, a PersistentVolume, a StorageClass, a CSIDriver
 *   deviceclass, slice, template, resourceclaim LENGTH    a DeviceClass, a ResourceSlice, a ResourceClaimTemplate, a ResourceClaim
 *   role NEED WANT LENGTH    of the next gang: a Pod like its members
 *   place NUMBER             the gang; what fits is taken
 * Writes, for each gang:
 *   NUMBER copies N...       per role, how many pods there would be room for if no other came
 *   NUMBER place ROLE NODE N
 *   NUMBER fits | proved TEXT | missed TEXT | unsure TEXT    unsure: kube-scheduler looks at what the engine does not know
 */
#include <err.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/core/node.h"
#include "api/pod/pod.h"
#include "api/pod/pod_needs.h"
#include "common/codec/json.h"
#include "common/codec/protobuf.h"
#include "common/kube/reflector_wire.h"
#include "controllers/cluster/stores.h"

enum { MAX_ROLES = 8 };

struct world {
	struct kar_intern *strings;
	struct kar_stores stores;
	struct kar_sched *sched; /* of its snapshot */
	/* Of the next gang. */
	struct kar_object *templates[MAX_ROLES]; /* pods like its members */
	struct kar_role roles[MAX_ROLES];
	uint32_t n_roles;
	bool pending[MAX_ROLES]; /* a claim keeps its pods from all nodes */
};

/* --- objects ---------------------------------------------------------------------------------------- */

static struct kar_str read_bytes(struct kar_arena *a, size_t n)
{
	char *bytes = kar_arena_alloc(a, n + 1, 1);

	if (fread(bytes, 1, n + 1, stdin) != n + 1 || bytes[n] != '\n')
		errx(1, "an object does not end after %zu bytes", n);
	return (struct kar_str){ .p = bytes, .n = n };
}

/* As the reflector makes it; one reference. */
static struct kar_object *read_object(struct world *w, const struct kar_type *type, size_t n)
{
	struct kar_arena a = { 0 };
	struct kar_str text = read_bytes(&a, n);
	struct kar_wire_object *wire = kar_arena_alloc(&a, 1, type->wire->size);
	struct kar_object *o;
	struct kar_err e;

	if (n && text.p[0] == '{' ? kar_json_decode(&a, type->wire, NULL, text.p, n, wire, &e)
				  : kar_protobuf_decode(&a, type->wire, NULL, text.p, n, wire, &e))
		errx(1, "%s", e.msg);
	if (!wire->meta.resource_version)
		wire->meta.resource_version = "1"; /* the answer to a dry run has none */
	o = kar_wire_object_make(type, wire, w->strings, &e);
	if (!o || o->unreadable)
		errx(1, "%s: %s", type->res.kind, o ? wire->problem : e.msg);
	kar_arena_release(&a);
	return o;
}

static void begin_snapshot(struct world *w)
{
	const struct kar_stores *s = &w->stores;
	struct kar_store *const *read[] = { &s->volumeclaims, &s->volumes, &s->storageclasses, &s->csidrivers,
		&s->deviceclasses, &s->resourceslices, &s->resourceclaims, &s->claimtemplates };

	kar_stores_init(&w->stores, w->strings);
	w->sched = kar_snapshot_sched(w->stores.snapshot);
	/* All of them are read: none is there before the first. */
	for (size_t i = 0; i < KAR_LEN(read); i++) {
		kar_store_replace_begin(*read[i]);
		kar_store_replace_commit(*read[i], 1);
	}
}

/* --- pods ------------------------------------------------------------------------------------------- */

/* Each term also asks for the node; without terms one is made. */
static void add_pin(struct kar_pod_needs *needs, const char *const *pin, struct kar_arena *a)
{
	uint32_t n = needs->has_terms ? needs->n_terms : 1;
	struct kar_node_term *terms = kar_arena_alloc(a, n + 1, sizeof(*terms));

	for (uint32_t i = 0; i < n; i++) {
		const struct kar_node_term *old =
			needs->has_terms ? &needs->terms[i] : &(struct kar_node_term){ 0 };
		struct kar_requirement *all = kar_arena_alloc(a, old->n + 1, sizeof(*all));

		if (old->n)
			memcpy(all, old->requirements, old->n * sizeof(*all));
		all[old->n] = (struct kar_requirement){ .op = KAR_OP_IN,
			.field = true,
			.values = pin,
			.n_values = 1 };
		terms[i] = (struct kar_node_term){ .requirements = all, .n = old->n + 1 };
	}
	needs->has_terms = true;
	needs->terms = terms;
	needs->n_terms = n;
}

/* Of pods to come that are like this one. */
static kar_class class_of(struct world *w, const struct kar_pod *pod)
{
	struct kar_arena a = { 0 };
	struct kar_array labels = kar_pod_labels(pod, &a);
	struct kar_pod_needs needs;
	kar_class c;

	if (pod->needs->unverified)
		errx(1, "%s: kube-scheduler also looks at: %s", pod->o.name, pod->needs->unverified);
	for (uint32_t i = 0; i < pod->needs->n_amounts; i++)
		kar_devices_ask(w->stores.devices, pod->needs->amounts[i].resource);
	needs = *kar_needs_looked_up(&w->stores, pod->o.ns, pod->needs, &a);
	if (pod->pin)
		add_pin(&needs, &pod->pin, &a);
	c = kar_snapshot_class_to_come(w->stores.snapshot, &needs, pod->o.ns, &labels);
	kar_arena_release(&a);
	return c;
}

static bool is_pending(struct world *w, const struct kar_pod *pod)
{
	struct kar_arena a = { 0 };
	bool pending = kar_needs_pending(&w->stores, pod->o.ns, pod->needs, &a).why != NULL;

	kar_arena_release(&a);
	return pending;
}

static void add_role(struct world *w, int32_t need, int32_t want, size_t n)
{
	if (w->n_roles == MAX_ROLES)
		errx(1, "more than %d roles", MAX_ROLES);
	w->templates[w->n_roles] = read_object(w, &kar_pod_type, n);
	w->pending[w->n_roles] = is_pending(w, kar_as_pod(w->templates[w->n_roles]));
	w->roles[w->n_roles++] = (struct kar_role){ .need = need, .want = want };
}

/* Their rules count once all classes are known. */
static void find_classes(struct world *w)
{
	for (uint32_t i = 0; i < w->n_roles; i++)
		class_of(w, kar_as_pod(w->templates[i]));
	kar_snapshot_settle_rules(w->stores.snapshot);
	for (uint32_t i = 0; i < w->n_roles; i++)
		w->roles[i].class = class_of(w, kar_as_pod(w->templates[i]));
}

/* --- gangs ------------------------------------------------------------------------------------------ */

static void print_miss(struct world *w, const struct kar_gang *gang, long number, bool proved)
{
	static const char *const names[MAX_ROLES] = { "0", "1", "2", "3", "4", "5", "6", "7" };
	struct kar_arena a = { 0 };
	const struct kar_sched_why why = kar_sched_explain(w->sched, gang, names, &a);

	printf("%ld %s %" PRId64 " pods placed: %s\n", number, proved ? "proved" : "missed", why.placed,
		why.text);
	kar_arena_release(&a);
}

/* Whether no more can be said than how many pods would fit at most. */
static bool is_unsure(const struct world *w)
{
	bool unsure = false;

	for (uint32_t i = 0; i < w->n_roles; i++)
		unsure |= kar_sched_unverified(w->sched, w->roles[i].class) != NULL;
	return unsure;
}

static bool is_any_pending(const struct world *w)
{
	bool any = false;

	for (uint32_t i = 0; i < w->n_roles; i++)
		any |= w->pending[i];
	return any;
}

static void print_copies(const struct world *w, long number)
{
	printf("%ld copies", number);
	for (uint32_t i = 0; i < w->n_roles; i++)
		printf(" %" PRId64, w->pending[i] ? 0 : kar_sched_copies(w->sched, w->roles[i].class));
	putchar('\n');
}

static void place(struct world *w, long number)
{
	const struct kar_gang gang = { .roles = w->roles, .n_roles = w->n_roles };
	struct kar_placement p;
	struct kar_arena a = { 0 };

	find_classes(w);
	print_copies(w, number);
	if (is_any_pending(w)) {
		printf("%ld proved a claim is not bound\n", number);
	} else if (is_unsure(w)) {
		printf("%ld unsure\n", number);
	} else if (kar_sched_place(w->sched, &gang, &a, &p)) {
		for (uint32_t i = 0; i < p.n_places; i++)
			printf("%ld place %u %s %d\n", number, p.places[i].role, p.places[i].node,
				p.places[i].n);
		printf("%ld fits\n", number);
	} else {
		print_miss(w, &gang, number, p.proved);
	}
	for (uint32_t i = 0; i < w->n_roles; i++)
		kar_object_unref(w->templates[i]);
	w->n_roles = 0;
	kar_arena_release(&a);
}

/* Whether @word is one of an object of a store. */
static bool stored(struct world *w, const char *word, size_t n)
{
	const struct {
		const char *word;
		struct kar_store *store;
	} kinds[] = {
		{ "claim", w->stores.volumeclaims },
		{ "volume", w->stores.volumes },
		{ "class", w->stores.storageclasses },
		{ "driver", w->stores.csidrivers },
		{ "deviceclass", w->stores.deviceclasses },
		{ "slice", w->stores.resourceslices },
		{ "template", w->stores.claimtemplates },
		{ "resourceclaim", w->stores.resourceclaims },
	};

	for (size_t i = 0; i < KAR_LEN(kinds); i++) {
		if (strcmp(word, kinds[i].word) == 0) {
			kar_store_apply(kinds[i].store, read_object(w, kar_store_type(kinds[i].store), n));
			return true;
		}
	}
	return false;
}

static void obey(struct world *w, char *line)
{
	const char *word = strsep(&line, " \n");
	long n[3] = { 0 };

	for (size_t i = 0; i < KAR_LEN(n) && line; i++)
		n[i] = strtol(line, &line, 10);
	if (strcmp(word, "snapshot") == 0) {
		kar_stores_release(&w->stores);
		begin_snapshot(w);
	} else if (strcmp(word, "node") == 0) {
		kar_store_apply(w->stores.nodes, read_object(w, &kar_node_type, (size_t)n[0]));
	} else if (strcmp(word, "bound") == 0) {
		kar_store_apply(w->stores.pods, read_object(w, &kar_pod_type, (size_t)n[0]));
	} else if (strcmp(word, "role") == 0) {
		add_role(w, (int32_t)n[0], (int32_t)n[1], (size_t)n[2]);
	} else if (strcmp(word, "place") == 0) {
		place(w, n[0]);
	} else if (!stored(w, word, (size_t)n[0])) {
		errx(1, "no such command: %s", word);
	}
}

int main(void)
{
	struct world w = { .strings = kar_intern_new() };
	char *line = NULL;
	size_t room = 0;

	begin_snapshot(&w);
	while (getline(&line, &room, stdin) > 0)
		obey(&w, line);
	free(line);
	kar_stores_release(&w.stores);
	kar_intern_free(w.strings);
	return 0;
}
