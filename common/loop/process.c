#include "common/loop/process.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The content of a small file, as a C string; "" if it cannot be read. */
static const char *slurp(const char *path, char *out, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n = f ? fread(out, 1, size - 1, f) : 0;

	out[n] = '\0';
	if (f)
		fclose(f);
	return out;
}

/* Field @number of /proc/self/stat. The name before the third one is in parentheses and may contain anything. */
static uint64_t stat_field(const char *stat, int number)
{
	enum { AFTER_NAME = 3 };
	const char *p = strrchr(stat, ')');

	for (int i = AFTER_NAME; p && i <= number; i++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p + 1, NULL, 10) : 0;
}

static uint64_t boot_time(void)
{
	static const char name[] = "btime ";
	char line[256];
	uint64_t seconds = 0;
	FILE *f = fopen("/proc/stat", "re");

	while (f && !seconds && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, name, strlen(name)))
			seconds = strtoull(line + strlen(name), NULL, 10);
	}
	if (f)
		fclose(f);
	return seconds;
}

static uint64_t count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	uint64_t n = 0;

	if (!d)
		return 0;
	for (const struct dirent *e; (e = readdir(d)) != NULL;)
		n += e->d_name[0] != '.';
	closedir(d);
	return n - 1; /* the one that was just open */
}

struct kar_process_use kar_process_use(void)
{
	enum { UTIME = 14, STIME = 15, STARTTIME = 22, VSIZE = 23, RSS = 24 }; /* proc(5) */
	char stat[2048];
	struct rlimit limit = { 0 };
	struct kar_process_use u = { .fds = count_fds() };
	double ticks = (double)sysconf(_SC_CLK_TCK);

	slurp("/proc/self/stat", stat, sizeof(stat));
	u.cpu_seconds = (double)(stat_field(stat, UTIME) + stat_field(stat, STIME)) / ticks;
	u.start_time = (double)boot_time() + (double)stat_field(stat, STARTTIME) / ticks;
	u.virtual = stat_field(stat, VSIZE);
	u.rss = stat_field(stat, RSS) * (uint64_t)sysconf(_SC_PAGESIZE);
	if (!getrlimit(RLIMIT_NOFILE, &limit))
		u.max_fds = limit.rlim_cur;
	return u;
}
