/*
 * template_admission - which templates the API server judges alike.
 *
 * Admission looks at what a pod may do: its ServiceAccount, security settings, volumes, host namespaces, images and labels
 * (plugins of Kubernetes; https://kubernetes.io/docs/reference/access-authn-authz/admission-controllers/; policies of others look at
 * the same). Arguments, variables and working directories differ between the jobs of a pipeline and decide nothing. What a pod needs of
 * a node is told apart by its needs (api/pod/pod_needs.h).
 */
#ifndef KAR_API_TEMPLATE_ADMISSION_H
#define KAR_API_TEMPLATE_ADMISSION_H

#include "common/base/base.h"
#include "common/base/mem.h"
#include "common/base/str.h"

/* A hash of all that admission looks at in @raw, the JSON of a PodTemplateSpec; 0: it cannot be read. */
uint64_t kar_template_admission(struct kar_str raw, struct kar_arena *scratch) KAR_NONNULL;

#endif
