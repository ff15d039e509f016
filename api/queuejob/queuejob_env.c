#include "api/queuejob/queuejob_env.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "api/names.h"
#include "api/queuejob/queuejob_gang.h"
#include "common/base/str.h"
#include "common/codec/json.h"

#define NUMBER_LEN 16
#define HOST_LEN (KAR_POD_NAME_LEN + 256)

enum { TORCH_PORT = 29500, JAX_PORT = 1234 };

/* What is written, and the names that the template has already. */
struct env {
	struct kar_json_writer *w;
	const struct kar_pod_params *p;
	const struct kar_array *own; /* struct kar_str */
	bool unless_own;             /* nothing is written that the template has as well */
	struct kar_arena arena;
};

/* --- the template's variables ---------------------------------------------------------------------- */

struct wire_variable {
	const char *name;
};
static const struct kar_field variable_fields[] = {
	KAR_FIELD(struct wire_variable, name, "name", KAR_F_STRING),
};
static const struct kar_desc variable_desc = KAR_DESC("EnvVar", struct wire_variable, variable_fields);

static bool has_own(struct env *e, const char *name)
{
	const struct kar_str *items = e->own->items;

	for (size_t i = 0; i < e->own->n; i++) {
		struct wire_variable v = { 0 };

		if (kar_json_decode(&e->arena, &variable_desc, NULL, items[i].p, items[i].n, &v, NULL) == 0 &&
			kar_streq(v.name, name))
			return true;
	}
	return false;
}

/* --- variables -------------------------------------------------------------------------------------- */

static void put(struct env *e, const char *name, const char *value)
{
	if (e->unless_own && has_own(e, name))
		return;
	kar_jw_begin_object(e->w);
	kar_jw_kv_string(e->w, "name", name);
	kar_jw_kv_string(e->w, "value", value);
	kar_jw_end_object(e->w);
}

static void put_number(struct env *e, const char *name, int32_t n)
{
	char text[NUMBER_LEN];

	snprintf(text, sizeof(text), "%" PRId32, n);
	put(e, name, text);
}

static void put_index(struct env *e, const char *name)
{
	if (e->p->marked)
		put(e, name, KAR_POD_INDEX_MARK);
	else
		put_number(e, name, e->p->index);
}

static void put_rank(struct env *e, const char *name)
{
	if (e->p->marked)
		put(e, name, KAR_POD_RANK_MARK);
	else
		put_number(e, name, kar_queuejob_pod_rank(e->p->job, e->p->task, e->p->index));
}

/* --- hosts ------------------------------------------------------------------------------------------ */

static const char *host_of(const struct kar_queuejob *job, size_t task, int32_t index, char out[HOST_LEN])
{
	char pod[KAR_POD_NAME_LEN];

	snprintf(out, HOST_LEN, "%s.%s", kar_queuejob_pod_name(job, job->spec.tasks[task].name, index, pod),
		job->o.name);
	return out;
}

/* Bytes of "<job>-<task>-<index>.<job>," for all indexes, without the last comma. */
static int64_t bytes_of_hosts(const struct kar_queuejob *job, size_t task)
{
	int64_t n = job->spec.tasks[task].replicas, of_one = 0, digits = n;

	of_one = (int64_t)(2 * strlen(job->o.name) + strlen(job->spec.tasks[task].name) + strlen("--.,"));
	for (int64_t limit = 10; limit < n; limit *= 10)
		digits += n - limit;
	return n > 0 ? n * of_one + digits - 1 : 0;
}

bool kar_queuejob_hosts_too_long(const struct kar_queuejob *job, size_t task)
{
	return job->spec.dns_hostnames && bytes_of_hosts(job, task) > KAR_HOSTS_MAX_BYTES;
}

bool kar_queuejob_all_hosts_too_long(const struct kar_queuejob *job)
{
	int64_t bytes = 0;

	for (size_t i = 0; i < job->spec.n_tasks; i++)
		bytes += bytes_of_hosts(job, i);
	return job->spec.dns_hostnames && job->spec.frameworks & KAR_FRAMEWORK_MPI &&
		bytes > KAR_HOSTS_MAX_BYTES;
}

bool kar_queuejob_hosts(const struct kar_queuejob *job, size_t task, struct kar_buf *out)
{
	char host[HOST_LEN];

	if (!job->spec.dns_hostnames || kar_queuejob_hosts_too_long(job, task))
		return false;
	for (int32_t i = 0; i < job->spec.tasks[task].replicas; i++)
		kar_buf_printf(out, "%s%s", i ? "," : "", host_of(job, task, i, host));
	return true;
}

static void put_hosts(struct env *e, const char *name, size_t task)
{
	struct kar_buf list = { 0 };

	if (kar_queuejob_hosts(e->p->job, task, &list))
		put(e, name, list.n ? kar_buf_cstr(&list) : "");
	kar_buf_release(&list);
}

/* --- frameworks -------------------------------------------------------------------------------------- */

/* The host name of the pod of rank 0. */
static const char *first_host(const struct kar_queuejob *job, char out[HOST_LEN])
{
	size_t task = 0;

	while (task + 1 < job->spec.n_tasks && job->spec.tasks[task].replicas == 0)
		task++;
	return host_of(job, task, 0, out);
}

/* Pods with which the job runs once all its tasks have started. */
static int32_t least_pods(struct env *e)
{
	const struct kar_queuejob_spec *s = &e->p->job->spec;
	bool *started = kar_arena_alloc(&e->arena, s->n_tasks + 1, sizeof(*started));
	int32_t min;

	for (size_t i = 0; i < s->n_tasks; i++)
		started[i] = true;
	min = kar_queuejob_quorum(s, started);
	return min > 0 ? min : 1;
}

