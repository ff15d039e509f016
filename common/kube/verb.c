#include "common/kube/verb.h"

#include <assert.h>

const char *kar_verb_name(enum kar_verb v)
{
	static const char *const names[] = {
		[KAR_GET] = "get",
		[KAR_LIST] = "list",
		[KAR_WATCH] = "watch",
		[KAR_CREATE] = "create",
		[KAR_UPDATE] = "update",
		[KAR_PATCH] = "patch",
		[KAR_DELETE] = "delete",
		[KAR_DELETECOLLECTION] = "deletecollection",
	};

	assert((size_t)v < KAR_LEN(names));
	return names[v];
}
