#include "api/trainingjob/trainingjob_queuejob.h"

#include <inttypes.h>
#include <stdio.h>

#include "common/base/intern.h"
#include "common/base/str.h"
#include "common/codec/json.h"
#include "common/codec/quantity.h"

#define IMAGE "paddlepaddle/paddlecloud-job"
#define ETCD_IMAGE "quay.io/coreos/etcd:v3.2.1"

enum { MASTER_PORT = 8080, ETCD_PORT = 2379, BACKOFF_LIMIT = 6 };

/* The levels of S4. */
static const struct {
	const char *name;
	int32_t priority;
} levels[] = { { "experiment", 10 }, { "offline", 100 }, { "normal", 1000 }, { "production", 10000 } };

static int32_t priority_of(const char *level)
{
	for (size_t i = 0; level && i < KAR_LEN(levels); i++) {
		if (kar_streq(levels[i].name, level))
			return levels[i].priority;
	}
	return 1000;
}

/* --- environment ------------------------------------------------------------------------------------- */

static void write_env(struct kar_json_writer *w, const char *name, const char *value)
{
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "name", name);
	kar_jw_kv_string(w, "value", value ? value : "");
	kar_jw_end_object(w);
}

static void write_env_number(struct kar_json_writer *w, const char *name, int64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRId64, value);
	write_env(w, name, digits);
}

static void write_env_of_pod(struct kar_json_writer *w, const char *name, const char *field)
{
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "name", name);
	kar_jw_key(w, "valueFrom");
	kar_jw_begin_object(w);
	kar_jw_key(w, "fieldRef");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "fieldPath", field);
	kar_jw_end_object(w);
	kar_jw_end_object(w);
	kar_jw_end_object(w);
}

/* The threads of a trainer: one for each GPU, else for each cpu. */
static int64_t threads(const struct kar_training_part *trainer)
{
	const char *cpu = kar_training_amount(trainer, "cpu");
	int64_t gpus = kar_training_gpus(trainer);
	struct kar_quantity q;

	if (gpus)
		return gpus;
	return cpu && kar_quantity_parse(cpu, &q, NULL) == 0 ? kar_quantity_value(&q) : 1;
}

static void write_all_env(struct kar_json_writer *w, const struct kar_trainingjob *t)
{
	const struct kar_trainingjob_spec *s = &t->spec;

	kar_jw_key(w, "env");
	kar_jw_begin_array(w);
	write_env(w, "PADDLE_JOB_NAME", t->o.name);
	write_env_number(w, "TRAINERS", s->trainer.min);
	write_env_number(w, "PSERVERS", s->pserver.min);
	write_env(w, "ENTRY", s->entrypoint);
	write_env(w, "TOPOLOGY", s->entrypoint);
	write_env(w, "TRAINER_PACKAGE", s->workspace);
	write_env_number(w, "PADDLE_INIT_PORT", s->port);
	write_env_number(w, "PADDLE_INIT_TRAINER_COUNT", threads(&s->trainer));
	write_env_number(w, "PADDLE_INIT_PORTS_NUM", s->ports_num);
	write_env_number(w, "PADDLE_INIT_PORTS_NUM_FOR_SPARSE", s->ports_num_for_sparse);
	write_env_number(w, "PADDLE_INIT_NUM_GRADIENT_SERVERS", s->trainer.min);
	write_env_number(w, "PADDLE_INIT_NUM_PASSES", s->passes);
	write_env_number(w, "PADDLE_INIT_USE_GPU", kar_training_gpus(&s->trainer) > 0);
	write_env(w, "LD_LIBRARY_PATH", "/usr/local/cuda/lib64");
	if (s->etcd_endpoint)
		write_env(w, "ETCD_ENDPOINT", s->etcd_endpoint);
	write_env_of_pod(w, "NAMESPACE", "metadata.namespace");
	write_env_of_pod(w, "POD_IP", "status.podIP");
	kar_jw_end_array(w);
}

