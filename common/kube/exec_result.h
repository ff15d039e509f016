/*
 * exec_result - what an exec plug-in printed: an ExecCredential, checked.
 *
 * Private to common/kube/exec.c. No I/O, no clock.
 */
#ifndef KAR_EXEC_RESULT_H
#define KAR_EXEC_RESULT_H

#include "common/kube/exec.h"

enum { KAR_EXEC_OUT_MAX = 1 << 20 }; /* bytes of an ExecCredential */

/*
 * Reads @out, all that the plug-in printed on its standard output. @api_version: what the kubeconfig asks for. @wall: now.
 * The strings of @result live in @arena. On failure @err is KAR_FATAL (another version, another document) or KAR_RETRY; no
 * text repeats a value that was printed, but for kind and apiVersion.
 */
int kar_exec_result_read(struct kar_arena *arena, struct kar_str out, const char *api_version, kar_time wall,
	struct kar_exec_result *result, struct kar_err *err) KAR_NONNULL;

#endif
