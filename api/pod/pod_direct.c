#include "api/pod/pod_direct.h"

#include <string.h>

#include "common/base/str.h"

bool kar_scheduler_is_served(const char *name, const char *served)
{
	size_t n = name ? strlen(name) : 0;

	for (const char *at = served; at; at = strchr(at, ',')) {
		at += strspn(at, ", ");
		if (n && strcspn(at, ", ") == n && !strncmp(at, name, n))
			return true;
	}
	return false;
}

/* Source: the reasons with which admit handlers of the kubelet reject a pod (pkg/kubelet/lifecycle, cm/topologymanager, cm/cpumanager). */
bool kar_pod_is_refused(const struct kar_pod *pod)
{
	static const char *const reasons[] = { "NodeAffinity", "NodePorts", "TaintToleration",
		"UnexpectedAdmissionError", "TopologyAffinityError", "SMTAlignmentError", "PodOSNotSupported",
		"PodOSSelectorNodeLabelDoesNotMatch" };
	const struct kar_pod_loss *loss = kar_pod_loss_of(pod);
	const char *reason = loss->pod_reason;

	return pod->phase == KAR_POD_FAILED && reason && !loss->n_exits &&
		(!strncmp(reason, "OutOf", strlen("OutOf")) ||
			kar_streq_any(reason, reasons, KAR_LEN(reasons)));
}
