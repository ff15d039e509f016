/*
 * verb - what can be done with a Kubernetes object. Constants only, so that plans can name verbs without the client.
 */
#ifndef KAR_VERB_H
#define KAR_VERB_H

#include "common/base/base.h"

enum kar_verb {
	KAR_GET,
	KAR_LIST,
	KAR_WATCH,
	KAR_CREATE,
	KAR_UPDATE,
	KAR_PATCH,
	KAR_DELETE,
	KAR_DELETECOLLECTION,
};
const char *kar_verb_name(enum kar_verb v); /* "get" ..., as in RBAC rules */

enum kar_patch_type {
	KAR_PATCH_JSON,      /* application/json-patch+json */
	KAR_PATCH_MERGE,     /* application/merge-patch+json */
	KAR_PATCH_STRATEGIC, /* application/strategic-merge-patch+json; built-in types only */
	KAR_PATCH_APPLY,     /* application/apply-patch+yaml; needs field_manager */
};

#endif
