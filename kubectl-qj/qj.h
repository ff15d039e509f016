/*
 * qj - what the files of the kubectl plug-in share. Internal to this folder.
 *
 *   options.c  the command line      ask.c   requests, one at a time      table.c  what is printed in columns
 *   help.c     what each command is called and takes                      stream.c changes of an object, and logs
 *   read.c     objects, as far as commands show them                      doc.h    documents as trees
 *   list.c why.c queues.c tree.c who.c wait.c            what commands show
 *   usage.c          what queues and jobs have used
 *   top.c nodes.c    queues and nodes, again and again                    convert*.c objects of other tools as ours
 *   file.c what_if.c  the objects of a file; when one would start
 *   remove.c uninstall/   for the day on which kar-controllers is removed
 *   logs.c follow.c  what pods print: what there is, and what comes
 *   act.c create.c   commands that change a job                           complete.c  what a shell may complete
 *
 * The plug-in has the rights of the user's kubeconfig and no others. What a user may not read is shown as "-". Text from the cluster is printed without
 * control characters (table.c). All memory is in one arena that lives as long as the process.
 */
#ifndef KAR_KUBECTL_QJ_H
#define KAR_KUBECTL_QJ_H

#include <stdio.h>

#include "common/base/base.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/mem.h"
#include "common/codec/decode.h"
#include "common/kube/client.h"
#include "common/kube/kubeconfig.h"

enum qj_output { QJ_TABLE, QJ_WIDE, QJ_JSON, QJ_YAML, QJ_NAME };

/* Of create. Texts as they stand on the command line; NULL: not there. */
struct qj_wish {
	const char *image, *gpu, *cpu, *memory, *queue, *after;
	int32_t replicas, min; /* 0: not there */
};

struct qj_options {
	struct kar_kubeconfig_options cluster;
	const char *as_user;    /* --as; NULL: oneself */
	const char **as_groups; /* --as-group */
	size_t n_as_groups;
	const char *command; /* the first word; NULL: none */
	const char **args;   /* the words behind it */
	const char **rest;   /* those behind "--" */
	int n_args, n_rest;
	const char *ns;              /* -n; NULL: that of the context */
	bool all;                    /* -A */
	const char *labels, *fields; /* -l, --field-selector; NULL: none */
	const char *task;            /* --task; NULL: the only one, or all */
	const char *file;            /* -f of convert and what-if */
	struct qj_wish wish;
	kar_time timeout; /* ms; -1: none */
	enum qj_output output;
	int32_t index;  /* --index; -1: all */
	bool dry_run;   /* --dry-run=server */
	bool dry_here;  /* --dry-run=client */
	bool start;     /* --for=running */
	bool progress;  /* --progress */
	bool keep_crds; /* --keep-crds */
	bool follow;    /* -f of logs */
	bool previous;  /* -p */
	bool watch;     /* -w */
	bool help, version;
};

struct qj {
	struct kar_arena arena;
	struct qj_options o;
	struct kar_kubeconfig kubeconfig;
	struct kar_loop *loop;
	struct kar_client *client;
	struct kar_buf answer; /* of the last request */
	struct kar_err err;    /* of the last request; .what KAR_OK: it succeeded */
	char version[32];      /* of the last list, then of the last change of it; "": list again */
	const char *ns;        /* in which the command works; "" : in all */
	FILE *out;             /* where the answer goes */
	kar_time now;          /* wall ms */
	bool terminal;         /* output goes to one */
	bool colour;
	int width; /* columns of the terminal */
};

/* --- options.c */

/* Reads the command line; the strings are borrowed. */
int qj_options_read(struct qj_options *o, int argc, char **argv, struct kar_arena *a,
	struct kar_err *err) KAR_NONNULL;

/* A number of pods or an index. -1: @text is none. */
int qj_number(const char *text, int32_t *out) KAR_NONNULL;

/* --- help.c */

