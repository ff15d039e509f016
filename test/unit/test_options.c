/* The command line: what a user types, what the manager takes from it or answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "controllers/process/options_impl.h"

enum { MAX_ARGS = 8 };

/* Splits @line at spaces into an argv that starts with the program's name. */
static int split(char *line, char **argv)
{
	int argc = 0;
	char *save = NULL;

	argv[argc++] = (char *)(uintptr_t) "kar-controllers";
	for (char *w = strtok_r(line, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	argv[argc] = NULL;
	return argc;
}

static void render_doors(const struct kar_doors_options *d, char *out, size_t n)
{
	if (strcmp(d->health, ":8081"))
		snprintf(out + strlen(out), n - strlen(out), " health=%s", d->health);
	if (strcmp(d->metrics, "0"))
		snprintf(out + strlen(out), n - strlen(out), " metrics=%s", d->metrics);
	if (d->cert_file)
		snprintf(out + strlen(out), n - strlen(out), " cert=%s key=%s", d->cert_file, d->key_file);
	if (d->metrics_insecure)
		snprintf(out + strlen(out), n - strlen(out), " insecure");
}

/* Renders the options that differ from nothing, so that one line says all. */
static void render(const struct kar_options *o, char *out, size_t n)
{
	static const char *const backends[] = {
		[KAR_GANGS_BY_GATES] = "",
		[KAR_GANGS_BY_NATIVE] = " backend=Native",
		[KAR_GANGS_BY_EITHER] = " backend=Auto",
	};

	snprintf(out, n,
		"kubeconfig=%s master=%s ns=%s v=%d format=%s qps=%g burst=%d in-flight=%d timeout=%d http1=%d direct=%s%s",
		o->cluster.kubeconfig ? o->cluster.kubeconfig : "-",
		o->cluster.master ? o->cluster.master : "-", o->ns ? o->ns : "-", o->verbosity,
		o->logging_format, o->client.qps, o->client.burst, o->client.max_in_flight_writes,
		(int)o->settings.schedule_timeout, o->client.http1_only, o->settings.direct_schedulers,
		backends[o->settings.gang_backend]);
	if (o->leader.elect)
		snprintf(out + strlen(out), n - strlen(out), " leader=%d/%d/%d %s@%s",
			(int)o->leader.times.duration, (int)o->leader.times.deadline,
			(int)o->leader.times.retry, o->leader.name, o->leader.ns ? o->leader.ns : "-");
	if (o->settings.preemptible.on)
		snprintf(out + strlen(out), n - strlen(out), " below=%d", (int)o->settings.preemptible.below);
	render_doors(&o->doors, out, n);
}

#define DEFAULTS "v=0 format=text qps=0 burst=1 in-flight=64 timeout=60000 http1=0 direct=kar-scheduler"

#define NAMESPACE "the name of a namespace: lower-case letters, digits and '-', at most 63"
#define NAME "lower-case letters, digits, '-' and '.', such as kar-controllers"
#define FIFTY "abcdefghijklmnopqrstuvwxyz-abcdefghijklmnopqrstuvw"
#define LEADER_TIMES \
	"want --leader-elect-lease-duration > --leader-elect-renew-deadline > 1.2 * --leader-elect-retry-period > 0, and at least 1s of the first"

static const struct {
	const char *name, *line, *want;
} rows[] = {
	{ "no_flag_is_enough", "", "kubeconfig=- master=- ns=- " DEFAULTS },
	{ "value_after_equals", "--kubeconfig=/x", "kubeconfig=/x master=- ns=- " DEFAULTS },
	{ "value_as_next_argument", "--kubeconfig /x --namespace a",
		"kubeconfig=/x master=- ns=a " DEFAULTS },
	{ "one_dash_as_in_go", "-master http://h:1", "kubeconfig=- master=http://h:1 ns=- " DEFAULTS },
	{ "verbosity_glued", "-v4",
		"kubeconfig=- master=- ns=- v=4 format=text qps=0 burst=1 in-flight=64 timeout=60000 http1=0 direct=kar-scheduler" },
	{ "verbosity_apart", "-v 6 --logging-format=json",
		"kubeconfig=- master=- ns=- v=6 format=json qps=0 burst=1 in-flight=64 timeout=60000 http1=0 direct=kar-scheduler" },
	{ "limits", "--kube-api-qps=2.5 --kube-api-burst=7 --max-in-flight=3 --schedule-timeout=5m",
		"kubeconfig=- master=- ns=- v=0 format=text qps=2.5 burst=7 in-flight=3 timeout=300000 http1=0 direct=kar-scheduler" },
	{ "backend", "--gang-backend=Native", "kubeconfig=- master=- ns=- " DEFAULTS " backend=Native" },
	{ "either_backend", "--gang-backend Auto", "kubeconfig=- master=- ns=- " DEFAULTS " backend=Auto" },
	{ "default_backend", "--gang-backend=Auto --gang-backend=Gates",
		"kubeconfig=- master=- ns=- " DEFAULTS },
	{ "unknown_backend", "--gang-backend=native",
		"--gang-backend: want Auto, Gates or Native, got \"native\"" },
	{ "backend_without_gangs", "--gang-backend=Auto --namespace=a",
		"--gang-backend is for a manager of all namespaces: with --namespace no gang is placed" },
	{ "pods_below_a_priority", "--preemptible-below=0",
		"kubeconfig=- master=- ns=- " DEFAULTS " below=0" },
	{ "below_a_negative_priority", "--preemptible-below -10",
		"kubeconfig=- master=- ns=- " DEFAULTS " below=-10" },
	{ "no_pods_below_a_priority", "--preemptible-below=5 --preemptible-below=off",
		"kubeconfig=- master=- ns=- " DEFAULTS },
	{ "below_a_word", "--preemptible-below=low",
		"--preemptible-below: want a priority such as 0 or -10, or off, got \"low\"" },
	{ "below_more_than_there_is", "--preemptible-below=2147483648",
		"--preemptible-below: want a priority such as 0 or -10, or off, got \"2147483648\"" },
	{ "bool_alone_is_true", "--disable-http2",
		"kubeconfig=- master=- ns=- v=0 format=text qps=0 burst=1 in-flight=64 timeout=60000 http1=1 direct=kar-scheduler" },
	{ "nobody_is_served", "--direct-schedulers=",
		"kubeconfig=- master=- ns=- v=0 format=text qps=0 burst=1 in-flight=64 timeout=60000 http1=0 direct=" },
	{ "bool_set_false", "--disable-http2=false", "kubeconfig=- master=- ns=- " DEFAULTS },
	{ "later_flag_wins", "--namespace=a --namespace=b", "kubeconfig=- master=- ns=b " DEFAULTS },
	{ "unknown_flag", "--kubeconfg=/x", "unknown flag --kubeconfg=/x; see --help" },
	{ "bare_word", "run", "unexpected argument \"run\": flags start with --; see --help" },
	{ "uninstall_was_a_command", "uninstall --keep-crds",
		"uninstall is a command of the kubectl plug-in: kubectl qj uninstall; see docs/USING.md" },
	{ "release_gates_too", "--namespace a release-gates --kubeconfig=/x",
		"release-gates is a command of the kubectl plug-in: kubectl qj release-gates; see docs/USING.md" },
	{ "missing_value", "--master", "flag --master needs a value (string)" },
	{ "negative_count", "--kube-api-burst=-1",
		"--kube-api-burst: want a whole number from 0 to 100000, got \"-1\"" },
	{ "not_a_number", "--kube-api-qps=fast",
		"--kube-api-qps: want a number from 0 to 100000, got \"fast\"" },
	{ "infinite_qps", "--kube-api-qps=inf",
		"--kube-api-qps: want a number from 0 to 100000, got \"inf\"" },
	{ "bad_duration", "--schedule-timeout=soon",
		"--schedule-timeout: want a duration from 1s to 10000h such as 90s or 5m, got \"soon\"" },
	{ "duration_beyond_the_api", "--schedule-timeout=600000h",
		"--schedule-timeout: want a duration from 1s to 10000h such as 90s or 5m, got \"600000h\"" },
	{ "leader", "--leader-elect",
		"kubeconfig=- master=- ns=- " DEFAULTS " leader=15000/10000/2000 kar-controllers@-" },
	{ "leader_in_a_hurry",
		"--leader-elect=true --leader-elect-lease-duration=3s --leader-elect-renew-deadline=2s --leader-elect-retry-period=500ms --leader-elect-resource-name=a --leader-elect-resource-namespace=b",
		"kubeconfig=- master=- ns=- " DEFAULTS " leader=3000/2000/500 a@b" },
	{ "leader_that_outlives_its_lease", "--leader-elect --leader-elect-renew-deadline=15s",
		LEADER_TIMES "; they are 15s, 15s and 2s" },
	{ "leader_that_gives_up_at_once", "--leader-elect --leader-elect-renew-deadline=2400ms",
		LEADER_TIMES "; they are 15s, 2.4s and 2s" },
	{ "leader_with_just_enough_time", "--leader-elect --leader-elect-renew-deadline=2401ms",
		"kubeconfig=- master=- ns=- " DEFAULTS " leader=15000/2401/2000 kar-controllers@-" },
	{ "leader_without_pause", "--leader-elect --leader-elect-retry-period=0s", LEADER_TIMES },
	{ "leader_of_no_lease", "--leader-elect --leader-elect-resource-name=",
		"--leader-elect-resource-name: want " NAME ", got \"\"" },
	{ "times_of_no_leader", "--leader-elect-renew-deadline=15s", "kubeconfig=- master=- ns=- " DEFAULTS },
	{ "bad_format", "--logging-format=xml", "--logging-format: want text or json, got \"xml\"" },
	{ "no_probes", "--health-probe-bind-address=0", "kubeconfig=- master=- ns=- " DEFAULTS " health=0" },
	{ "metrics_over_tls", "--metrics-bind-address=:8443 --tls-cert-file=/c --tls-private-key-file=/k",
		"kubeconfig=- master=- ns=- " DEFAULTS " metrics=:8443 cert=/c key=/k" },
	{ "metrics_plain", "--metrics-insecure --metrics-bind-address=[::1]:8080",
		"kubeconfig=- master=- ns=- " DEFAULTS " metrics=[::1]:8080 insecure" },
	{ "no_address", "--metrics-bind-address=8443",
		"--metrics-bind-address: want HOST:PORT such as :8443, 127.0.0.1:8443 or [::1]:8443, got \"8443\"" },
	{ "no_port", "--health-probe-bind-address=localhost",
		"--health-probe-bind-address: want HOST:PORT such as :8443, 127.0.0.1:8443 or [::1]:8443, got \"localhost\"" },
	{ "both_at_one_address", "--metrics-bind-address=:8081",
		"--metrics-bind-address and --health-probe-bind-address name one port: each needs its own" },
	{ "one_of_them_at_all_addresses", "--metrics-bind-address=[::1]:8081",
		"--metrics-bind-address and --health-probe-bind-address name one port: each needs its own" },
	{ "one_port_of_two_addresses",
		"--metrics-bind-address=127.0.0.1:9 --health-probe-bind-address=127.0.0.2:9",
		"kubeconfig=- master=- ns=- " DEFAULTS " health=127.0.0.2:9 metrics=127.0.0.1:9" },
	{ "plain_for_all", "--metrics-insecure --metrics-bind-address=:8080",
		"--metrics-insecure is for a loopback --metrics-bind-address such as 127.0.0.1:8080" },
	{ "plain_nowhere", "--metrics-insecure", "--metrics-insecure needs --metrics-bind-address" },
	{ "certificate_nowhere", "--tls-cert-file=/c --tls-private-key-file=/k",
		"--tls-cert-file needs --metrics-bind-address" },
	{ "certificate_without_key", "--metrics-bind-address=:8443 --tls-cert-file=/c",
		"--tls-cert-file and --tls-private-key-file are needed both, or none" },
	{ "plain_with_a_certificate",
		"--metrics-bind-address=[::1]:1 --metrics-insecure --tls-cert-file=/c --tls-private-key-file=/k",
		"--metrics-insecure needs no --tls-cert-file: it is plain HTTP" },
	{ "verbosity_beyond_the_scale", "-v=99", "-v: want a whole number from 0 to 10, got \"99\"" },
	{ "verbosity_glued_beyond_the_scale", "-v11", "-v: want a whole number from 0 to 10, got \"11\"" },
	{ "nothing_in_flight", "--max-in-flight=0",
		"--max-in-flight: want a whole number from 1 to 10000, got \"0\"" },
	{ "too_often", "--native-interval=99ms",
		"--native-interval: want a duration from 100ms to 24h such as 90s or 5m, got \"99ms\"" },
	{ "no_time_at_all", "--schedule-timeout=0s",
		"--schedule-timeout: want a duration from 1s to 10000h such as 90s or 5m, got \"0s\"" },
	{ "namespace_in_capitals", "--namespace Bad_NS", "--namespace: want " NAMESPACE ", got \"Bad_NS\"" },
	{ "namespace_with_a_dot", "--namespace=a.b", "--namespace: want " NAMESPACE ", got \"a.b\"" },
	{ "no_namespace", "--namespace=", "--namespace: want " NAMESPACE ", got \"\"" },
	{ "namespace_that_ends_in_a_dash", "--namespace=a-", "--namespace: want " NAMESPACE ", got \"a-\"" },
	{ "longest_namespace", "--namespace=" FIFTY "0123456789abc",
		"kubeconfig=- master=- ns=" FIFTY "0123456789abc " DEFAULTS },
	{ "namespace_too_long", "--namespace=" FIFTY "0123456789abcd",
		"--namespace: want " NAMESPACE ", got \"" FIFTY "0123456789abcd\"" },
	{ "lease_in_no_namespace", "--leader-elect-resource-namespace=A",
		"--leader-elect-resource-namespace: want " NAMESPACE ", got \"A\"" },
	{ "lease_with_dots", "--leader-elect --leader-elect-resource-name=a.b-c",
		"kubeconfig=- master=- ns=- " DEFAULTS " leader=15000/10000/2000 a.b-c@-" },
	{ "lease_with_two_dots", "--leader-elect-resource-name=a..b",
		"--leader-elect-resource-name: want " NAME ", got \"a..b\"" },
	{ "lease_that_ends_in_a_dot", "--leader-elect-resource-name=a.",
		"--leader-elect-resource-name: want " NAME ", got \"a.\"" },
	{ "bad_bool", "--disable-http2=maybe", "--disable-http2: want true or false, got \"maybe\"" },
};

static void parses_the_command_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(rows); i++) {
		struct kar_arena arena = { 0 };
		struct kar_options o;
		struct kar_err err = { 0 };
		char line[320], got[KAR_ERR_MSG_BYTES];
		char *argv[MAX_ARGS + 2];

		snprintf(line, sizeof(line), "%s", rows[i].line);
		if (kar_options_parse(&o, &arena, split(line, argv), argv, &err) == 0)
			render(&o, got, sizeof(got));
		else
			snprintf(got, sizeof(got), "%s", err.msg);
		if (strcmp(got, rows[i].want))
			fail_msg("%s: got \"%s\", want \"%s\"", rows[i].name, got, rows[i].want);
		kar_arena_release(&arena);
	}
}

