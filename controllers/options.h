/*
 * options - the command line and the configuration file of kar-controllers.
 *
 * One table has the name, group, default, help and member of every flag. --help, the parser and the --config file (YAML; the names
 * are those of the flags without dashes) all use it. A flag on the command line overrides the file. The one word that may stand
 * among the flags is a command.
 */
#ifndef KAR_OPTIONS_H
#define KAR_OPTIONS_H

#include <stdio.h>

#include "common/kube/client_http.h"
#include "common/kube/election.h"
#include "common/kube/kubeconfig.h"
#include "controllers/doors.h"
#include "controllers/stores.h"

struct kar_leader_options {
	bool elect;                      /* else the process leads without asking anybody */
	struct kar_election_times times; /* consistent, if .elect */
	const char *name, *ns; /* of the Lease; .ns NULL: the namespace of the pod, or of the kubeconfig */
};

/* Values go where they are used: a flag is a member of one of these structs and a row of the table in options.c. */
struct kar_options {
	const char *config; /* --config */
	struct kar_kubeconfig_options cluster;
	struct kar_client_http_options client;
	struct kar_settings settings; /* .one_namespace follows from .ns */
	const char *ns;               /* --namespace; NULL: all */
	struct kar_leader_options leader;
	struct kar_doors_options doors;
	const char *logging_format; /* "text" or "json" */
	int verbosity;              /* -v */
	bool release_gates;         /* the command in place of running the manager */
	bool help, version;
};

/*
 * Parses @argv; strings point into @argv or into @arena. Returns -1 with KAR_FATAL for an unknown flag, a bad value, or an unreadable or
 * wrong --config file; the error names the flag and its valid form.
 */
int kar_options_parse(struct kar_options *o, struct kar_arena *arena, int argc, char **argv,
	struct kar_err *err) KAR_NONNULL;
/* Prints the flags in groups. */
void kar_options_help(FILE *out) KAR_NONNULL;

#endif
