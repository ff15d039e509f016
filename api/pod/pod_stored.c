#include "api/pod/pod_stored.h"

#include "api/names.h"
#include "api/pod/pod.h"
#include "api/pod/pod_wire.h"

static const char *gate_of_others(const struct pod_wire_spec *spec)
{
	const struct pod_wire_gate *gates = spec->gates.items;

	for (size_t i = 0; i < spec->gates.n; i++) {
		if (gates[i].name && !kar_streq(gates[i].name, KAR_GATE))
			return gates[i].name;
	}
	return NULL;
}

struct kar_pod_stored kar_pod_stored_of(const struct pod_wire *w, struct kar_arena *a)
{
	return (struct kar_pod_stored){ .gate = gate_of_others(&w->spec),
		.needs = kar_has_text(w->spec.node) ? NULL : pod_needs_of(&w->spec, a) };
}
