#include "common/kube/exec_spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/codec/json.h"

#define EXEC_INFO "KUBERNETES_EXEC_INFO"

/* {"apiVersion":...,"kind":"ExecCredential","spec":{"interactive":false,"cluster":{...}}} */
static char *exec_info(struct kar_arena *arena, const struct kar_exec_config *config,
	const char *cluster_json)
{
	struct kar_buf json = { .cap = 8 * KAR_CREDENTIAL_FILE_MAX };
	struct kar_json_writer w;
	char *text;

	kar_json_writer_init(&w, &json);
	kar_jw_begin_object(&w);
	kar_jw_kv_string(&w, "apiVersion", config->api_version);
	kar_jw_kv_string(&w, "kind", "ExecCredential");
	kar_jw_key(&w, "spec");
	kar_jw_begin_object(&w);
	kar_jw_kv_bool(&w, "interactive", false);
	if (cluster_json) {
		kar_jw_key(&w, "cluster");
		kar_jw_raw(&w, (struct kar_str){ cluster_json, strlen(cluster_json) });
	}
	kar_jw_end_object(&w);
	kar_jw_end_object(&w);
	kar_json_writer_release(&w);
	text = kar_arena_printf(arena, EXEC_INFO "=%s", kar_buf_cstr(&json));
	kar_buf_release(&json);
	return text;
}

/* True if @a and @b set the same variable. */
static bool same_variable(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return strncmp(a, b, n) == 0 && b[n] == '=';
}

static bool is_overridden(const struct kar_exec_config *config, const char *variable)
{
	if (same_variable(EXEC_INFO "=", variable))
		return true;
	for (size_t i = 0; i < config->n_env; i++) {
		if (same_variable(config->env[i], variable))
			return true;
	}
	return false;
}

/* Our own environment, the kubeconfig's on top of it, and the request. A variable occurs only once. */
static char **environment(struct kar_arena *arena, const struct kar_exec_config *config,
	const char *cluster_json)
{
	size_t n = 0, used = 0;
	char **env;

	while (environ[n])
		n++;
	env = kar_arena_alloc(arena, n + config->n_env + 2, sizeof(*env));
	for (size_t i = 0; i < n; i++) {
		if (!is_overridden(config, environ[i]))
			env[used++] = environ[i];
	}
	for (size_t i = 0; i < config->n_env; i++) {
		if (!same_variable(EXEC_INFO "=", config->env[i]))
			env[used++] = kar_arena_strndup(arena, config->env[i], strlen(config->env[i]));
	}
	env[used] = exec_info(arena, config, cluster_json);
	return env;
}

static char **arguments(struct kar_arena *arena, const struct kar_exec_config *config)
{
	char **argv = kar_arena_alloc(arena, config->n_args + 2, sizeof(*argv));

	argv[0] = kar_arena_strndup(arena, config->command, strlen(config->command));
	for (size_t i = 0; i < config->n_args; i++)
		argv[i + 1] = kar_arena_strndup(arena, config->args[i], strlen(config->args[i]));
	return argv;
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* The program @command names: itself if it has a slash, else the first in the absolute folders of $PATH. */
static const char *find_program(struct kar_arena *arena, const char *command)
{
	const char *path = getenv("PATH");

	if (strchr(command, '/'))
		return command;
	while (path && *path) {
		size_t n = strcspn(path, ":");

		/* Never from the current folder: whoever can write there would decide what runs. */
		if (*path == '/') {
			const char *candidate = kar_arena_printf(arena, "%.*s/%s", (int)n, path, command);

			if (is_program(candidate))
				return candidate;
		}
		path += n + (path[n] == ':');
	}
	return NULL;
}

/* Above the standard descriptors, so that no redirection of the child can overwrite another one's source. */
static int raise_fd(int fd)
{
	int high;

	if (fd > STDERR_FILENO)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(fd);
	return high;
}

static void close_pipe(int ends[2])
{
	for (int i = 0; i < 2; i++) {
		if (ends[i] >= 0)
			close(ends[i]);
		ends[i] = -1;
	}
}

/* Only the reading end is non-blocking: the plug-in expects ordinary descriptors. */
static int open_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC) != 0) {
		ends[0] = ends[1] = -1;
		return -1;
	}
	ends[0] = raise_fd(ends[0]);
	ends[1] = raise_fd(ends[1]);
	if (ends[0] < 0 || ends[1] < 0 || fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) {
		close_pipe(ends);
		return -1;
	}
	return 0;
}