/* --- containers -------------------------------------------------------------------------------------- */

static void write_strings(struct kar_json_writer *w, const char *key, const char *const *items, size_t n)
{
	kar_jw_key(w, key);
	kar_jw_begin_array(w);
	for (size_t i = 0; i < n; i++)
		kar_jw_string(w, items[i]);
	kar_jw_end_array(w);
}

static void write_amounts(struct kar_json_writer *w, const char *key, const struct kar_array *pairs)
{
	const struct kar_pair *p = pairs->items;

	if (!pairs->n)
		return;
	kar_jw_key(w, key);
	kar_jw_begin_object(w);
	for (size_t i = 0; i < pairs->n; i++)
		kar_jw_kv_string(w, p[i].key, p[i].value);
	kar_jw_end_object(w);
}

static void write_resources(struct kar_json_writer *w, const struct kar_training_part *p)
{
	kar_jw_key(w, "resources");
	kar_jw_begin_object(w);
	write_amounts(w, "limits", &p->limits);
	write_amounts(w, "requests", &p->requests);
	kar_jw_end_object(w);
}

static void write_port(struct kar_json_writer *w, const char *name, int32_t port)
{
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "name", name);
	kar_jw_kv_int(w, "containerPort", port);
	kar_jw_end_object(w);
}

static void write_job_ports(struct kar_json_writer *w, const struct kar_trainingjob_spec *s)
{
	char name[24];

	for (int32_t p = s->port; p < s->port + s->ports_num + s->ports_num_for_sparse; p++) {
		snprintf(name, sizeof(name), "jobport-%d", (int)p);
		write_port(w, name, p);
	}
}

static void begin_container(struct kar_json_writer *w, const char *name, const char *image)
{
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "name", name);
	kar_jw_kv_string(w, "image", image);
}

static void write_container(struct kar_json_writer *w, const struct kar_trainingjob *t, const char *task,
	const char *start, const struct kar_training_part *part)
{
	const struct kar_trainingjob_spec *s = &t->spec;
	const char *const command[] = { "paddle_k8s", start };
	bool master = kar_streq(task, KAR_TRAINING_MASTER);

	begin_container(w, task, s->image ? s->image : IMAGE);
	kar_jw_kv_string(w, "imagePullPolicy", "Always");
	write_strings(w, "command", command, KAR_LEN(command));
	write_all_env(w, t);
	kar_jw_key(w, "ports");
	kar_jw_begin_array(w);
	if (master)
		write_port(w, "master", MASTER_PORT);
	else
		write_job_ports(w, s);
	kar_jw_end_array(w);
	write_resources(w, part);
	if (s->volume_mounts.n) {
		kar_jw_key(w, "volumeMounts");
		kar_jw_raw(w, s->volume_mounts);
	}
	kar_jw_end_object(w);
}

/* One member, whose data live as long as the master. */
static void write_etcd(struct kar_json_writer *w)
{
	static const char *const command[] = { "etcd", "--name=etcd0",
		"--advertise-client-urls=http://$(POD_IP):2379", "--listen-client-urls=http://0.0.0.0:2379",
		"--initial-advertise-peer-urls=http://$(POD_IP):2380",
		"--listen-peer-urls=http://0.0.0.0:2380", "--initial-cluster=etcd0=http://$(POD_IP):2380",
		"--initial-cluster-state=new" };

	begin_container(w, "etcd", ETCD_IMAGE);
	write_strings(w, "command", command, KAR_LEN(command));
	kar_jw_key(w, "env");
	kar_jw_begin_array(w);
	write_env_of_pod(w, "POD_IP", "status.podIP");
	kar_jw_end_array(w);
	kar_jw_key(w, "ports");
	kar_jw_begin_array(w);
	write_port(w, "etcd", ETCD_PORT);
	kar_jw_end_array(w);
	kar_jw_end_object(w);
}

/* --- tasks ------------------------------------------------------------------------------------------- */

