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

#include "api/core/deviceclass.h"
#include "api/core/disruptionbudget.h"
#include "api/core/flavor.h"
#include "api/core/limitrange.h"
#include "api/core/namespace.h"
#include "api/core/node.h"
#include "api/podgroup/podgroup.h"
#include "api/pod/pod.h"
#include "api/core/priorityclass.h"
#include "api/queue.h"
#include "api/queuejob/queuejob.h"
#include "api/core/resourceclaim.h"
#include "api/core/resourceclaimtemplate.h"
#include "api/core/resourcequota.h"
#include "api/core/resourceslice.h"
#include "api/queuejob/schedulingspec.h"
#include "api/core/service.h"
#include "api/core/storageclass.h"
#include "api/core/topology.h"
#include "api/suspendable/suspendable.h"
#include "api/trainingjob/trainingjob.h"
#include "api/core/volume.h"
#include "api/core/volumeclaim.h"

#endif