struct qj_help {
	const char *name, *args; /* "scale", "JOB REPLICAS" */
	const char *what;        /* a line */
	const char *flags;       /* those that only some commands have, "--task --dry-run"; NULL: none */
	const char *more;        /* sentences that end with a new line; NULL: none */
};
/* NULL: no command is called so; of @i: there are no more. */
const struct qj_help *qj_help_of(const char *command);
const struct qj_help *qj_help_at(size_t i);
/* All commands, or one of them. */
void qj_print_help(const struct qj *q, const char *command) __attribute__((nonnull(1)));
/* Says on stderr how the command of @q is used. Returns the exit status. */
int qj_misused(const struct qj *q) KAR_NONNULL;

/* --- ask.c */

/* Loads the kubeconfig and makes the client. */
int qj_open(struct qj *q, struct kar_err *err) KAR_NONNULL;
void qj_close(struct qj *q) KAR_NONNULL;
/* Asks, and waits for the answer; a busy server is asked again. 0: .answer has the body; -1: .err says why not. */
int qj_ask(struct qj *q, struct kar_request r) KAR_NONNULL;
void qj_pause(struct qj *q, kar_time ms) KAR_NONNULL;
/* Prints .err, as kubectl does. Returns the exit status. */
int qj_fail(const struct qj *q) KAR_NONNULL;

/* A page of a list has come: @items is an array of structs of the table that was asked for. -1: enough. */
typedef int qj_page_fn(void *arg, const struct kar_array *items);
struct qj_query {
	const struct kar_resource *res;
	const struct kar_desc *item; /* the table of one */
	const char *ns;              /* "": everywhere */
	const char *labels, *fields; /* selectors; NULL: none */
};
/* All objects that are asked for, page by page. -1: .err says why not. */
int qj_list(struct qj *q, const struct qj_query *query, qj_page_fn *page, void *arg) KAR_NONNULL;
/* One object into @out, a struct of @desc. -1: .err says why not; KAR_NOTFOUND is one reason. */
int qj_get(struct qj *q, const struct kar_resource *res, const char *ns, const char *name,
	const struct kar_desc *desc, void *out) KAR_NONNULL;

/* --- stream.c */

/* How a stream has ended: by the server; by who reads it; by the time that was set; with .err. */
enum qj_streamed { QJ_ENDED, QJ_ENOUGH, QJ_LATE, QJ_BROKEN };
/* Bytes have come. Not 0: enough. */
typedef int qj_bytes_fn(void *arg, const char *bytes, size_t n);
/* Asks for a watch or a log. @limit ms; -1: none. */
enum qj_streamed qj_stream(struct qj *q, struct kar_request r, kar_time limit, qj_bytes_fn *bytes,
	void *arg) KAR_NONNULL;
struct qj_watch {
	const struct kar_resource *res;
	const struct kar_desc *desc; /* of what .seen gets */
	const char *name;
	int (*seen)(void *arg,
		const void *object); /* as it is at first, and after each change; NULL: gone. Not 0: enough */
	void *arg;
};
/* Follows one object of the namespace, also over the end of a watch and the restart of a server. Never returns QJ_ENDED. */
enum qj_streamed qj_watch(struct qj *q, const struct qj_watch *what, kar_time limit) KAR_NONNULL;
/* An object of a list has changed: a struct of its table. @gone: deleted, or not selected any more. */
typedef void qj_change_fn(void *arg, const void *object, bool gone);
/* Follows a list from .version on, until the server ends that (QJ_ENDED), or it fails (QJ_BROKEN). With .version "" it must be listed again. */
enum qj_streamed qj_watch_list(struct qj *q, const struct qj_query *query, qj_change_fn *seen,
	void *arg) KAR_NONNULL;

/* --- table.c */

enum { QJ_COLUMNS = 16 };

/* Rows in columns that are as wide as their widest cell so far. Piped, columns are parted by tabs. */
struct qj_table {
	struct qj *q;
	const char *const *heads; /* ends with NULL */
	int n;                    /* columns */
	int width[QJ_COLUMNS];    /* so far, in characters */
	const char **cells;       /* of the rows that are not printed yet */
	size_t n_cells;
	bool begun;
};

