#include "sim/crds.h"

#include <unistd.h>

const char *sim_crds_folder(void)
{
	if (access(KAR_CRDS_INSTALLED, R_OK) && access(KAR_CRDS_SOURCE, R_OK) == 0)
		return KAR_CRDS_SOURCE;
	return KAR_CRDS_INSTALLED;
}
