#include "common/loop/clock.h"

#include <time.h>

enum { NS_PER_US = 1000, US_PER_MS = 1000, US_PER_SECOND = 1000000 };

/* These clocks exist on every supported kernel, so reading them cannot fail. */
static int64_t micros(clockid_t id)
{
	struct timespec ts = { 0 };

	clock_gettime(id, &ts);
	return (int64_t)ts.tv_sec * US_PER_SECOND + ts.tv_nsec / NS_PER_US;
}

static int64_t (*other_source)(void);

void kar_clock_replace(int64_t (*wall_micros)(void))
{
	other_source = wall_micros;
}

kar_time kar_clock_mono(void)
{
	return micros(CLOCK_BOOTTIME) / US_PER_MS;
}

kar_time kar_clock_wall(void)
{
	return micros(CLOCK_REALTIME) / US_PER_MS;
}

int64_t kar_clock_wall_micros(void)
{
	return other_source ? other_source() : micros(CLOCK_REALTIME);
}