/* Writes @text to a new file, followed by a comment up to @size bytes, and returns its path in @path. */
static void write_file(char path[64], const char *text, size_t size)
{
	size_t n = strlen(text), all = size > n ? size : n;
	char *bytes = kar_xmalloc(all + 1);
	int fd;

	memset(bytes, '#', all);
	memcpy(bytes, text, n);
	snprintf(path, 64, "/tmp/kar-options-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, all), (ssize_t)all);
	close(fd);
	free(bytes);
}

#define HEAD "apiVersion: config.kube-arbitrator.io/v1alpha1\nkind: KarControllersConfiguration\n"

/* .file of .size bytes, if that is not 0: the text, then comments. @want: of the result a part, of an error all behind the path. */
static const struct {
	const char *name, *file, *line, *want;
	size_t size;
} file_rows[] = {
	{ "settings_from_the_file", HEAD "kube-api-qps: 20\nnamespace: a\n", "",
		"ns=a v=0 format=text qps=20" },
	{ "command_line_beats_the_file", HEAD "kube-api-qps: 20\nnamespace: a\n", "--namespace=b",
		"ns=b v=0 format=text qps=20" },
	{ "camel_case",
		"kind: KarControllersConfiguration\nkubeApiQps: 20\n\"v\": '2'\n"
		"apiVersion: config.kube-arbitrator.io/v1alpha1\ndisableHttp2: true\n",
		"", "ns=- v=2 format=text qps=20 burst=1 in-flight=64 timeout=60000 http1=1" },
	{ "json_is_yaml",
		"{\"apiVersion\": \"config.kube-arbitrator.io/v1alpha1\", \"kind\": \"KarControllersConfiguration\", \"v\": 2}",
		"", "ns=- v=2" },
	{ "largest", HEAD, "", "kubeconfig=- master=- ns=- " DEFAULTS, 1 << 20 },
	{ "too_large", HEAD, "", "is larger than 1048576 bytes", (1 << 20) + 1 },
	{ "unknown_key", HEAD "kube-api-qsp: 20\n", "",
		"line 3, column 1: unknown key \"kube-api-qsp\"; the keys are the flags of --help without dashes" },
	{ "key_with_dashes", HEAD "v: 2\n--v: 2\n", "",
		"line 4, column 1: unknown key \"--v\"; the keys are the flags of --help without dashes" },
	{ "camel_case_is_exact", HEAD "kubeApiqps: 20\n", "",
		"line 3, column 1: unknown key \"kubeApiqps\"; the keys are the flags of --help without dashes" },
	{ "file_in_a_file", HEAD "config: x\n", "",
		"line 3, column 1: unknown key \"config\"; the keys are the flags of --help without dashes" },
	{ "help_in_a_file", HEAD "help: true\n", "",
		"line 3, column 1: unknown key \"help\"; the keys are the flags of --help without dashes" },
	{ "version_in_a_file", HEAD "version: true\n", "",
		"line 3, column 1: unknown key \"version\"; the keys are the flags of --help without dashes" },
	{ "man_in_a_file", HEAD "man: true\n", "",
		"line 3, column 1: unknown key \"man\"; the keys are the flags of --help without dashes" },
	{ "duplicate_key", HEAD "v: 1\nnamespace: a\nv: 2\n", "", "line 5, column 1: duplicate key \"v\"" },
	{ "duplicate_in_two_spellings", HEAD "kube-api-qps: 1\nkubeApiQps: 2\n", "",
		"line 4, column 1: duplicate key \"kubeApiQps\"" },
	{ "duplicate_kind", HEAD "kind: KarControllersConfiguration\n", "",
		"line 3, column 1: duplicate key \"kind\"" },
	{ "bad_value", HEAD "schedule-timeout:   soon\n", "",
		"line 3, column 21: schedule-timeout: want a duration from 1s to 10000h such as 90s or 5m, got \"soon\"" },
	{ "null", HEAD "namespace: null\n", "", "line 3, column 12: namespace: has no value (null)" },
	{ "tilde_is_null", HEAD "namespace: ~\n", "", "line 3, column 12: namespace: has no value (null)" },
	{ "nothing_is_null", HEAD "namespace:\nv: 2\n", "",
		"line 3, column 11: namespace: has no value (null)" },
	{ "list_as_value", HEAD "v: [1]\n", "", "line 3, column 4: v: want one value, got a list or a map" },
	{ "map_as_value", HEAD "v:\n  w: 1\n", "",
		"line 4, column 3: v: want one value, got a list or a map" },
	{ "map_as_key", HEAD "? {a: b}\n: c\n", "",
		"line 3, column 3: a key: want one value, got a list or a map" },
	{ "anchor", HEAD "v: &a 1\n", "", "line 3, column 4: v: anchors are not accepted" },
	{ "alias", HEAD "v: *a\n", "", "line 3, column 4: v: aliases are not accepted" },
	{ "zero_byte", HEAD "namespace: \"a\\0b\"\n", "", "line 3, column 12: namespace: has a zero byte" },
	{ "second_document", HEAD "---\nv: 2\n", "", "line 3, column 1: only one document is accepted" },
	{ "empty", "", "", "line 1, column 1: the document is empty" },
	{ "comments_only", "# v: 2\n", "", "line 1, column 1: the document is empty" },
	{ "list_instead_of_map", "- a\n", "", "line 1, column 1: want a map of keys and values" },
	{ "not_yaml", HEAD "namespace: 'a\n", "",
		"line 4, column 1: not YAML: while scanning a quoted scalar: found unexpected end of stream" },
	{ "not_utf_8", HEAD "namespace: a\xff\n", "",
		"line 3, column 13: not YAML: invalid leading UTF-8 octet" },
	{ "no_kind", "v: 2\n", "",
		"line 1, column 1: want apiVersion: config.kube-arbitrator.io/v1alpha1 and kind: KarControllersConfiguration" },
	{ "other_version", "apiVersion: config.kube-arbitrator.io/v1\nkind: KarControllersConfiguration\n",
		"",
		"line 1, column 13: apiVersion: want config.kube-arbitrator.io/v1alpha1, got \"config.kube-arbitrator.io/v1\"" },
	{ "other_kind", "kind: Configuration\n", "",
		"line 1, column 7: kind: want KarControllersConfiguration, got \"Configuration\"" },
	{ "impossible_combination", HEAD "gang-backend: Auto\nnamespace: a\n", "",
		"line 3, column 1: --gang-backend is for a manager of all namespaces: with --namespace no gang is placed" },
	{ "impossible_with_the_command_line", HEAD "namespace: a\n", "--gang-backend=Auto",
		"--gang-backend is for a manager of all namespaces: with --namespace no gang is placed" },
	{ "out_of_range", HEAD "max-in-flight: 0\n", "",
		"line 3, column 16: max-in-flight: want a whole number from 1 to 10000, got \"0\"" },
	{ "bad_name", HEAD "namespace: Bad_NS\n", "",
		"line 3, column 12: namespace: want " NAMESPACE ", got \"Bad_NS\"" },
	{ "leader_in_a_file", HEAD "leader-elect: true\nleader-elect-retry-period: 0s\n", "",
		"line 4, column 1: " LEADER_TIMES "; they are 15s, 10s and 0s" },
	{ "address_in_a_file", HEAD "metrics-bind-address: 8443\n", "",
		"line 3, column 1: --metrics-bind-address: want HOST:PORT such as :8443, 127.0.0.1:8443 or [::1]:8443, got \"8443\"" },
};

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end);
}

