/* What kubectl explain says about built-in kinds: our own words, for what is asked about most. */
#include <string.h>

#include "sim/apiserver/openapi.h"

struct text {
	const char *name, *field, *text; /* field NULL: the message itself */
};

/* Fields that mean the same in every message. */
static const struct text everywhere[] = {
	{ NULL, "metadata", "Metadata that all objects have." },
	{ NULL, "spec", "What is wanted." },
	{ NULL, "status", "What is; written by controllers." },
	{ NULL, "conditions", "Observations about the state, one per type." },
	{ NULL, "lastTransitionTime", "When the status of the condition last changed." },
	{ NULL, "message", "Details for people." },
	{ NULL, "observedGeneration", "The metadata.generation that the status is about." },
};

static const struct text texts[] = {
	{ "ObjectMeta", NULL, "Metadata that all objects have." },
	{ "ObjectMeta", "name", "Name, unique in the namespace; it cannot be changed." },
	{ "ObjectMeta", "generateName",
		"If no name is given: the server appends five random characters to this." },
	{ "ObjectMeta", "namespace", "Namespace of the object; it cannot be changed." },
	{ "ObjectMeta", "uid",
		"Identity of the object among all that ever had its name. Set by the server." },
	{ "ObjectMeta", "resourceVersion",
		"Changes with every write; in an update it must be the present one." },
	{ "ObjectMeta", "generation", "Counts changes of the spec. Set by the server." },
	{ "ObjectMeta", "creationTimestamp", "When the object was created. Set by the server." },
	{ "ObjectMeta", "deletionTimestamp",
		"When the object was asked to go; it stays until its finalizers are removed." },
	{ "ObjectMeta", "deletionGracePeriodSeconds", "Seconds it may take to stop." },
	{ "ObjectMeta", "labels", "Names and values by which objects are selected." },
	{ "ObjectMeta", "annotations", "Names and values for tools; objects are not selected by them." },
	{ "ObjectMeta", "ownerReferences",
		"Objects that this one belongs to; when all are gone, it is deleted." },
	{ "ObjectMeta", "finalizers", "Who must act before the object can go." },
	{ "ObjectMeta", "managedFields", "Who set which field, kept for server-side apply." },
	{ "Pod", NULL, "A group of containers that run together on one node." },
	{ "PodSpec", NULL, "What runs in a pod, and where it may run." },
	{ "PodSpec", "containers", "The containers of the pod; they are started together." },
	{ "PodSpec", "initContainers",
		"Containers that must have succeeded, one after the other, before the others are started." },
	{ "PodSpec", "volumes", "Volumes that the containers can mount." },
	{ "PodSpec", "restartPolicy",
		"Whether containers that ended are started again: Always, OnFailure or Never." },
	{ "PodSpec", "terminationGracePeriodSeconds",
		"Seconds from SIGTERM to SIGKILL when the pod is deleted." },
	{ "PodSpec", "activeDeadlineSeconds", "Seconds after which the pod is stopped and has failed." },
	{ "PodSpec", "nodeSelector", "Labels that a node must have." },
	{ "PodSpec", "nodeName", "The node of the pod; set when it is bound." },
	{ "PodSpec", "affinity", "Which nodes the pod wants, and which other pods beside it or not." },
	{ "PodSpec", "tolerations", "Taints of nodes that the pod accepts." },
	{ "PodSpec", "schedulerName", "The scheduler that binds the pod." },
	{ "PodSpec", "schedulingGates",
		"Reasons not to schedule the pod yet; it is scheduled when all are removed." },
	{ "PodSpec", "priorityClassName", "PriorityClass of the pod." },
	{ "PodSpec", "priority", "Priority of the pod, from its class." },
	{ "PodSpec", "preemptionPolicy", "Whether the pod may take the place of less important ones." },
	{ "PodSpec", "serviceAccountName", "ServiceAccount as which the pod acts." },
	{ "PodSpec", "hostNetwork", "Use the network of the node." },
	{ "PodSpec", "hostname", "Host name inside the pod." },
	{ "PodSpec", "subdomain", "With it the pod gets a name below the service of this name." },
	{ "PodSpec", "imagePullSecrets", "Secrets with which images are fetched." },
	{ "PodSpec", "securityContext", "User, groups and other restrictions for all containers." },
	{ "PodSpec", "topologySpreadConstraints", "How evenly pods are spread over zones or nodes." },
	{ "PodSpec", "overhead", "Resources that the pod takes beside those of its containers." },
	{ "PodStatus", NULL, "How a pod fares." },
	{ "PodStatus", "phase", "Pending, Running, Succeeded, Failed or Unknown." },
	{ "PodStatus", "reason", "Why the pod is in this state, in one word." },
	{ "PodStatus", "podIP", "Address of the pod." },
	{ "PodStatus", "hostIP", "Address of its node." },
	{ "PodStatus", "startTime", "When the kubelet accepted the pod." },
	{ "PodStatus", "containerStatuses", "How each container fares." },
	{ "PodStatus", "nominatedNodeName", "Node on which others are preempted for the pod." },
	{ "PodStatus", "qosClass", "Guaranteed, Burstable or BestEffort, from requests and limits." },
	{ "Container", NULL, "One container of a pod." },
	{ "Container", "name", "Name, unique in the pod." },
	{ "Container", "image", "Image that is run." },
	{ "Container", "command", "Program and first arguments, instead of the image's entry point." },
	{ "Container", "args", "Arguments, instead of those of the image." },
	{ "Container", "env", "Environment variables." },
	{ "Container", "envFrom", "Sources whose entries all become environment variables." },
	{ "Container", "workingDir", "Directory in which the program is started." },
	{ "Container", "ports", "Ports on which the program listens." },
	{ "Container", "resources", "What the container needs and may use at most." },
	{ "Container", "volumeMounts", "Where volumes of the pod appear." },
	{ "Container", "imagePullPolicy", "When the image is fetched: Always, IfNotPresent or Never." },
	{ "Container", "livenessProbe", "A container that does not pass it is restarted." },
	{ "Container", "readinessProbe", "A container that does not pass it gets no requests." },
	{ "Container", "startupProbe", "Until it is passed the other probes wait." },
	{ "Container", "lifecycle", "What is done after the start and before the stop." },
	{ "Container", "securityContext", "User and other restrictions for this container." },
	{ "ResourceRequirements", NULL, "What a container needs and may use at most." },
	{ "ResourceRequirements", "requests", "What is set aside for it; the scheduler counts this." },
	{ "ResourceRequirements", "limits", "What it may use at most." },
	{ "EnvVar", NULL, "One environment variable." },
	{ "PodTemplateSpec", NULL, "The pods that are made from it." },
	{ "Node", NULL, "A machine that runs pods." },
	{ "NodeSpec", "taints", "What keeps pods away that do not tolerate it." },
	{ "NodeSpec", "unschedulable", "No new pods are scheduled here." },
	{ "NodeStatus", "capacity", "What the machine has." },
	{ "NodeStatus", "allocatable", "What pods may use of it." },
	{ "Namespace", NULL, "A scope for names." },
	{ "ConfigMap", NULL, "Configuration that pods can read." },
	{ "ConfigMap", "data", "The entries, as text." },
	{ "ConfigMap", "binaryData", "Entries that are no text, in base64." },
	{ "Secret", NULL, "Confidential data that pods can read." },
	{ "Secret", "data", "The entries, in base64." },
	{ "Secret", "stringData", "Entries as text; only for writing." },
	{ "Service", NULL, "One address for a set of pods." },
	{ "ServiceAccount", NULL, "A user for programs in pods." },
	{ "Event", NULL, "Something that happened to an object." },
	{ "ResourceQuota", NULL, "What all objects of a namespace may use together." },
	{ "ResourceQuotaSpec", "hard", "The limit of each resource." },
	{ "ResourceQuotaStatus", "used", "What is used of each." },
	{ "LimitRange", NULL, "Defaults and bounds for what pods of a namespace may ask for." },
	{ "PriorityClass", NULL, "A name for a priority of pods." },
	{ "PriorityClass", "value", "The priority; pods with a higher one go first." },
	{ "PriorityClass", "globalDefault", "Pods that name no class get this one." },
	{ "PriorityClass", "preemptionPolicy", "PreemptLowerPriority or Never." },
	{ "PriorityClass", "description", "When to use the class." },
	{ "Lease", NULL, "Who holds something, and until when." },
	{ "LeaseSpec", "holderIdentity", "Who holds it." },
	{ "LeaseSpec", "leaseDurationSeconds", "Seconds after renewTime when others may take it." },
	{ "LeaseSpec", "acquireTime", "When the holder got it." },
	{ "LeaseSpec", "renewTime", "When the holder last renewed it." },
	{ "LeaseSpec", "leaseTransitions", "How often the holder changed." },
	{ "PodDisruptionBudget", NULL, "How many pods of a set may be evicted at a time." },
	{ "Deployment", NULL,
		"Pods that are replaced gradually when their template changes. Kept here, but not acted upon." },
	{ "Role", NULL, "Rights in a namespace. Kept here, but not enforced." },
	{ "ClusterRole", NULL, "Rights in all namespaces. Kept here, but not enforced." },
	{ "RoleBinding", NULL, "Who has the rights of a role. Kept here, but not enforced." },
	{ "ClusterRoleBinding", NULL, "Who has the rights of a cluster role. Kept here, but not enforced." },
};

const char *sim_openapi_text(const char *name, const char *field)
{
	for (size_t i = 0; i < KAR_LEN(texts); i++) {
		const struct text *t = &texts[i];

		if (!strcmp(t->name, name) && (field ? t->field && !strcmp(t->field, field) : !t->field))
			return t->text;
	}
	for (size_t i = 0; field && i < KAR_LEN(everywhere); i++) {
		if (!strcmp(everywhere[i].field, field))
			return everywhere[i].text;
	}
	return NULL;
}
