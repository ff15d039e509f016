#include <string.h>

#include "common/base/intern.h"
#include "sim/nodes/internal.h"

/* Most texts of statuses are few words said again and again: objects share them. */

struct sim_value *sim_word(struct sim_nodes *n, const char *text)
{
	struct sim_value **place = &n->words[kar_hash_str(0, text) % KAR_LEN(n->words)];

	if (!*place || strcmp(sim_text(*place), text) != 0) {
		sim_unref(*place);
		*place = sim_string(text);
	}
	return sim_ref(*place);
}

struct sim_value *sim_moment(struct sim_nodes *n, kar_time wall)
{
	kar_time second = wall / KAR_SECOND;
	struct sim_moment *m = &n->moments[(uint64_t)second % KAR_LEN(n->moments)];

	if (!m->value || m->second != second) {
		sim_unref(m->value);
		m->value = sim_time(wall);
		m->second = second;
	}
	return sim_ref(m->value);
}

struct sim_value *sim_now(struct sim_nodes *n)
{
	return sim_moment(n, sim_timeline_wall(n->timeline));
}

void sim_words_release(struct sim_nodes *n)
{
	for (size_t i = 0; i < KAR_LEN(n->words); i++)
		sim_unref(n->words[i]);
	for (size_t i = 0; i < KAR_LEN(n->moments); i++)
		sim_unref(n->moments[i].value);
}
