/* types_impl - the data of types.c. Private to sim/apiserver/types*.c. */
#ifndef SIM_TYPES_IMPL_H
#define SIM_TYPES_IMPL_H

#include "sim/apiserver/types.h"

/* End with NULL. */
extern const char *const sim_types_core[];
extern const char *const sim_types_other[];

#endif