/*
 * torchrun for a number of nodes that changes: MIN:MAX, and a rendezvous that knows who is there. The static one waits for all.
 */
static void put_elastic_torch(struct env *e, const char *host, int32_t min, int32_t max)
{
	char endpoint[HOST_LEN + NUMBER_LEN], nodes[2 * NUMBER_LEN];

	snprintf(endpoint, sizeof(endpoint), "%s:%d", host, TORCH_PORT);
	snprintf(nodes, sizeof(nodes), "%" PRId32 ":%" PRId32, min, max);
	put(e, "PET_NNODES", nodes);
	put(e, "PET_RDZV_BACKEND", "c10d");
	put(e, "PET_RDZV_ENDPOINT", endpoint);
	put(e, "PET_RDZV_ID", e->p->job->o.name);
}

/*
 * torch.distributed reads the first four; torchrun reads PET_<option>, and sets the first four for its processes. The size of an elastic job
 * is not known: a program that believed WORLD_SIZE would wait for pods that may never come.
 */
static void put_torch(struct env *e)
{
	const struct kar_queuejob *job = e->p->job;
	int32_t size = kar_queuejob_total(&job->spec), min = least_pods(e);
	bool elastic = min < size;
	char host[HOST_LEN];

	first_host(job, host);
	put(e, "MASTER_ADDR", host);
	put_number(e, "MASTER_PORT", TORCH_PORT);
	if (!elastic)
		put_number(e, "WORLD_SIZE", size);
	put_rank(e, "RANK");
	put(e, "PET_MASTER_ADDR", host);
	put_number(e, "PET_MASTER_PORT", TORCH_PORT);
	put_rank(e, "PET_NODE_RANK");
	if (elastic)
		put_elastic_torch(e, host, min, size);
	else
		put_number(e, "PET_NNODES", size);
}

static void put_jax(struct env *e)
{
	char host[HOST_LEN], address[HOST_LEN + NUMBER_LEN];

	snprintf(address, sizeof(address), "%s:%d", first_host(e->p->job, host), JAX_PORT);
	put(e, "JAX_COORDINATOR_ADDRESS", address);
	put_number(e, "JAX_NUM_PROCESSES", kar_queuejob_total(&e->p->job->spec));
	put_rank(e, "JAX_PROCESS_ID");
}

/* A launcher needs the hosts of other tasks. Open MPI cuts host names at the first dot unless it is told not to. */
static void put_mpi(struct env *e)
{
	const struct kar_queuejob_spec *s = &e->p->job->spec;
	/* A part of them would start a part of the job. */
	bool all = !kar_queuejob_all_hosts_too_long(e->p->job);

	put(e, "OMPI_MCA_orte_keep_fqdn_hostnames", "true");
	for (size_t i = 0; i < s->n_tasks && all; i++) {
		struct kar_buf name = { 0 }, list = { 0 };

		kar_buf_puts(&name, KAR_ENV_HOSTS "_");
		for (const char *c = s->tasks[i].name; *c; c++)
			kar_buf_printf(&name, "%c",
				*c == '-'                        ? '_'
					: *c >= 'a' && *c <= 'z' ? *c - 'a' + 'A'
								 : *c);
		if (kar_queuejob_hosts(e->p->job, i, &list))
			put(e, kar_buf_cstr(&name), list.n ? kar_buf_cstr(&list) : "");
		kar_buf_release(&name);
		kar_buf_release(&list);
	}
}

/* --- all of it ---------------------------------------------------------------------------------------- */

/* "b1/r3" */
static const char *domain_text(const struct kar_array *domain, struct kar_arena *a)
{
	const struct kar_pair *labels = domain->items;
	const char *text = "";

	for (size_t i = 0; i < domain->n; i++)
		text = kar_arena_printf(a, "%s%s%s", text, i ? "/" : "", labels[i].value);
	return text;
}

/* Our variables come first, so that those of the template can refer to them, or override them. */
void kar_queuejob_write_env(struct kar_json_writer *w, const struct kar_pod_params *p,
	const struct kar_array *own)
{
	struct env e = { .w = w, .p = p, .own = own };
	const struct kar_queuejob_spec *s = &p->job->spec;
	const struct kar_str *items = own->items;

	kar_jw_begin_array(w);
	put(&e, KAR_ENV_QUEUEJOB, p->job->o.name);
	put(&e, KAR_ENV_TASK, s->tasks[p->task].name);
	put_index(&e, KAR_ENV_INDEX);
	put_rank(&e, KAR_ENV_RANK);
	put_number(&e, KAR_ENV_WORLD_SIZE, kar_queuejob_total(s));
	put_number(&e, KAR_ENV_TASK_SIZE, s->tasks[p->task].replicas);
	put_hosts(&e, KAR_ENV_HOSTS, p->task);
	if (p->domain.n)
		put(&e, KAR_ENV_DOMAIN, domain_text(&p->domain, &e.arena));
	e.unless_own = true; /* other programs know these names, and warn of a name that occurs twice */
	if (s->frameworks & KAR_FRAMEWORK_TORCH)
		put_torch(&e);
	if (s->frameworks & KAR_FRAMEWORK_JAX)
		put_jax(&e);
	if (s->frameworks & KAR_FRAMEWORK_MPI)
		put_mpi(&e);
	for (size_t i = 0; i < own->n; i++)
		kar_jw_raw(w, items[i]);
	kar_jw_end_array(w);
	kar_arena_release(&e.arena);
}