struct qj_table qj_table_begin(struct qj *q, const char *const *heads) KAR_NONNULL;
/* The next cell of the row. @text is copied without control characters; "" is shown as "-". */
void qj_cell(struct qj_table *t, const char *fmt, ...) KAR_PRINTF(2, 3);
/* Prints the rows that are complete. */
void qj_table_flush(struct qj_table *t) KAR_NONNULL;
/* Text of the cluster as it may be printed: control characters are gone; in the arena. */
const char *qj_clean(struct qj *q, const char *text) KAR_NONNULL KAR_RETNN;
/* As fprintf() to .out, without control characters but the new lines at both ends of @fmt. */
void qj_print(struct qj *q, const char *fmt, ...) KAR_PRINTF(2, 3);
/* "12m", "3d4h"; as kubectl shows ages; in the arena. @ms < 0 counts as 0. */
const char *qj_age(struct qj *q, kar_time ms) KAR_NONNULL KAR_RETNN;
/* "[####------]" of @width characters between the brackets; in the arena. */
const char *qj_bar(struct qj *q, double part, int width) KAR_NONNULL KAR_RETNN;

/* @text, or as much of it as @width characters hold, with "..." at its end; in the arena. */
const char *qj_cut(struct qj *q, const char *text, int width) KAR_NONNULL KAR_RETNN;
/* Prints the object as .output asks for: YAML or JSON. Returns the exit status. */
int qj_print_object(struct qj *q, const char *json) KAR_NONNULL;

/* --- read.c */

struct qj_condition {
	const char *type, *status, *reason, *message;
	kar_time since;
};

struct qj_task {
	const char *name;
	int32_t replicas;
	int32_t desired, running, succeeded, failed, pending; /* of its status */
};

struct qj_job_spec {
	const char *queue;
	bool suspend;
	struct kar_array tasks; /* struct qj_task: .name and .replicas */
};
struct qj_what_if_eviction {
	const char *queue;
	int32_t pods;
};
struct qj_what_if {
	const char *answer, *reason, *message, *basis; /* .answer NULL: there is none yet */
	int32_t position;
	kar_time expected;
	struct kar_array evicts; /* struct qj_what_if_eviction */
};
struct qj_usage {
	kar_time time;                       /* until when it is counted; 0: nothing was used */
	struct kar_array seconds, allocated; /* struct kar_pair; .allocated: of a job */
};
struct qj_job_status {
	const char *phase, *reason, *message, *queue;
	int32_t position, desired, running, succeeded, failed, restarts, min_available, incarnation;
	kar_time start, completion;
	struct qj_what_if what_if;
	struct qj_usage usage;
	struct kar_array tasks;      /* struct qj_task */
	struct kar_array conditions; /* struct qj_condition */
};
struct qj_job {
	struct kar_wire_meta meta;
	struct qj_job_spec spec;
	struct qj_job_status status;
};
extern const struct kar_desc qj_job_desc;
extern const struct kar_resource qj_jobs;

struct qj_eviction {
	const char *reason, *by, *queue;
	kar_time time;
};
struct qj_group_spec {
	int32_t min_member;
	const char *queue;
};
struct qj_group_status {
	const char *phase, *admitted_queue;
	int32_t position, members, running, scheduled, evictions;
	kar_time estimated_start, waiting_since;
	int64_t waited_seconds;
	struct qj_eviction last_eviction; /* .time 0: none */
	struct kar_array conditions;
};
struct qj_group {
	struct kar_wire_meta meta;
	struct qj_group_spec spec;
	struct qj_group_status status;
};
/* Where the CRD drops most of the status (decision 099), an annotation has it: qj_list() and qj_get() put it in. */
void qj_group_complete(struct qj *q, struct qj_group *g) KAR_NONNULL;
/* The queue in force; as qj_job_queue(). */
const char *qj_group_queue(const struct qj_group *g) KAR_NONNULL KAR_RETNN;
extern const struct kar_desc qj_group_desc;
extern const struct kar_resource qj_groups;

struct qj_queue_spec {
	const char *parent;
	int32_t weight, max_jobs;
	struct kar_array deserved, guarantee, capability; /* struct kar_pair */
};
struct qj_queue_status {
	const char *state, *parent;
	int32_t pending, inqueue, running;
	struct kar_array allocated, entitled; /* struct kar_pair */
	struct qj_usage usage;
	struct kar_array conditions;
};
struct qj_queue {
	struct kar_wire_meta meta;
	struct qj_queue_spec spec;
	struct qj_queue_status status;
};
extern const struct kar_desc qj_queue_desc;
extern const struct kar_resource qj_queues;

