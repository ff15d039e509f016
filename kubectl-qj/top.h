/*
 * top - what top.c, which shows queues, and nodes.c share. Internal to this folder.
 */
#ifndef KAR_KUBECTL_QJ_TOP_H
#define KAR_KUBECTL_QJ_TOP_H

#include "kubectl-qj/qj.h"

/* A table of nodes with what is free of them; "-" where the user may not list nodes, or pods. */
void qj_print_nodes(struct qj *q) KAR_NONNULL;

#endif
