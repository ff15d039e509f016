/*
 * crds - where the CustomResourceDefinitions of this project are: installed beside the programs, or in the source tree that
 * they were built from.
 */
#ifndef SIM_CRDS_H
#define SIM_CRDS_H

#include "common/base/base.h"

/* Static string: a folder that exists, or the one where they should have been installed. */
const char *sim_crds_folder(void) KAR_RETNN;

#endif