static void reads_the_configuration_file(void **state)
{
	(void)state;
	for (size_t i = 0; i < KAR_LEN(file_rows); i++) {
		struct kar_arena arena = { 0 };
		struct kar_options o;
		struct kar_err err = { 0 };
		char line[256], got[KAR_ERR_MSG_BYTES], path[64];
		char *argv[MAX_ARGS + 2];

		write_file(path, file_rows[i].file, file_rows[i].size);
		snprintf(line, sizeof(line), "--config=%s %s", path, file_rows[i].line);
		if (kar_options_parse(&o, &arena, split(line, argv), argv, &err) == 0)
			render(&o, got, sizeof(got));
		else
			snprintf(got, sizeof(got), "%s", err.msg);
		unlink(path);
		if (!strstr(got, file_rows[i].want) ||
			(err.what && (err.what != KAR_FATAL || !ends_with(got, file_rows[i].want))))
			fail_msg("%s: got \"%s\", want \"...%s...\"", file_rows[i].name, got,
				file_rows[i].want);
		kar_arena_release(&arena);
	}
}

static void names_a_missing_configuration_file(void **state)
{
	struct kar_arena arena = { 0 };
	struct kar_options o;
	struct kar_err err = { 0 };
	char line[] = "--config=/does/not/exist.yaml";
	char *argv[MAX_ARGS + 2];

	(void)state;
	assert_int_equal(kar_options_parse(&o, &arena, split(line, argv), argv, &err), -1);
	assert_non_null(strstr(err.msg, "/does/not/exist.yaml"));
	kar_arena_release(&arena);
}

