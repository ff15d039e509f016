/*
 * table - what the printers of built-in types and of custom resources share. Private to sim/apiserver/table*.c; what
 * the server calls, sim_table(), is in internal.h. Pure.
 *
 * A Table is the API server's answer to `kubectl get`: it, not kubectl, knows the columns. Cells agree with those of
 * Kubernetes 1.37; the descriptions of the columns are our own.
 */
#ifndef SIM_TABLE_H
#define SIM_TABLE_H

#include "sim/apiserver/internal.h"

struct sim_column {
	const char *name, *type; /* "Age", "string" | "integer" | "boolean" | "date" */
	const char *description;
	int priority;       /* 1: only with -o wide */
	const char *format; /* "name" or NULL */
};

/* One row in the making. */
struct sim_row {
	const struct sim_value *object;
	kar_time now;                 /* wall ms */
	struct sim_value *cells;      /* array */
	struct sim_value *conditions; /* array, or NULL */
};

struct sim_printer {
	const char *group, *plural;
	const struct sim_column *columns; /* ends with a NULL name */
	void (*print)(struct sim_row *row);
};

/* End with a NULL plural. */
extern const struct sim_printer sim_printers_core[];    /* table_core.c */
extern const struct sim_printer sim_printers_service[]; /* table_service.c */
extern const struct sim_printer sim_printers_crd[];     /* table_crd.c */
extern const struct sim_printer sim_printer_pod;        /* table_pod.c */

#define SIM_COLUMN_NAME \
	{ \
		"Name", "string", "Name of the object.", 0, "name" \
	}
#define SIM_COLUMN_AGE \
	{ \
		"Age", "string", "Time since the object was created.", 0, NULL \
	}

void sim_cell(struct sim_row *row, struct sim_value *consumed) KAR_NONNULL;
/* NULL becomes "". */
void sim_cell_text(struct sim_row *row, const char *text);
void sim_cell_int(struct sim_row *row, int64_t n) KAR_NONNULL;
void sim_cell_name(struct sim_row *row) KAR_NONNULL;
void sim_cell_age(struct sim_row *row) KAR_NONNULL;

/* "5m20s" as kubectl prints durations; "<invalid>" for more than a second below 0. @out is returned. */
const char *sim_human_duration(kar_time ms, char out[32]) KAR_RETNN KAR_NONNULL;
/* Time since the RFC 3339 text @time; "<unknown>" if it is absent, "<invalid>" if it is none. */
const char *sim_since(kar_time now, const char *time, char out[32]) KAR_RETNN __attribute__((nonnull(3)));
/* "a=1,b=2" in order of keys, "<none>" if empty. New value. */
struct sim_value *sim_labels_text(const struct sim_value *labels) KAR_RETNN;
/* The condition of @object's status with this type, or NULL. Borrowed. */
const struct sim_value *sim_condition(const struct sim_value *object, const char *type) KAR_NONNULL;

/* table_custom.c: one cell of a custom resource; null if the path leads nowhere. New value. @type: of the column. */
struct sim_value *sim_custom_cell(const struct sim_value *object, const char *path, const char *type,
	kar_time now) KAR_RETNN __attribute__((nonnull(1)));
/*
 * The first value a simple JSONPath finds: members (.a.b, ['a'], .a\.b), elements ([0], [*]) and filters
 * ([?(@.type=="Ready")]). Borrowed; NULL: nothing, or a path of another form.
 */
const struct sim_value *sim_jsonpath(const struct sim_value *v, const char *path) __attribute__((nonnull(2)));

#endif
