/*
 * types - the resource types that the manager reads, and what their cached objects hold.
 *
 * Each type has a table for JSON (only the fields named here are ever stored), a project() that makes the compact
 * cached object, and where the project writes the type, functions that write its JSON. No I/O. The cached
 * objects are immutable; strings live in the object's own memory unless marked interned.
 * Cast from struct kar_object with the kar_as_xxx() functions, which assert the type.
 */
#ifndef KAR_API_TYPES_H
#define KAR_API_TYPES_H

#include "api/deviceclass.h"
#include "api/disruptionbudget.h"
#include "api/limitrange.h"
#include "api/namespace.h"
#include "api/node.h"
#include "api/podgroup.h"
#include "api/pod.h"
#include "api/priorityclass.h"
#include "api/queue.h"
#include "api/queuejob.h"
#include "api/resourceclaim.h"
#include "api/resourcequota.h"
#include "api/resourceslice.h"
#include "api/schedulingspec.h"
#include "api/service.h"

#endif