/* Names of the resources that it uses, has a right to or may have, once each: const char *. */
struct kar_array qj_queue_resources(struct qj *q, const struct qj_queue *queue) KAR_NONNULL;

struct qj_container_end {
	const char *reason;
	int32_t exit_code;
};
struct qj_container_state {
	struct qj_container_end terminated, waiting, running;
	bool has_terminated, has_running;
};
struct qj_container {
	const char *name;
	bool ready;
	int32_t restarts;
	struct qj_container_state state;
};
struct qj_pod_spec {
	const char *node;
	struct kar_array containers; /* struct qj_container: .name */
};
struct qj_pod_status {
	const char *phase, *reason, *message;
	struct kar_array init_containers, containers; /* struct qj_container */
	struct kar_array conditions;
};
struct qj_pod {
	struct kar_wire_meta meta;
	struct qj_pod_spec spec;
	struct qj_pod_status status;
};
/* The name of its QueueJob, or else of the PodGroup that it names; NULL: it has none. */
const char *qj_pod_of(const struct qj_pod *pod) KAR_NONNULL;
extern const struct kar_desc qj_pod_desc;
extern const struct kar_resource qj_pods;

const struct qj_condition *qj_condition_of(const struct kar_array *conditions, const char *type) KAR_NONNULL;
/* Pods that it asks for in all. */
int64_t qj_job_replicas(const struct qj_job *j) KAR_NONNULL;
/* Of the task @i: its own name, else the one that the manager gives it; in the arena. */
const char *qj_task_name(struct qj *q, const struct qj_job *j, size_t i) KAR_NONNULL KAR_RETNN;
/* The queue in force: that of the status, else that of the spec, else "default". */
const char *qj_job_queue(const struct qj_job *j) KAR_NONNULL KAR_RETNN;

/* --- file.c */

struct qj_doc;
/* A list of the objects of the file that -f names (doc.h). NULL: it has been said why there are none. */
struct qj_doc *qj_read_objects(struct qj *q) KAR_NONNULL;

/* --- remove.c */

/* Says how many batch Jobs of the namespace that was named, or of all, only the manager would resume. */
void qj_report_suspended_jobs(struct qj *q) KAR_NONNULL;

/* --- commands: each returns the exit status */

typedef int qj_command_fn(struct qj *q);
int qj_cmd_list(struct qj *q) KAR_NONNULL;
int qj_cmd_why(struct qj *q) KAR_NONNULL;
int qj_cmd_queues(struct qj *q) KAR_NONNULL;
int qj_cmd_tree(struct qj *q) KAR_NONNULL;
int qj_cmd_suspend(struct qj *q) KAR_NONNULL;
int qj_cmd_resume(struct qj *q) KAR_NONNULL;
int qj_cmd_restart(struct qj *q) KAR_NONNULL;
int qj_cmd_scale(struct qj *q) KAR_NONNULL;
int qj_cmd_cancel(struct qj *q) KAR_NONNULL;
int qj_cmd_move(struct qj *q) KAR_NONNULL;
int qj_cmd_wait(struct qj *q) KAR_NONNULL;
int qj_cmd_create(struct qj *q) KAR_NONNULL;
int qj_cmd_who(struct qj *q) KAR_NONNULL;
int qj_cmd_top(struct qj *q) KAR_NONNULL;
int qj_cmd_usage(struct qj *q) KAR_NONNULL;
int qj_cmd_convert(struct qj *q) KAR_NONNULL;
int qj_cmd_what_if(struct qj *q) KAR_NONNULL;
int qj_cmd_logs(struct qj *q) KAR_NONNULL;
int qj_cmd_uninstall(struct qj *q) KAR_NONNULL;
int qj_cmd_release_gates(struct qj *q) KAR_NONNULL;
int qj_cmd_completion(struct qj *q) KAR_NONNULL;
/* What may stand where the last of @words does, one in a line, as kubectl asks its plug-ins. Opens .client if it is needed. */
int qj_complete(struct qj *q, char **words, int n) KAR_NONNULL;

#endif
