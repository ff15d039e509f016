/*
 * The jobs of Kubeflow: PyTorchJob, TFJob, XGBoostJob, PaddleJob, JAXJob and MPIJob. They differ in the member of the spec that has the
 * replicas, and in their names there. A kind is a row of KINDS.
 */
#include "api/suspendable/suspendable.h"

#include <stdio.h>

#include "api/status/condition.h"
#include "common/base/str.h"

struct wire_role {
	int32_t replicas;
	bool has_replicas;
	struct kar_str template;
};

/* The names that the kinds use; the order is that of their sets. */
#define ROLES(X) \
	X(master, "Master") \
	X(launcher, "Launcher") \
	X(chief, "Chief") \
	X(ps, "PS") \
	X(worker, "Worker") \
	X(evaluator, "Evaluator")

#define MEMBER(member_, name_) struct wire_role *member_;
struct wire_roles {
	ROLES(MEMBER)
};
#undef MEMBER

struct wire_policy {
	bool suspend;
	const char *managed_by;
};

struct wire_spec {
	struct wire_policy policy;
	struct wire_roles roles;
	const char *creation; /* of an MPIJob: when its launcher is made */
};

struct wire_status {
	struct kar_array conditions; /* struct kar_wire_condition */
};

struct wire_job {
	struct kar_wire_object head;
	struct wire_spec spec;
	struct wire_status status;
};

static const struct kar_field role_fields[] = {
	KAR_FIELD_OPT(struct wire_role, replicas, has_replicas, "replicas", KAR_F_INT32),
	KAR_FIELD(struct wire_role, template, "template", KAR_F_RAW),
};
static const struct kar_desc role_desc = KAR_DESC("ReplicaSpec", struct wire_role, role_fields);

#define FIELD(member_, name_) KAR_FIELD_SUB(struct wire_roles, member_, name_, KAR_F_OBJECT_PTR, &role_desc),
static const struct kar_field roles_fields[] = { ROLES(FIELD) };
#undef FIELD
static const struct kar_desc roles_desc = KAR_DESC("ReplicaSpecs", struct wire_roles, roles_fields);

static const struct kar_field policy_fields[] = {
	KAR_FIELD(struct wire_policy, suspend, "suspend", KAR_F_BOOL),
	KAR_FIELD(struct wire_policy, managed_by, "managedBy", KAR_F_STRING),
};
static const struct kar_desc policy_desc = KAR_DESC("RunPolicy", struct wire_policy, policy_fields);

static const struct kar_field status_fields[] = {
	KAR_FIELD_SUB(struct wire_status, conditions, "conditions", KAR_F_ARRAY, &kar_wire_condition_desc),
};
static const struct kar_desc status_desc = KAR_DESC("JobStatus", struct wire_status, status_fields);

static void read_role(struct kar_suspendable *s, const char *in, const char *name,
	const struct wire_role *role)
{
	char at[96];

	if (!role)
		return;
	snprintf(at, sizeof(at), "/spec/%s/%s/template", in, name);
	kar_suspendable_add(s, name, at, role->has_replicas ? role->replicas : 1, role->template);
}

/* @in: the member of the spec that has the replicas. @itself: spec.runPolicy.managedBy of one that no other controller runs. */
static struct kar_object *read_job(const struct wire_job *w, const struct kar_type *type, const char *in,
	const char *itself, struct kar_intern *strings)
{
	struct kar_suspendable *s = kar_suspendable_new(type, &w->head, strings);
	const struct wire_roles *roles = &w->spec.roles;

	s->suspend_in = "runPolicy";
	s->suspended = w->spec.policy.suspend;
	s->ended = kar_suspendable_is_so(&w->status.conditions, "Succeeded") ||
		kar_suspendable_is_so(&w->status.conditions, "Failed");
	s->managed_by = kar_suspendable_manager(s, w->spec.policy.managed_by, itself);
	s->in_turn = kar_streq(w->spec.creation, "WaitForWorkersReady");
#define READ(member_, name_) read_role(s, in, name_, roles->member_);
	ROLES(READ)
#undef READ
	return &s->o;
}

#define OPERATOR "kubeflow.org/training-operator"
/* X(name of the type, version, plural, kind, member of the spec that has the replicas, its own controller). */
#define KINDS(X) \
	X(kar_pytorchjob_type, "v1", "pytorchjobs", "PyTorchJob", "pytorchReplicaSpecs", OPERATOR) \
	X(kar_tfjob_type, "v1", "tfjobs", "TFJob", "tfReplicaSpecs", OPERATOR) \
	X(kar_xgboostjob_type, "v1", "xgboostjobs", "XGBoostJob", "xgbReplicaSpecs", OPERATOR) \
	X(kar_paddlejob_type, "v1", "paddlejobs", "PaddleJob", "paddleReplicaSpecs", OPERATOR) \
	X(kar_jaxjob_type, "v1", "jaxjobs", "JAXJob", "jaxReplicaSpecs", OPERATOR) \
	X(kar_mpijob_type, "v2beta1", "mpijobs", "MPIJob", "mpiReplicaSpecs", "kubeflow.org/mpi-operator")

#define KIND(type_, version_, plural_, kind_, in_, itself_) \
	static const struct kar_field type_##_spec_fields[] = { \
		KAR_FIELD_SUB(struct wire_spec, policy, "runPolicy", KAR_F_OBJECT, &policy_desc), \
		KAR_FIELD_SUB(struct wire_spec, roles, in_, KAR_F_OBJECT, &roles_desc), \
		KAR_FIELD(struct wire_spec, creation, "launcherCreationPolicy", KAR_F_STRING), \
	}; \
	static const struct kar_desc type_##_spec_desc = \
		KAR_DESC(kind_ "Spec", struct wire_spec, type_##_spec_fields); \
	static const struct kar_field type_##_fields[] = { \
		KAR_WIRE_HEAD_FIELDS(struct wire_job), \
		KAR_FIELD_SUB(struct wire_job, spec, "spec", KAR_F_OBJECT, &type_##_spec_desc), \
		KAR_FIELD_SUB(struct wire_job, status, "status", KAR_F_OBJECT, &status_desc), \
	}; \
	static const struct kar_desc type_##_desc = KAR_WIRE_DESC(kind_, struct wire_job, type_##_fields); \
	static struct kar_object *type_##_project(const void *wire, struct kar_intern *strings) \
	{ \
		return read_job(wire, &(type_), in_, itself_, strings); \
	} \
	const struct kar_type type_ = { \
		.res = { .group = "kubeflow.org", \
			.version = (version_), \
			.plural = (plural_), \
			.kind = (kind_), \
			.namespaced = true }, \
		.wire = &type_##_desc, \
		.project = type_##_project, \
		.destroy = kar_suspendable_destroy, \
	};
KINDS(KIND)
