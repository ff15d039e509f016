/*
 * native_group - the PodGroup that Kubernetes itself has, in scheduling.k8s.io: kube-scheduler binds minCount of the pods that name it
 * in spec.schedulingGroup, or none. Another kind than our PodGroup in scheduling.x-k8s.io (api/podgroup/podgroup.h). Pure.
 *
 * It is written, and never cached.
 */
#ifndef KAR_API_NATIVE_GROUP_H
#define KAR_API_NATIVE_GROUP_H

#include "common/kube/object.h"

struct kar_json_writer;

#define KAR_NATIVE_GROUP "scheduling.k8s.io"

/*
 * The newest of the @n @versions of the API group in which minCount can be changed; only its .res is filled in. NULL: there is none. In
 * v1alpha2, the only version of Kubernetes 1.36, it cannot: the replacement of a pod would wait for ever once others have succeeded.
 */
const struct kar_type *kar_native_type(const char *const *versions, size_t n) KAR_NONNULL;

struct kar_native_spec {
	int32_t min_count;
	/* Of all pods: kube-scheduler takes a group only if the priority of each pod is that of the group. NULL or "": none. Immutable. */
	const char *priority_class;
};
/* Writes the object value of the spec of a new one. */
void kar_native_spec_write(struct kar_json_writer *w, const struct kar_native_spec *s) KAR_NONNULL;
/* Writes the merge patch that changes only minCount. */
void kar_native_patch_write(struct kar_json_writer *w, const struct kar_native_spec *s) KAR_NONNULL;

#endif
