/* Open addressing, linear probing, and removal by moving back what follows (Knuth, TAOCP 3, 6.4, algorithm R). */
#include "common/sched/table.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/mem.h"

enum { FIRST_SLOTS = 64 };

void kar_table_release(struct kar_table *t)
{
	free(t->slots);
	*t = (struct kar_table){ 0 };
}

static uint32_t hash_of(const struct kar_table *t, const char *text)
{
	return (uint32_t)kar_siphash(&t->key, text, strlen(text));
}

static size_t home(const struct kar_table *t, uint32_t hash)
{
	return hash & (t->n_slots - 1);
}

static size_t after(const struct kar_table *t, size_t i)
{
	return (i + 1) & (t->n_slots - 1);
}

static struct kar_table_slot *find(const struct kar_table *t, const char *text, uint32_t hash)
{
	size_t i = home(t, hash);

	while (t->slots[i].text && (t->slots[i].hash != hash || strcmp(t->slots[i].text, text) != 0))
		i = after(t, i);
	return &t->slots[i];
}

static void grow(struct kar_table *t)
{
	struct kar_table_slot *old = t->slots;
	size_t n = t->n_slots;

	t->n_slots = n ? 2 * n : FIRST_SLOTS;
	t->slots = kar_xcalloc(t->n_slots, sizeof(*t->slots));
	for (size_t i = 0; i < n; i++) {
		if (old[i].text)
			*find(t, old[i].text, old[i].hash) = old[i];
	}
	free(old);
}

uint32_t *kar_table_find(const struct kar_table *t, const char *text)
{
	struct kar_table_slot *s = t->n ? find(t, text, hash_of(t, text)) : NULL;

	return s && s->text ? &s->value : NULL;
}

void kar_table_add(struct kar_table *t, const char *text, uint32_t value)
{
	uint32_t hash;

	if (!t->n_slots)
		t->key = kar_hash_key_new();
	if (4 * t->n >= 3 * t->n_slots)
		grow(t);
	hash = hash_of(t, text);
	*find(t, text, hash) = (struct kar_table_slot){ text, hash, value };
	t->n++;
}

void kar_table_remove(struct kar_table *t, const char *text)
{
	struct kar_table_slot *s = t->n ? find(t, text, hash_of(t, text)) : NULL;
	size_t hole, i;

	if (!s || !s->text)
		return;
	hole = (size_t)(s - t->slots);
	for (i = after(t, hole); t->slots[i].text; i = after(t, i)) {
		size_t from_home = (i - home(t, t->slots[i].hash)) & (t->n_slots - 1);

		if (from_home < ((i - hole) & (t->n_slots - 1)))
			continue;
		t->slots[hole] = t->slots[i];
		hole = i;
	}
	t->slots[hole] = (struct kar_table_slot){ 0 };
	t->n--;
}
