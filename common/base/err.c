#include "common/base/err.h"

#include <stdarg.h>
#include <string.h>

#include "common/base/text.h"

int kar_fail(struct kar_err *e, enum kar_class what, const char *fmt, ...)
{
	char msg[sizeof(e->msg)]; /* the arguments may point into @e */
	va_list ap;

	if (!e)
		return -1;
	va_start(ap, fmt);
	kar_text_vprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	*e = (struct kar_err){ .what = what };
	memcpy(e->msg, msg, strlen(msg) + 1);
	return -1;
}

int kar_wrap(struct kar_err *e, const char *fmt, ...)
{
	struct kar_err old; /* the arguments may point into @e */
	char context[sizeof(old.msg)];
	va_list ap;

	if (!e)
		return -1;
	old = *e;
	va_start(ap, fmt);
	kar_text_vprintf(context, sizeof(context), fmt, ap);
	va_end(ap);
	kar_text_printf(e->msg, sizeof(e->msg), "%s: %s", context, old.msg);
	return -1;
}

const char *kar_err_class_name(enum kar_class what)
{
	static const char *const names[] = {
		[KAR_OK] = "OK",
		[KAR_RETRY] = "Retry",
		[KAR_UNKNOWN] = "Unknown",
		[KAR_CONFLICT] = "Conflict",
		[KAR_EXISTS] = "AlreadyExists",
		[KAR_NOTFOUND] = "NotFound",
		[KAR_GONE] = "Gone",
		[KAR_UNAUTHORIZED] = "Unauthorized",
		[KAR_DENIED] = "Denied",
		[KAR_INVALID] = "Invalid",
		[KAR_FATAL] = "Fatal",
	};

	return (size_t)what < KAR_LEN(names) ? names[what] : "Unknown";
}