/* Own process group (to be killed as a whole), no ignored or blocked signals. 0 or errno. */
static int set_attributes(posix_spawnattr_t *a)
{
	sigset_t none, all;
	int why;

	sigemptyset(&none);
	sigfillset(&all);
	why = posix_spawnattr_setflags(a,
		POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	if (!why)
		why = posix_spawnattr_setpgroup(a, 0);
	if (!why)
		why = posix_spawnattr_setsigmask(a, &none);
	return why ? why : posix_spawnattr_setsigdefault(a, &all);
}

/* The three standard descriptors and nothing else, whatever any library left open. 0 or errno. */
static int set_descriptors(posix_spawn_file_actions_t *fa, int out, int err)
{
	int why = posix_spawn_file_actions_addopen(fa, STDIN_FILENO, "/dev/null", O_RDONLY, 0);

	if (!why)
		why = posix_spawn_file_actions_adddup2(fa, out, STDOUT_FILENO);
	if (!why)
		why = posix_spawn_file_actions_adddup2(fa, err, STDERR_FILENO);
	return why ? why : posix_spawn_file_actions_addclosefrom_np(fa, STDERR_FILENO + 1);
}

/* Runs @program; 0 or errno. */
static int spawn(const char *program, char **argv, char **env, int out, int err, pid_t *pid)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	int why = posix_spawn_file_actions_init(&fa);

	if (why)
		return why;
	why = posix_spawnattr_init(&attr);
	if (why) {
		posix_spawn_file_actions_destroy(&fa);
		return why;
	}
	why = set_attributes(&attr);
	if (!why)
		why = set_descriptors(&fa, out, err);
	if (!why)
		why = posix_spawn(pid, program, &fa, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&fa);
	return why;
}

static int not_started(int why, const char *program, struct kar_err *err)
{
	bool resources = why == EAGAIN || why == ENOMEM || why == EMFILE || why == ENFILE;

	return kar_fail(err, resources ? KAR_RETRY : KAR_FATAL, "cannot start %.150s: %s", program,
		strerror(why));
}

static int not_found(const struct kar_exec_config *config, struct kar_err *err)
{
	const char *hint = config->install_hint ? config->install_hint : "";

	return kar_fail(err, KAR_FATAL,
		"not found%s; install it or correct users[].user.exec.command%s%.150s",
		strchr(config->command, '/') ? "" : " in $PATH", *hint ? ". Its hint: " : "", hint);
}

int kar_exec_spawn(const struct kar_exec_config *config, const char *cluster_json, struct kar_exec_process *p,
	struct kar_err *err)
{
	struct kar_arena arena = { 0 };
	const char *program = find_program(&arena, config->command);
	int out[2] = { -1, -1 }, errs[2] = { -1, -1 };
	pid_t pid = -1;
	int rc = 0, why = 0;

	if (!program) {
		rc = not_found(config, err);
	} else if (open_pipe(out) || open_pipe(errs)) {
		rc = not_started(errno, program, err);
	} else {
		why = spawn(program, arguments(&arena, config), environment(&arena, config, cluster_json),
			out[1], errs[1], &pid);
		if (why)
			rc = why == ENOENT ? not_found(config, err) : not_started(why, program, err);
	}
	if (rc == 0) {
		*p = (struct kar_exec_process){ .pid = pid, .out = out[0], .err = errs[0] };
		out[0] = errs[0] = -1;
	}
	close_pipe(out);
	close_pipe(errs);
	kar_arena_release(&arena);
	return rc;
}