struct task {
	const char *name, *label, *start;
	const struct kar_training_part *part;
	int32_t replicas, min, priority;
};

static void write_label(struct kar_json_writer *w, const struct kar_trainingjob *t, const char *label)
{
	kar_jw_key(w, "metadata");
	kar_jw_begin_object(w);
	kar_jw_key(w, "labels");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, label, t->o.name);
	kar_jw_end_object(w);
	kar_jw_end_object(w);
}

static void write_raw(struct kar_json_writer *w, const char *key, struct kar_str value)
{
	if (!value.n)
		return;
	kar_jw_key(w, key);
	kar_jw_raw(w, value);
}

static void write_pod(struct kar_json_writer *w, const struct kar_trainingjob *t, const struct task *task)
{
	const struct kar_trainingjob_spec *s = &t->spec;
	bool trainer = task->part == &s->trainer, master = kar_streq(task->name, KAR_TRAINING_MASTER);

	kar_jw_key(w, "template");
	kar_jw_begin_object(w);
	write_label(w, t, task->label);
	kar_jw_key(w, "spec");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "restartPolicy", trainer ? "Never" : "OnFailure");
	if (s->host_network)
		kar_jw_kv_bool(w, "hostNetwork", true);
	write_raw(w, "imagePullSecrets", s->pull_secrets);
	write_raw(w, "volumes", s->volumes);
	kar_jw_key(w, "containers");
	kar_jw_begin_array(w);
	write_container(w, t, task->name, task->start, task->part);
	if (master && !s->etcd_endpoint)
		write_etcd(w);
	kar_jw_end_array(w);
	kar_jw_end_object(w);
	kar_jw_end_object(w);
}

static void write_task(struct kar_json_writer *w, const struct kar_trainingjob *t, const struct task *task)
{
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "name", task->name);
	kar_jw_kv_int(w, "replicas", task->replicas);
	kar_jw_kv_int(w, "minAvailable", task->min);
	kar_jw_kv_int(w, "priority", task->priority);
	write_pod(w, t, task);
	kar_jw_end_object(w);
}

/* What a master asks for if its spec does not say. */
static const struct kar_training_part *master_of(const struct kar_trainingjob_spec *s)
{
	static const struct kar_pair limits[] = { { "cpu", "2" }, { "memory", "1Gi" } },
				     requests[] = { { "cpu", "1" }, { "memory", "500Mi" } };
	static const struct kar_training_part usual = {
		.given = true,
		.min = 1,
		.max = 1,
		.limits = { (void *)(uintptr_t)limits, KAR_LEN(limits) },
		.requests = { (void *)(uintptr_t)requests, KAR_LEN(requests) },
	};

	return s->master.limits.n || s->master.requests.n ? &s->master : &usual;
}

static void write_tasks(struct kar_json_writer *w, const struct kar_trainingjob *t, int32_t trainers)
{
	const struct kar_trainingjob_spec *s = &t->spec;
	bool ft = s->fault_tolerant;
	const struct task master = { KAR_TRAINING_MASTER, "paddle-job-master", "start_master", master_of(s),
		1, 1, 3 };
	const struct task pserver = { KAR_TRAINING_PSERVER, "paddle-job-pserver",
		ft ? "start_new_pserver" : "start_pserver", &s->pserver, s->pserver.min, s->pserver.min, 2 };
	const struct task trainer = { KAR_TRAINING_TRAINER, "paddle-job",
		ft ? "start_new_trainer" : "start_trainer", &s->trainer, trainers, s->trainer.min, 1 };

	kar_jw_key(w, "taskSpecs");
	kar_jw_begin_array(w);
	if (ft)
		write_task(w, t, &master);
	if (s->pserver.given && s->pserver.min)
		write_task(w, t, &pserver);
	write_task(w, t, &trainer);
	kar_jw_end_array(w);
}

/* --- the job ----------------------------------------------------------------------------------------- */

