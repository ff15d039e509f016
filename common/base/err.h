/*
 * err - one error idiom for the whole program.
 *
 * A function that can fail takes a struct kar_err * as its last parameter and returns 0 or -1 (or a
 * pointer or NULL); on failure its other outputs are untouched. The class says what the *caller*
 * should do next, not where the error happened. The text is complete: what, where, what to do.
 * The object has a fixed size (some 1.2 KiB), so that raising an error can itself never fail; a longer text ends in "...".
 */
#ifndef KAR_ERR_H
#define KAR_ERR_H

#include "common/base/base.h"

/* What to do about it. Ordered from harmless to hopeless; kar_err_class_name() names them. */
enum kar_class {
	KAR_OK = 0,
	KAR_RETRY,        /* transient or throttled: try again after retry_after or a back-off */
	KAR_UNKNOWN,      /* a write whose outcome is not known (reply lost): read before judging */
	KAR_CONFLICT,     /* 409 Conflict: somebody wrote first; read again and decide anew */
	KAR_EXISTS,       /* 409 AlreadyExists: look whose object it is */
	KAR_NOTFOUND,     /* 404: the object (or the whole resource type) is not there */
	KAR_GONE,         /* 410 or "resourceVersion too large": list again */
	KAR_UNAUTHORIZED, /* 401: credentials rejected; refresh them */
	KAR_DENIED,       /* 403: RBAC, quota or an admission plug-in refused */
	KAR_INVALID, /* 400, 413, 415, 422 or a document that cannot be parsed: will not pass unchanged */
	KAR_FATAL,   /* going on is impossible without a person (bad flags, unreadable configuration) */
};

/*
 * Why there is no good answer, where a class is not enough to decide. Set once, where the error enters: by common/kube/status.c for
 * what an API server refused, by the client for a request that it did not answer.
 */
enum kar_cause {
	KAR_CAUSE_NONE,           /* another one, or none that is known */
	KAR_CAUSE_QUOTA,          /* a ResourceQuota is exceeded */
	KAR_CAUSE_QUOTA_NEEDS,    /* a ResourceQuota counts what a container does not set */
	KAR_CAUSE_NAMESPACE_ENDS, /* the namespace is being deleted */
	KAR_CAUSE_RBAC,           /* a role lacks the verb; another 403 comes from a policy or a quota */
	KAR_CAUSE_CONNECTION,  /* no answer: there was no connection, TLS failed, or the connection broke */
	KAR_CAUSE_FENCE,       /* no request: this process may not write, since it does not hold the lease */
	KAR_CAUSE_CREDENTIALS, /* no request: the kubeconfig's credentials could not be read or made */
};

/*
 * A few causes of an API server's refusal take some 900 bytes. More would not be shown: what a QueueJob's status says of
 * a refusal ("cannot ...; rolled back ...") and the note of an event end after 1,024.
 */
enum { KAR_ERR_MSG_BYTES = 944 };

/* What a ResourceQuota was said to lack, for people. */
struct kar_quota_words {
	char name[64];  /* of the quota; "": not known, or longer */
	char lacks[96]; /* names of resources, "pods,requests.cpu"; likewise */
};

struct kar_err {
	enum kar_class what;
	enum kar_cause cause;
	int http;                     /* status code, 0 if the error is not an HTTP answer */
	kar_time retry_after;         /* ms the server asked us to wait, 0 if it did not say */
	char reason[64];              /* metav1.Status reason ("AlreadyExists", "Forbidden"), or "" */
	struct kar_quota_words quota; /* of KAR_CAUSE_QUOTA */
	char msg[KAR_ERR_MSG_BYTES];  /* for people; never contains a secret */
};

/* Is what was asked for used up? The same request succeeds once others release some of it. */
static inline bool kar_err_is_shortage(const struct kar_err *e)
{
	return e->cause == KAR_CAUSE_QUOTA;
}

/* Fills @e (which may be NULL) with class and text. Always returns -1: `return kar_fail(...)`. */
int kar_fail(struct kar_err *e, enum kar_class what, const char *fmt, ...) KAR_PRINTF(3, 4);
/* Puts "context: " before the text of @e (which may be NULL); class is kept. Always returns -1. */
int kar_wrap(struct kar_err *e, const char *fmt, ...) KAR_PRINTF(2, 3);
/* Class as a word for logs: "Retry", "Conflict" ... Static string. */
const char *kar_err_class_name(enum kar_class what);

#endif
