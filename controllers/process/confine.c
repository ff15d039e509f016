#include "controllers/process/confine.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include "common/base/log.h"

#if defined(__SANITIZE_ADDRESS__)
#define ATTACHABLE 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ATTACHABLE 1
#endif
#endif
#ifndef ATTACHABLE
#define ATTACHABLE 0
#endif

void kar_confine(void)
{
	const struct rlimit none = { 0 };
	int failed = setrlimit(RLIMIT_CORE, &none);

	/* The limit does not apply to a core_pattern that is a pipe; the kernel dumps nothing to that if the process is not dumpable. */
	failed |= prctl(PR_SET_DUMPABLE, ATTACHABLE, 0, 0, 0);
	if (failed)
		kar_warn(KAR_MSG("Cannot forbid core dumps, which would hold credentials"));
}
