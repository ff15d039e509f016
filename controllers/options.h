/*
 * options - the command line and the configuration file of kar-controllers.
 *
 * One table describes every flag: name, group, help and where its value goes; --help, the parser and the
 * --config file (YAML, the same names without dashes in front) all read it. A flag on the command line beats the file.
 */
#ifndef KAR_OPTIONS_H
#define KAR_OPTIONS_H

#include <stdio.h>

#include "common/err.h"
#include "common/mem.h"

struct kar_options {
	const char *config;         /* --config */
	const char *kubeconfig;     /* --kubeconfig; NULL: KUBECONFIG, in-cluster, ~/.kube/config */
	const char *context;        /* --context */
	const char *master;         /* --master */
	const char *ns;             /* --namespace; NULL: all */
	const char *logging_format; /* "text" or "json" */
	int64_t verbosity;          /* -v */
	double kube_api_qps;        /* 0: unlimited */
	int64_t kube_api_burst;
	int64_t max_in_flight;     /* writes at once */
	kar_time schedule_timeout; /* ms */
	bool disable_http2;
	bool help, version;
};

/*
 * Parses @argv; strings point into @argv or into @arena. KAR_FATAL with a text that names the flag and the valid
 * form: an unknown flag, a bad value, an unreadable or wrong --config file.
 */
int kar_options_parse(struct kar_options *o, struct kar_arena *arena, int argc, char **argv,
	struct kar_err *err) KAR_NONNULL;
/* Prints the flags in groups. */
void kar_options_help(FILE *out) KAR_NONNULL;

#endif