/* No file can set right what the command line says of the lease, so none is read: this one does not exist. */
static void lease_times_are_checked_before_a_file_is_read(void **state)
{
	static const struct {
		const char *line, *want;
	} contradictions[] = {
		{ "--leader-elect --leader-elect-lease-duration=5s --leader-elect-renew-deadline=5s",
			LEADER_TIMES },
		{ "--leader-elect --leader-elect-renew-deadline=5s --leader-elect-retry-period=5s",
			LEADER_TIMES },
		{ "--leader-elect --leader-elect-lease-duration=5s --leader-elect-retry-period=5s",
			LEADER_TIMES },
		{ "--leader-elect --leader-elect-lease-duration=500ms", LEADER_TIMES },
		{ "--leader-elect --leader-elect-retry-period=0s", LEADER_TIMES },
		{ "--leader-elect --leader-elect-renew-deadline=20s",
			"/does/not/exist.yaml" }, /* the file may have a longer lease */
		{ "--leader-elect --leader-elect-lease-duration=3s", "/does/not/exist.yaml" },
		{ "--leader-elect-lease-duration=5s --leader-elect-renew-deadline=5s",
			"/does/not/exist.yaml" },
	};

	(void)state;
	for (size_t i = 0; i < KAR_LEN(contradictions); i++) {
		struct kar_arena arena = { 0 };
		struct kar_options o;
		struct kar_err err = { 0 };
		char line[256], *argv[MAX_ARGS + 2];

		snprintf(line, sizeof(line), "--config=/does/not/exist.yaml %s", contradictions[i].line);
		assert_int_equal(kar_options_parse(&o, &arena, split(line, argv), argv, &err), -1);
		if (!strstr(err.msg, contradictions[i].want))
			fail_msg("%s: got \"%s\"", contradictions[i].line, err.msg);
		kar_arena_release(&arena);
	}
}

