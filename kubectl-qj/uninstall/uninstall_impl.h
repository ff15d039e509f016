/*
 * uninstall_impl - requests and lists of an uninstall, as the files of this folder see them. Private to them.
 */
#ifndef KAR_UNINSTALL_IMPL_H
#define KAR_UNINSTALL_IMPL_H

#include "common/base/buf.h"
#include "common/base/mem.h"
#include "common/kube/object.h"
#include "common/kube/request.h"
#include "kubectl-qj/uninstall/uninstall.h"

#define KAR_OURS_LABEL "app.kubernetes.io/name"
#define KAR_OURS KAR_OURS_LABEL "=kar-controllers"

enum {
	KAR_UNINSTALL_NAME = KAR_KEY_LEN + 64
}; /* bytes of "CustomResourceDefinition queues.kube-arbitrator.io" */

struct uninstall_pod_spec {
	const char *account; /* a ServiceAccount; NULL: the default one */
};
struct uninstall_template {
	struct uninstall_pod_spec spec;
};
struct uninstall_spec {
	int32_t replicas;                   /* of a Deployment */
	struct uninstall_template template; /* of a Deployment */
	const char *account;                /* of a pod: its ServiceAccount */
};
struct uninstall_subject {
	const char *kind, *ns, *name; /* whom a binding gives a role */
};
struct uninstall_status {
	const char *phase; /* of a pod */
};
struct uninstall_role {
	const char *kind, *name; /* that a binding binds */
};

/* What is read of an object; what its kind does not have is 0 or NULL. */
struct uninstall_item {
	struct kar_wire_meta meta;
	struct uninstall_spec spec;
	struct uninstall_status status;
	struct uninstall_role role;
	struct kar_array subjects; /* struct uninstall_subject */
};

struct uninstall {
	struct kar_loop *loop;
	struct kar_client *client;
	const struct kar_uninstall_options *o;
	struct kar_timer *timer;
	struct kar_arena arena; /* of the list that was read last */
	struct kar_arena kept;
	struct kar_array
		accounts; /* const char *, "namespace/name" of the ServiceAccounts of managers; in .kept */
	/* The request under way. */
	struct kar_buf bytes;
	struct kar_err answer; /* .what KAR_OK: it went well */
	struct kar_err *err;
};

extern const struct kar_resource uninstall_crds;

/* What u->timer calls, @arg being @u: ends the loop. */
void uninstall_wake(void *arg);
/* Runs the loop for so long. */
void uninstall_pause(struct uninstall *u, kar_time ms) KAR_NONNULL;
/* Runs the loop until the answer is in u->answer and, of a list, u->bytes. What may pass by itself is tried again. */
enum kar_class uninstall_ask(struct uninstall *u, struct kar_request q) KAR_NONNULL;
/* "@what: why not; run uninstall again" as the error. Returns -1. */
int uninstall_give_up(struct uninstall *u, const char *what) KAR_NONNULL;
/* struct uninstall_item of the kind, of @selector (NULL: all), until the next list; a kind that the cluster does not know has nothing. */
int uninstall_list(struct uninstall *u, const struct kar_resource *res, const char *selector,
	struct kar_array *items) __attribute__((nonnull(1, 2, 4)));
/* "CustomResourceDefinition queues.kube-arbitrator.io", "Role team-a/kar-controllers" */
const char *uninstall_name(const struct kar_resource *res, const struct uninstall_item *item,
	char out[KAR_UNINSTALL_NAME]) KAR_NONNULL;
/* Says so. What is gone or is being deleted already is left aside. */
int uninstall_delete(struct uninstall *u, const struct kar_resource *res,
	const struct uninstall_item *item) KAR_NONNULL;

/* Time without progress, which is that fewer are left. Begins as {0}. */
struct uninstall_patience {
	size_t least;
	kar_time since, pause;
	int touches; /* since then */
};
/* Pauses while so many are left. Most go at once, so the first pauses are short. -1: nothing has changed for too long; names @first. */
int uninstall_wait_for_fewer(struct uninstall *u, struct uninstall_patience *p, size_t left,
	const char *first) KAR_NONNULL;

/* Notes the ServiceAccounts that the ClusterRoleBindings with our label name. */
int uninstall_note_accounts(struct uninstall *u) KAR_NONNULL;
/*
 * Of Deployments or pods with our label leaves those that run as one of these accounts: anybody can set a label. Without such accounts,
 * when an uninstall goes on whose ClusterRoleBindings are gone, all are left.
 */
void uninstall_leave_managers(const struct uninstall *u, struct kar_array *items) KAR_NONNULL;
/* Takes our finalizer off all queues, until none has it. */
int uninstall_release_queues(struct uninstall *u) KAR_NONNULL;
/* Deletes bindings without our label that bind a role of ours: they give nothing any more when it is gone. To be called before that. */
int uninstall_bindings_of_users(struct uninstall *u) KAR_NONNULL;
/* Has another project installed this CRD, too? Then it gets back what was its own: our label is taken off, and it stays. */
bool uninstall_is_shared(const struct uninstall_item *crd) KAR_NONNULL;
int uninstall_leave(struct uninstall *u, const struct uninstall_item *crd) KAR_NONNULL;
/* Says so if the CRD of PodGroups stays. */
int uninstall_report_podgroups(struct uninstall *u) KAR_NONNULL;

#endif
