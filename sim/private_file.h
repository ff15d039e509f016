/*
 * private_file - a file that only its owner may read, and that is there with all of its content or not at all.
 */
#ifndef SIM_PRIVATE_FILE_H
#define SIM_PRIVATE_FILE_H

#include "common/base/base.h"
#include "common/base/err.h"

/*
 * Puts a file of mode 0600 with @text in the place of what is at @path. No file and no link that somebody has prepared in
 * that folder is written to. KAR_FATAL with path and cause.
 */
int sim_private_file_write(const char *path, struct kar_str text, struct kar_err *err) KAR_NONNULL;

#endif