/* What @print writes; freed by the caller. */
static char *printed(void (*print)(FILE *out))
{
	char *text = NULL;
	size_t n = 0;
	FILE *out = open_memstream(&text, &n);

	assert_non_null(out);
	print(out);
	fclose(out);
	return text;
}

static void help_is_narrow_and_has_every_flag(void **state)
{
	char *text = printed(kar_options_help), *man = printed(kar_options_man);
	const struct kar_flag *f;

	(void)state;
	for (size_t i = 0; (f = kar_flag_at(i)) != NULL; i++) {
		char name[64];

		snprintf(name, sizeof(name), "\n  %s%s", strlen(f->name) == 1 ? "-" : "--", f->name);
		if (!strstr(text, name))
			fail_msg("--help has no %s", f->name);
		snprintf(name, sizeof(name), "\n.SS %s\n", f->group);
		if (!strstr(man, name))
			fail_msg("--man has no group %s", f->group);
	}
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (strlen(line) > 120)
			fail_msg("longer than 120 columns: %s", line);
	}
	free(man);
	free(text);
}

/* No line begins with a request by accident, and a dash is no hyphen. */
static void man_page_is_escaped(void **state)
{
	static const char *const requests[] = { ".TH ", ".SH ", ".SS ", ".TP", ".PP", ".br", ".nf", ".fi",
		".RS", ".RE" };
	char *man = printed(kar_options_man);

	(void)state;
	assert_non_null(strstr(man, "\\fB\\-\\-kube\\-api\\-qps\\fR \\fInumber\\fR\n"));
	assert_non_null(strstr(man, "\n(default kar\\-scheduler)\n"));
	for (char *line = strtok(man, "\n"); line; line = strtok(NULL, "\n")) {
		bool known = line[0] != '.' && line[0] != '\'';

		for (size_t i = 0; i < KAR_LEN(requests); i++)
			known |= !strncmp(line, requests[i], strlen(requests[i]));
		if (!known)
			fail_msg("unknown request: %s", line);
	}
	free(man);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_the_command_line),
		cmocka_unit_test(reads_the_configuration_file),
		cmocka_unit_test(lease_times_are_checked_before_a_file_is_read),
		cmocka_unit_test(names_a_missing_configuration_file),
		cmocka_unit_test(help_is_narrow_and_has_every_flag),
		cmocka_unit_test(man_page_is_escaped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
