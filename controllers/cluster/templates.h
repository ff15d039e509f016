/*
 * templates - what the API server has said of the pods that jobs want to create (decision 071).
 *
 * One verdict for each task of a template hash in a namespace, shared by all jobs that have these templates. It comes from a dry run, or
 * from the create of a pod. The pass of queues lets nobody take room from others before the verdict is known; it says which verdicts it
 * wants, and the QueueJob reconciler asks for them. Nothing is stored: a new manager asks again. A verdict that nobody has looked at for
 * KAR_TEMPLATES_STAY is forgotten.
 *
 * Times are monotonic ms.
 */
#ifndef KAR_TEMPLATES_H
#define KAR_TEMPLATES_H

#include "api/pod/pod_stored.h"
#include "api/queuejob/queuejob.h"

#define KAR_TEMPLATES_STAY ((kar_time)15 * KAR_MINUTE)
/* ms for which others wait for the answer to a request; then another job asks, because the first may be gone. */
#define KAR_TEMPLATES_ANSWER ((kar_time)10 * KAR_SECOND)
/* ms for which an acceptance is good enough for others to go: what it depends on may have changed since. The pass comes within seconds of it. */
#define KAR_TEMPLATES_FRESH ((kar_time)10 * KAR_SECOND)
/* ms for which a lost answer counts as a yes, and between two creates whose answers show the whole pod. */
#define KAR_TEMPLATES_PAUSE KAR_MINUTE

/* ms for which what is known of stored pods counts. What admission adds may change. */
#define KAR_TEMPLATES_STORED ((kar_time)10 * KAR_MINUTE)
/* ms for which it counts at least, whatever changes: between two questions; and for which the template itself counts that a quota refuses. */
#define KAR_TEMPLATES_AGAIN ((kar_time)10 * KAR_SECOND)

enum kar_template_verdict {
	KAR_TEMPLATE_UNKNOWN,
	KAR_TEMPLATE_ACCEPTED, /* or refused by a ResourceQuota alone, which is the matter of the queue */
	KAR_TEMPLATE_INVALID,  /* 422, 400: the template must be edited */
	KAR_TEMPLATE_FORBIDDEN, /* 403, 404: RBAC, a policy, or an object that the pod names and that does not exist */
};

struct kar_template {
	enum kar_template_verdict verdict;
	char *message; /* the API server's words; NULL: it has accepted it, or not answered */
	char *gate;    /* of ACCEPTED: its pods get this scheduling gate of others; NULL: they get none */
	/* Of a pod as it is stored (pod_stored.h); NULL: nobody has seen one without a node. */
	struct kar_pod_needs *needs;
	kar_time stored;       /* it was seen then, or the API server could not show one; 0: never */
	kar_time stored_until; /* until then that counts */
	kar_time known;        /* a verdict came then with all that it can say; 0: never */
	kar_time shown;        /* a create was sent then whose answer shows the whole pod; 0: never */
	kar_time wanted;       /* the pass of queues waits for the verdict since then; 0: it does not */
	unsigned tries;        /* refusals in a row */
	kar_time asked;        /* of the request under way; 0: none is */
	kar_time retry_at;     /* a refused one is asked about again then; 0: at once */
};

struct kar_templates;

struct kar_templates *kar_templates_new(void) KAR_MUSTUSE KAR_RETNN;
void kar_templates_free(struct kar_templates *t); /* accepts NULL */

/* The entry of task number @task of @job; NULL: nothing is known. Valid until the next kar_templates_of(). */
struct kar_template *kar_templates_find(struct kar_templates *t, const struct kar_queuejob *job, size_t task,
	kar_time mono) KAR_NONNULL;
/* Likewise, and makes one if there is none. */
struct kar_template *kar_templates_of(struct kar_templates *t, const struct kar_queuejob *job, size_t task,
	kar_time mono) KAR_NONNULL KAR_RETNN;

/*
 * The answer has come at @mono, with @verdict. @message: the words of a refusal. UNKNOWN: the answer says nothing, and what was known stays.
 * @stored: the pod as the answer shows it. NULL: it is a refusal, or it shows the metadata only. The latter says of an accepted template
 * nothing about gates, so it does not count as an answer to whoever waits for one, and .known stays.
 */
void kar_templates_answer(struct kar_templates *t, struct kar_template *e, enum kar_template_verdict verdict,
	const char *message, const struct kar_pod_stored *stored, kar_time mono)
	__attribute__((nonnull(1, 2)));
/*
 * The API server's words about a refused @e for who has task number @task of @job. If they name a pod of another job, which has the same
 * template and has asked, they get the name of the first pod of the task: users of this job need not know the other one.
 */
const char *kar_template_refusal(const struct kar_template *e, const struct kar_queuejob *job, size_t task,
	struct kar_arena *arena) KAR_NONNULL KAR_RETNN;
/* Shall the answer to the next create show the whole pod? True once a minute, if no other answer shows one meanwhile. */
bool kar_template_wants_pod(struct kar_template *e, kar_time mono) KAR_NONNULL;
/* What is known of pods of a task as they are stored. */
struct kar_template_needs {
	/* pod_stored.h; valid until the next answer; NULL: the template itself says it. */
	const struct kar_pod_needs *stored;
	bool known; /* somebody has seen such a pod, or the answer is lost; else the API server can show one */
	kar_time awaited; /* ms for which the pass has been waiting for an answer; 0: it does not */
};

/* Of task number @task of @job: of its template, else of one of the namespace that asks for the same. */
struct kar_template_needs kar_templates_needs(struct kar_templates *t, const struct kar_queuejob *job,
	size_t task, kar_time mono) KAR_NONNULL;
/* What admission adds has changed: what was seen of stored pods counts for KAR_TEMPLATES_AGAIN, counted from then. */
void kar_templates_forget_stored(struct kar_templates *t) KAR_NONNULL;
/*
 * That its pods are accepted (by .verdict, or because some ran) is to be asked once more before others go for them. After KAR_TEMPLATES_ANSWER
 * without an answer what was known counts for as long as a new answer would. @e NULL: nothing was asked yet.
 */
bool kar_template_is_old(const struct kar_template *e, kar_time mono);
/* The pass wants to know the verdict of task number @task of @job. */
void kar_templates_want(struct kar_templates *t, const struct kar_queuejob *job, size_t task,
	kar_time mono) KAR_NONNULL;
/* The pass wants to know what its pods need as they are stored. Of the templates that ask for the same one job asks for all. */
void kar_templates_want_needs(struct kar_templates *t, const struct kar_queuejob *job, size_t task,
	kar_time mono) KAR_NONNULL;
/*
 * Calls @wanted for a job that is to ask, and @answered when a verdict has come that was wanted, or that is another one. Each may be NULL.
 * There is one listener of each.
 */
void kar_templates_listen(struct kar_templates *t, void (*wanted)(void *arg, const struct kar_queuejob *job),
	void (*answered)(void *arg), void *arg) __attribute__((nonnull(1)));

#endif
