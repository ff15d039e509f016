/*
 * pod_direct - pods that the manager binds itself, or creates bound (Direct): they name a scheduler that does not exist, and whose work
 * kar-controllers does (--direct-schedulers). Pure.
 */
#ifndef KAR_API_POD_DIRECT_H
#define KAR_API_POD_DIRECT_H

#include "api/pod/pod.h"

/* Is @name (NULL: no) in @served ("a,b"; NULL or "": none)? */
bool kar_scheduler_is_served(const char *name, const char *served);
/*
 * The kubelet has refused @pod, which was created bound: somebody else took the room first. It never ran. A kubelet that starts again may
 * refuse a pod that ran before, and shows no difference.
 */
bool kar_pod_is_refused(const struct kar_pod *pod) KAR_NONNULL;

#endif
