/*
 * types - what the built-in kinds look like: names, kinds and protobuf numbers of their fields.
 *
 * HTTP clients need it three times: kubectl explain (openapi.h), bodies in protobuf, which typed kubectl commands send
 * (types_protobuf.c), and unknown fields under fieldValidation (types_unknown.c). The registry itself does not
 * look at it. The data (types_data_*.c) are made by hack/sim-types from the Go types; one line describes one message:
 *
 *   PodSpec volumes=1:[]Volume+~name hostname=16:s ...
 *
 * A line that begins with a space goes on with the one before; "@core io.k8s.api.core.v1" begins a package. A field is
 * name=number:type with flags. Types: s string, b bool, i integer, f number, y bytes, T Time, M MicroTime, Q Quantity,
 * I IntOrString, D Duration, R RawExtension or any JSON, else a message, of another package with a dot; [] a list,
 * {} a map, {[]} a map of lists. Flags: * a pointer in Go (present even when zero), ! without omitempty, ^ inlined in JSON,
 * ~key merged by key under strategic merge (~ alone: a set of scalars), + with retainKeys.
 */
#ifndef SIM_TYPES_H
#define SIM_TYPES_H

#include "sim/tree.h"

struct sim_types;
struct sim_type;

enum sim_field_kind {
	SIM_FIELD_STRING = 's',
	SIM_FIELD_BOOL = 'b',
	SIM_FIELD_INT = 'i',
	SIM_FIELD_NUMBER = 'f',
	SIM_FIELD_BYTES = 'y',
	SIM_FIELD_TIME = 'T',
	SIM_FIELD_MICROTIME = 'M',
	SIM_FIELD_QUANTITY = 'Q',
	SIM_FIELD_INT_OR_STRING = 'I',
	SIM_FIELD_DURATION = 'D',
	SIM_FIELD_RAW = 'R',
	SIM_FIELD_MESSAGE = '.',
};

struct sim_field {
	const char *name;
	uint32_t number; /* 0: has no protobuf form */
	enum sim_field_kind kind;
	const struct sim_type *type; /* of SIM_FIELD_MESSAGE */
	bool list, map;              /* both: a map of lists */
	bool pointer, always, inlined, retain_keys;
	const char *merge_key; /* NULL: not merged; "": a set */
};

struct sim_type {
	const char *package;      /* "core" */
	const char *openapi_name; /* "io.k8s.api.core.v1.Pod" */
	const char *name;         /* "Pod" */
	const struct sim_field *fields;
	size_t n;
};

struct sim_types *sim_types_new(void) KAR_MUSTUSE KAR_RETNN;
void sim_types_free(struct sim_types *t); /* accepts NULL */
/* NULL: no such built-in kind. @group as in apiVersion, "" for core. */
const struct sim_type *sim_types_find(const struct sim_types *t, const char *group,
	const char *kind) KAR_NONNULL;
/* The field called @name, also in inlined messages; NULL: there is none. */
const struct sim_field *sim_type_field(const struct sim_type *t, const char *name) KAR_NONNULL;

/*
 * A Kubernetes protobuf document (with its envelope) as the JSON that the same client would have sent: empty members
 * that JSON leaves out are left out. New value, or NULL with KAR_INVALID. Members that the tables do not know are dropped, as
 * by a server that does not know them.
 */
struct sim_value *sim_types_from_protobuf(const struct sim_types *t, const char *bytes, size_t n,
	struct kar_err *err) KAR_MUSTUSE __attribute__((nonnull(1, 2)));

/*
 * Removes members that @t does not have; their paths ("spec.containers[0].imge") are appended as strings to the array
 * *@removed.
 */
void sim_types_prune(const struct sim_type *t, struct sim_value **v, struct sim_value **removed) KAR_NONNULL;

/*
 * What becomes of *@v on its way through the Go structs of a real server (types_decode.c): null, unknown and empty members vanish,
 * members that Go always prints appear, quantities become canonical. Subtrees shared with @old (may be NULL), which went
 * through this before, are not looked into. -1 with KAR_INVALID and the text of Go's decoder at a value of a wrong type.
 */
int sim_types_decode(const struct sim_type *t, struct sim_value **v, const struct sim_value *old,
	struct kar_err *err) __attribute__((nonnull(1, 2)));

#endif
