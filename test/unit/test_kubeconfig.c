/* kubeconfig: files and environment in, the resolved cluster and user out, or the exact text of the error. */
#include "kubeconfig_fixture.h"
#include "pem_samples.h"

#define EXEC(body) SIMPLE_CONTEXT SIMPLE_CLUSTER USER("exec: {" body "}")
#define EXEC_V1 "apiVersion: client.authentication.k8s.io/v1"
#define ONE(text_) .files = { { "config", text_ } }, .kubeconfig = "$DIR/config"
#define BASE "source=$DIR/config, context dev\nserver=https://c:6443\nns=default\n"

static const struct row rows[] = {
	{ "token_then_token", ONE(SIMPLE_CONTEXT SIMPLE_CLUSTER USER("token: t0k")),
		.config = BASE "token=t0k\n" },
	{ "everything_of_a_cluster_then_all_set",
		ONE(SIMPLE_CONTEXT USER("") CLUSTER(
			"server: 'https://c:1/k8s/', certificate-authority-data: " CERT_B64
			", tls-server-name: n, proxy-url: 'socks5://p:1080', disable-compression: true, unknown: 7")),
		.config =
			"source=$DIR/config, context dev\nserver=https://c:1/k8s\nns=default\ntls_server_name=n\n"
			"proxy_url=socks5://p:1080\nca_pem=" CERT_PEM "\n" },
	{ "insecure_then_insecure",
		ONE(SIMPLE_CONTEXT USER("") CLUSTER("server: 'https://c', "
						    "insecure-skip-tls-verify: true")),
		.config = "source=$DIR/config, context dev\nserver=https://c\nns=default\ninsecure\n" },
	{ "relative_files_then_relative_to_the_file",
		.files = { { "sub/config",
			SIMPLE_CONTEXT CLUSTER("server: 'https://c:6443', certificate-authority: ca.crt") USER(
				"client-certificate: ./c.crt, client-key: /abs/c.key, tokenFile: t/tok") } },
		.kubeconfig = "$DIR/sub/config",
		.config =
			"source=$DIR/sub/config, context dev\nserver=https://c:6443\nns=default\nca_file=$DIR/sub/ca.crt\n"
			"cert_file=$DIR/sub/./c.crt\nkey_file=/abs/c.key\ntoken_file=$DIR/sub/t/tok\n" },
	{ "data_and_file_then_data_wins",
		ONE(SIMPLE_CONTEXT CLUSTER(
			"server: 'https://c:6443', certificate-authority: x, certificate-authority-data: " CERT_B64)
				USER("client-certificate: x, client-certificate-data: " CERT_B64
				     ", client-key: x, client-key-data: " KEY_B64)),
		.config = BASE "ca_pem=" CERT_PEM "\ncert_pem=" CERT_PEM "\nkey_pem=" KEY_PEM "\n" },
	{ "token_and_token_file_then_the_file_wins",
		ONE(SIMPLE_CONTEXT SIMPLE_CLUSTER USER("token: t, tokenFile: /f")),
		.config = BASE "token_file=/f\n" },
	{ "username_without_password_then_both_set", ONE(SIMPLE_CONTEXT SIMPLE_CLUSTER USER("username: me")),
		.config = BASE "username=me\npassword=\n" },
	{ "impersonation_then_set",
		ONE(SIMPLE_CONTEXT SIMPLE_CLUSTER USER("token: t, as: jane, as-uid: '7', as-groups: [a, b]")),
		.config = BASE "token=t\nas_user=jane\nas_uid=7\nas_group=a\nas_group=b\n" },
	{ "bare_exec_command_then_unchanged",
		ONE(EXEC(EXEC_V1
			", command: aws, args: [eks, '--region', 'a b'], env: [{name: A, value: '1'}, {name: B}], "
			"installHint: get it, interactiveMode: IfAvailable")),
		.config = BASE
		"exec=aws v=client.authentication.k8s.io/v1\n arg=eks\n arg=--region\n arg=a b\n env=A=1\n"
		" env=B=\n hint=get it\n" },
	{ "exec_command_with_slash_then_relative_to_the_file",
		ONE(EXEC("apiVersion: client.authentication.k8s.io/v1beta1, command: bin/p")),
		.config = BASE "exec=$DIR/bin/p v=client.authentication.k8s.io/v1beta1\n" },
	{ "exec_wants_cluster_info_then_contents_not_paths",
		.files = { { "ca.crt", CERT_PEM },
			{ "config",
				SIMPLE_CONTEXT CLUSTER(
					"server: 'https://c:6443', certificate-authority: ca.crt, tls-server-name: n, extensions: "
					"[{name: client.authentication.k8s.io/exec, extension: {audience: me}}]")
					USER("exec: {" EXEC_V1 ", command: p, provideClusterInfo: true}") } },
		.kubeconfig = "$DIR/config",
		.config = BASE
		"tls_server_name=n\nca_file=$DIR/ca.crt\nexec=p v=client.authentication.k8s.io/v1\n"
		" cluster={\"server\":\"https://c:6443\",\"tls-server-name\":\"n\",\"certificate-authority-data\":\"" CERT_B64
		"\",\"config\":{\"audience\":\"me\"}}\n" },
	{ "json_file_then_read_too",
		ONE("{\"current-context\":\"d\",\"contexts\":[{\"name\":\"d\",\"context\":{\"cluster\":\"c\",\"namespace\":"
		    "\"n\"}}],\"clusters\":[{\"name\":\"c\",\"cluster\":{\"server\":\"https://c\"}}]}"),
		.config = "source=$DIR/config, context d\nserver=https://c\nns=n\n" },
	{ "context_flag_then_it_beats_current_context",
		ONE(SIMPLE_CLUSTER
			"current-context: nowhere\ncontexts:\n- {name: p, context: {cluster: c}}\n"),
		.context = "p",
		.config = "source=$DIR/config, context p\nserver=https://c:6443\nns=default\n" },
	{ "plain_http_then_no_credentials",
		ONE(SIMPLE_CONTEXT CLUSTER("server: 'http://127.0.0.1:8001'") USER("token: t")),
		.config = "source=$DIR/config, context dev\nserver=http://127.0.0.1:8001\nns=default\n" },
	{ "master_then_server_and_its_name_replaced",
		ONE(SIMPLE_CONTEXT CLUSTER("server: 'https://c', tls-server-name: n") USER("token: t")),
		.master = "https://other:6443/",
		.config =
			"source=$DIR/config, context dev\nserver=https://other:6443\nns=default\ntoken=t\n" },
	{ "master_alone_then_anonymous", .master = "http://127.0.0.1:8001",
		.config = "source=--master\nserver=http://127.0.0.1:8001\nns=default\n" },

	/* Merging. */
	{ "two_files_then_first_wins_whole_entry",
		.files = { { "a",
				   "current-context: dev\nusers: [{name: u, user: {username: first}}]\n"
				   "clusters: [{name: c, cluster: {server: 'https://a'}}]\n" },
			{ "b",
				SIMPLE_CONTEXT CLUSTER("server: 'https://b', tls-server-name: b")
					USER("username: second, password: p") } },
		.env = { "KUBECONFIG=$DIR/a:$DIR/b" },
		.config =
			"source=$DIR/b, context dev\nserver=https://a\nns=default\nusername=first\npassword=\n" },
	{ "missing_and_empty_entries_then_skipped",
		.files = { { "b", SIMPLE_CONTEXT SIMPLE_CLUSTER USER("token: t") }, { "empty", "" } },
		.env = { "KUBECONFIG=:$DIR/none:$DIR/empty::$DIR/b:" },
		.config = "source=$DIR/b, context dev\nserver=https://c:6443\nns=default\ntoken=t\n" },
	{ "files_in_two_folders_then_each_relative_to_its_own",
		.files = { { "x/a", "current-context: dev\n" USER("tokenFile: tok") },
			{ "y/b", SIMPLE_CONTEXT CLUSTER("server: 'https://c', certificate-authority: ca") } },
		.env = { "KUBECONFIG=$DIR/x/a:$DIR/y/b" },
		.config = "source=$DIR/y/b, context dev\nserver=https://c\nns=default\nca_file=$DIR/y/ca\n"
			  "token_file=$DIR/x/tok\n" },
	{ "flag_and_environment_then_flag_alone",
		.files = { { "a", SIMPLE_CONTEXT SIMPLE_CLUSTER }, { "b", USER("token: t") } },
		.kubeconfig = "$DIR/a", .env = { "KUBECONFIG=$DIR/b" },
		.error = "context \"dev\" names user \"u\", which is not in $DIR/a; users there: none" },
	{ "environment_and_home_then_environment",
		.files = { { "b", SIMPLE_CONTEXT SIMPLE_CLUSTER USER("") },
			{ ".kube/config", "not a kubeconfig" } },
		.env = { "KUBECONFIG=$DIR/b", "HOME=$DIR" },
		.config = "source=$DIR/b, context dev\nserver=https://c:6443\nns=default\n" },
	{ "home_then_home", .files = { { ".kube/config", SIMPLE_CONTEXT SIMPLE_CLUSTER USER("") } },
		.env = { "HOME=$DIR" },
		.config = "source=$DIR/.kube/config, context dev\nserver=https://c:6443\nns=default\n" },

	/* In the cluster. The service account's folder is $DIR/sa. */
	{ "pod_then_service_account",
		.files = { { "sa/token", "t\n" }, { "sa/namespace", "batch\n" }, { ".kube/config", "x" } },
		.env = { "KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443", "HOME=$DIR" },
		.config = "source=in-cluster\nserver=https://10.0.0.1:443\nns=batch\nca_file=$DIR/sa/ca.crt\n"
			  "token_file=$DIR/sa/token\n" },
	{ "tool_of_a_person_in_a_pod_then_home",
		.files = { { "sa/token", "t\n" },
			{ ".kube/config", SIMPLE_CONTEXT SIMPLE_CLUSTER USER("") } },
		.env = { "KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443", "HOME=$DIR" },
		.home_first = true,
		.config = "source=$DIR/.kube/config, context dev\nserver=https://c:6443\nns=default\n" },
	{ "tool_of_a_person_in_a_pod_and_another_context_then_error",
		.files = { { "sa/token", "t\n" },
			{ ".kube/config", SIMPLE_CONTEXT SIMPLE_CLUSTER USER("") } },
		.env = { "KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443", "HOME=$DIR" },
		.home_first = true, .context = "prod",
		.error = "context \"prod\" is not in $DIR/.kube/config; contexts there: dev" },
	{ "tool_of_a_person_in_a_pod_without_home_then_service_account", .files = { { "sa/token", "t\n" } },
		.env = { "KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443", "HOME=$DIR" },
		.home_first = true,
		.config =
			"source=in-cluster\nserver=https://10.0.0.1:443\nns=default\nca_file=$DIR/sa/ca.crt\n"
			"token_file=$DIR/sa/token\n" },
	{ "context_in_a_pod_without_files_then_error", .files = { { "sa/token", "t\n" } },
		.env = { "KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443", "HOME=$DIR" },
		.home_first = true, .context = "prod",
		.error =
			"context \"prod\": there is no kubeconfig, and the service account of this pod has no contexts; "
			"use --kubeconfig FILE" },
	{ "ipv6_pod_then_brackets", .files = { { "sa/token", "t" } },
		.env = { "KUBERNETES_SERVICE_HOST=fd00::1", "KUBERNETES_SERVICE_PORT=6443" },
		.config =
			"source=in-cluster\nserver=https://[fd00::1]:6443\nns=default\nca_file=$DIR/sa/ca.crt\n"
			"token_file=$DIR/sa/token\n" },
	{ "pod_without_token_then_home",
		.files = { { ".kube/config", SIMPLE_CONTEXT SIMPLE_CLUSTER USER("") } },
		.env = { "KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443", "HOME=$DIR" },
		.config = "source=$DIR/.kube/config, context dev\nserver=https://c:6443\nns=default\n" },
	{ "pod_and_kubeconfig_variable_then_the_variable",
		.files = { { "sa/token", "t" }, { "b", SIMPLE_CONTEXT SIMPLE_CLUSTER USER("") } },
		.env = { "KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443",
			"KUBECONFIG=$DIR/b" },
		.config = "source=$DIR/b, context dev\nserver=https://c:6443\nns=default\n" },

	/* Nothing there. */
	{ "flag_names_no_file_then_error", .kubeconfig = "$DIR/none",
		.error = "cannot read $DIR/none: No such file or directory" },
	{ "flag_names_a_folder_then_error", .kubeconfig = "$DIR",
		.error = "cannot read $DIR: Is a directory" },
	{ "no_file_of_the_variable_exists_then_error", .env = { "KUBECONFIG=$DIR/x:$DIR/y", "HOME=$DIR" },
		.error = "no file named by $KUBECONFIG exists ($DIR/x:$DIR/y); correct it, unset it or use "
			 "--kubeconfig FILE" },
	{ "nothing_anywhere_then_error", .env = { "HOME=$DIR" },
		.error =
			"no cluster is configured: no --kubeconfig, $KUBECONFIG is not set, this is not a pod and "
			"$DIR/.kube/config does not exist; use --kubeconfig FILE" },
	{ "pod_without_token_and_home_then_error",
		.env = { "KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443" },
		.error =
			"this pod has no service account token ($DIR/sa/token); set automountServiceAccountToken: true "
			"or use --kubeconfig FILE" },

	/* Names. */
	{ "no_current_context_then_error",
		ONE("contexts:\n- {name: a, context: {}}\n- {name: b, context: {}}\n"),
		.error =
			"$DIR/config: current-context is not set; set it with kubectl config use-context, or use --context; "
			"contexts there: a, b" },
	{ "unknown_context_then_error", ONE(SIMPLE_CONTEXT), .context = "prod",
		.error = "context \"prod\" is not in $DIR/config; contexts there: dev" },
	{ "unknown_cluster_then_error",
		ONE(SIMPLE_CONTEXT "clusters:\n- {name: a, cluster: {}}\n- {name: b, cluster: {}}\n"),
		.error =
			"context \"dev\" names cluster \"c\", which is not in $DIR/config; clusters there: a, b" },
	{ "unknown_user_then_error",
		ONE(SIMPLE_CONTEXT SIMPLE_CLUSTER "users:\n- {name: v, user: {token: t0k}}\n"),
		.error = "context \"dev\" names user \"u\", which is not in $DIR/config; users there: v" },
	{ "context_without_cluster_then_error", ONE("current-context: dev\ncontexts:\n- {name: dev}\n"),
		.error = "$DIR/config: context \"dev\" names no cluster" },
	{ "same_name_twice_then_error",
		ONE(SIMPLE_CONTEXT SIMPLE_CLUSTER "users:\n- {name: u, user: {}}\n- {name: u, user: {}}\n"),
		.error = "$DIR/config: user \"u\" is defined twice; remove one of them" },
	{ "entry_without_name_then_error", ONE("clusters:\n- cluster: {server: x}\n"),
		.error = "$DIR/config: clusters[0] has no name" },
	{ "other_kind_then_error", ONE("kind: Pod\napiVersion: v1\n"),
		.error = "$DIR/config: is no kubeconfig: its kind is \"Pod\", not \"Config\"" },

	/* Settings. */
	{ "no_server_then_error", ONE(SIMPLE_CONTEXT CLUSTER("") USER("")),
		.error = "$DIR/config: cluster \"c\": has no server; set it to https://host:port" },
	{ "server_without_scheme_then_error", ONE(SIMPLE_CONTEXT CLUSTER("server: 'c:6443'") USER("")),
		.error = "$DIR/config: cluster \"c\": server \"c:6443\" is no URL; want https://host:port" },
	{ "server_with_password_then_not_shown",
		ONE(SIMPLE_CONTEXT CLUSTER("server: 'https://u:s3cret@c'") USER("")),
		.error =
			"$DIR/config: cluster \"c\": the server URL holds a user name; put credentials under users" },
	{ "bad_master_then_error", ONE(SIMPLE_CONTEXT SIMPLE_CLUSTER USER("")), .master = "c:1",
		.error = "--master: server \"c:1\" is no URL; want https://host:port" },
	{ "bad_proxy_then_not_shown",
		ONE(SIMPLE_CONTEXT CLUSTER("server: 'https://c', proxy-url: 'ftp://u:s3cret@p'") USER("")),
		.error =
			"$DIR/config: cluster \"c\": proxy-url must begin with http://, https:// or socks5:// and name a "
			"host" },
	{ "insecure_with_ca_then_error",
		ONE(SIMPLE_CONTEXT CLUSTER("server: 'https://c', insecure-skip-tls-verify: true, "
					   "certificate-authority: x") USER("")),
		.error = "$DIR/config: cluster \"c\": insecure-skip-tls-verify is set together with a "
			 "certificate-authority; remove one of them" },
	{ "bad_base64_then_error",
		ONE(SIMPLE_CONTEXT CLUSTER("server: 'https://c', certificate-authority-data: 'AB_D'")
				USER("")),
		.error =
			"$DIR/config: cluster \"c\": certificate-authority-data is not valid base64 (at character 3); "
			"write it with: base64 -w0 FILE" },
	{ "ca_is_not_pem_then_error",
		ONE(SIMPLE_CONTEXT CLUSTER("server: 'https://c', certificate-authority-data: aGVsbG8=")
				USER("")),
		.error =
			"$DIR/config: cluster \"c\": certificate-authority-data holds no certificate in PEM form "
			"(-----BEGIN ...)" },
	{ "ca_is_der_then_error",
		ONE(SIMPLE_CONTEXT CLUSTER("server: 'https://c', certificate-authority-data: MAMCAQA=")
				USER("")),
		.error =
			"$DIR/config: cluster \"c\": certificate-authority-data holds binary data where PEM text belongs" },
	{ "key_and_certificate_swapped_then_error",
		ONE(SIMPLE_CONTEXT SIMPLE_CLUSTER USER(
			"client-certificate-data: " KEY_B64 ", client-key-data: " CERT_B64)),
		.error =
			"$DIR/config: user \"u\": client-certificate-data holds a private key where a certificate belongs" },
	{ "certificate_without_key_then_error",
		ONE(SIMPLE_CONTEXT SIMPLE_CLUSTER USER("client-certificate-data: " CERT_B64)),
		.error = "$DIR/config: user \"u\": has a client-certificate but no client-key; add the key" },
	{ "key_without_certificate_then_error", ONE(SIMPLE_CONTEXT SIMPLE_CLUSTER USER("client-key: k")),
		.error =
			"$DIR/config: user \"u\": has a client-key but no client-certificate; add the certificate" },
	{ "two_methods_then_error",
		ONE(SIMPLE_CONTEXT SIMPLE_CLUSTER USER("token: s3cret, username: u, password: s3cret")),
		.error =
			"$DIR/config: user \"u\": has both token and username/password; remove one of them" },
	{ "exec_and_token_then_error",
		ONE(SIMPLE_CONTEXT SIMPLE_CLUSTER USER("token: s3cret, exec: {" EXEC_V1 ", command: p}")),
		.error = "$DIR/config: user \"u\": has both exec and token; remove one of them" },
	{ "token_with_line_break_then_not_shown",
		ONE(SIMPLE_CONTEXT SIMPLE_CLUSTER USER("token: \"s3cret\\nX-Remote-User: root\"")),
		.error =
			"$DIR/config: user \"u\": token: contains white space, control or non-ASCII characters; a token is "
			"one word" },
	{ "auth_provider_then_error", ONE(SIMPLE_CONTEXT SIMPLE_CLUSTER USER("auth-provider: {name: gcp}")),
		.error =
			"$DIR/config: user \"u\": auth-provider \"gcp\" is not supported (Kubernetes removed it in 1.26); "
			"use an exec plug-in" },
	{ "groups_without_user_then_error",
		ONE(SIMPLE_CONTEXT SIMPLE_CLUSTER USER("token: t, as-groups: [g]")),
		.error =
			"$DIR/config: user \"u\": has as-uid or as-groups without as; add the user to impersonate" },
	{ "header_in_impersonation_then_error",
		ONE(SIMPLE_CONTEXT SIMPLE_CLUSTER USER("token: t, as: \"a\\r\\nb\"")),
		.error = "$DIR/config: user \"u\": as or as-uid contains control characters" },
	{ "user_extra_then_error",
		ONE(SIMPLE_CONTEXT SIMPLE_CLUSTER USER("token: t, as: a, as-user-extra: {scopes: [x]}")),
		.error = "$DIR/config: user \"u\": as-user-extra is not supported; remove it" },
	{ "exec_without_command_then_error", ONE(EXEC(EXEC_V1)),
		.error = "$DIR/config: user \"u\": exec has no command" },
	{ "exec_of_old_version_then_error",
		ONE(EXEC("apiVersion: client.authentication.k8s.io/v1alpha1, command: p")),
		.error =
			"$DIR/config: user \"u\": exec apiVersion \"client.authentication.k8s.io/v1alpha1\" is not "
			"supported; use client.authentication.k8s.io/v1" },
	{ "interactive_exec_then_error", ONE(EXEC(EXEC_V1 ", command: p, interactiveMode: Always")),
		.error =
			"$DIR/config: user \"u\": exec interactiveMode is Always, but nobody is there to answer; use "
			"Never or IfAvailable" },
	{ "exec_env_without_name_then_error", ONE(EXEC(EXEC_V1 ", command: p, env: [{value: x}]")),
		.error = "$DIR/config: user \"u\": exec env[0] has no usable name" },
	{ "exec_cluster_info_without_ca_file_then_error",
		ONE(SIMPLE_CONTEXT CLUSTER("server: 'https://c', certificate-authority: ca.crt")
				USER("exec: {" EXEC_V1 ", command: p, provideClusterInfo: true}")),
		.error =
			"$DIR/config: cluster \"c\": certificate-authority: cannot read $DIR/ca.crt: No such file or "
			"directory" },
};

static void check_row(const struct row *r)
{
	const char *want = r->config ? r->config : r->error;
	struct tmpdir dir;
	char *got;

	tmpdir_init(&dir);
	for (size_t i = 0; i < MAX_FILES && r->files[i].path; i++)
		tmpdir_write(&dir, r->files[i].path, r->files[i].text, 0);
	for (size_t i = 0; i < MAX_VARIABLES; i++)
		variables[i] = here(&dir, r->env[i]);
	got = load_row(r, &dir);
	for (size_t i = 0; i < MAX_VARIABLES; i++)
		free(variables[i]);
	tmpdir_release(&dir);
	if (strcmp(got, want) != 0)
		fail_msg("%s:\n--- want\n%s\n--- got\n%s", r->name, want, got);
	free(got);
}

static void configurations_resolve(void **state KAR_UNUSED)
{
	for (size_t i = 0; i < KAR_LEN(rows); i++)
		check_row(&rows[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(configurations_resolve),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