static void write_sched(struct kar_json_writer *w, const struct kar_trainingjob *t)
{
	const struct kar_trainingjob_spec *s = &t->spec;

	kar_jw_key(w, "schedSpec");
	kar_jw_begin_object(w);
	kar_jw_kv_int(w, "minAvailable",
		(int64_t)s->fault_tolerant + (s->pserver.given ? s->pserver.min : 0) + s->trainer.min);
	if (s->priority_class)
		kar_jw_kv_string(w, "priorityClassName", s->priority_class);
	else
		kar_jw_kv_int(w, "priority", priority_of(t->priority_level));
	kar_jw_end_object(w);
}

/* Begins a rule that the caller ends. */
static void begin_rule(struct kar_json_writer *w, const char *action)
{
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "action", action);
}

static void write_tasks_of_rule(struct kar_json_writer *w)
{
	static const char *const tasks[] = { KAR_TRAINING_TRAINER };

	write_strings(w, "tasks", tasks, KAR_LEN(tasks));
}

/* Without fault_tolerant the first trainer that fails ends the training; one that was evicted has not failed. */
static void write_strict_rules(struct kar_json_writer *w)
{
	begin_rule(w, "Ignore");
	kar_jw_key(w, "onPodConditions");
	kar_jw_begin_array(w);
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "type", "DisruptionTarget");
	kar_jw_end_object(w);
	kar_jw_end_array(w);
	kar_jw_end_object(w);
	begin_rule(w, "FailJob");
	write_tasks_of_rule(w);
	kar_jw_key(w, "onExitCodes");
	kar_jw_begin_object(w);
	kar_jw_kv_string(w, "operator", "NotIn");
	kar_jw_key(w, "values");
	kar_jw_begin_array(w);
	kar_jw_int(w, 0);
	kar_jw_end_array(w);
	kar_jw_end_object(w);
	kar_jw_end_object(w);
}

static void write_policies(struct kar_json_writer *w, const struct kar_trainingjob_spec *s)
{
	bool ft = s->fault_tolerant;

	kar_jw_kv_int(w, "backoffLimit",
		ft && s->trainer.max > BACKOFF_LIMIT ? s->trainer.max : BACKOFF_LIMIT);
	kar_jw_key(w, "successPolicy");
	kar_jw_begin_object(w);
	write_tasks_of_rule(w);
	kar_jw_end_object(w);
	kar_jw_key(w, "failurePolicy");
	kar_jw_begin_object(w);
	kar_jw_key(w, "rules");
	kar_jw_begin_array(w);
	if (ft) {
		begin_rule(w, "RecreatePod");
		write_tasks_of_rule(w);
		kar_jw_end_object(w);
	} else {
		write_strict_rules(w);
	}
	kar_jw_end_array(w);
	kar_jw_end_object(w);
}

void kar_training_write_spec(struct kar_json_writer *w, const struct kar_trainingjob *t, int32_t trainers)
{
	assert(!t->problem);
	kar_jw_begin_object(w);
	if (t->queue)
		kar_jw_kv_string(w, "queue", t->queue);
	if (t->spec.suspend)
		kar_jw_kv_bool(w, "suspend", true);
	if (t->freezing_window >= 0)
		kar_jw_kv_int(w, "freezingWindowSeconds", t->freezing_window);
	write_sched(w, t);
	write_tasks(w, t, trainers);
	write_policies(w, &t->spec);
	kar_jw_end_object(w);
}

const char *kar_training_digest(const struct kar_trainingjob *t, int32_t trainers, struct kar_arena *arena)
{
	uint64_t h = kar_hash(1, &t->generation, sizeof(t->generation));

	h = kar_hash_str(h, t->queue ? t->queue : "");
	h = kar_hash_str(h, t->priority_level ? t->priority_level : "");
	h = kar_hash(h, &t->freezing_window, sizeof(t->freezing_window));
	h = kar_hash(h, &trainers, sizeof(trainers));
	return kar_arena_printf(arena, "%016" PRIx64, h);
}
