/*
 * options - the command line and the configuration file of kar-controllers.
 *
 * One table has the name, group, default, help and member of every flag. --help, --man, the parser and the --config file all use it.
 * The file is flat YAML of apiVersion KAR_CONFIG_VERSION and kind KAR_CONFIG_KIND; its keys are the names of the flags without dashes
 * in front (kube-api-qps), or in camel case (kubeApiQps), but for those that print something, or name the file. A flag on the command
 * line overrides the file. The one word that may stand among the flags is a command.
 */
#ifndef KAR_OPTIONS_H
#define KAR_OPTIONS_H

#include <stdio.h>

#include "common/kube/client_http.h"
#include "common/kube/election.h"
#include "common/kube/kubeconfig.h"
#include "controllers/cluster/stores.h"
#include "controllers/process/doors.h"

#define KAR_CONFIG_VERSION "config.kube-arbitrator.io/v1alpha1"
#define KAR_CONFIG_KIND "KarControllersConfiguration"

enum { KAR_FLAGS_MAX = 64 };

/* Where the configuration file sets a flag; 0: it does not, or the command line overrides it. */
struct kar_flag_place {
	size_t line, column;
};

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
	bool help, version, man;
	struct kar_flag_place places[KAR_FLAGS_MAX]; /* by the number of the flag */
};

/*
 * Parses @argv; strings point into @argv or into @arena. Returns -1 with KAR_FATAL for an unknown flag, a bad value, or an unreadable or
 * wrong --config file; the error is one line that names the flag and its valid form, and the place in the file.
 */
int kar_options_parse(struct kar_options *o, struct kar_arena *arena, int argc, char **argv,
	struct kar_err *err) KAR_NONNULL;
/* Prints the flags in groups, in lines of at most 120 columns. */
void kar_options_help(FILE *out) KAR_NONNULL;
/* Prints the manual page of section 8, in the language of man(7). */
void kar_options_man(FILE *out) KAR_NONNULL;

#endif
