#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/string.h>

#include "common/codec/yaml.h"
#include "sim/apiserver/core.h"
#include "sim/apiserver/crd.h"

enum { FILE_MAX = 4 << 20, PATH_SIZE = 4096 };

static int read_file(const char *path, struct kar_buf *out, struct kar_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char block[16384];
	ssize_t n;

	if (fd < 0)
		return kar_fail(err, KAR_FATAL, "cannot open %s: %s", path, strerror(errno));
	for (n = read(fd, block, sizeof(block)); n > 0; n = read(fd, block, sizeof(block)))
		kar_buf_append(out, block, (size_t)n);
	close(fd);
	if (n < 0 || out->overflow)
		return kar_fail(err, KAR_FATAL, "cannot read %s: %s", path,
			n < 0 ? strerror(errno) : "it is too large");
	return 0;
}

static int create(struct sim_apiserver *s, const struct sim_value *crd, struct kar_err *err)
{
	struct sim_request rq = { .verb = KAR_CREATE,
		.group = "apiextensions.k8s.io",
		.version = "v1",
		.resource = "customresourcedefinitions",
		.object = crd };
	struct sim_response out;
	int rc = 0;

	sim_apiserver_call(s, &rq, &out);
	if (out.code == 201)
		sim_crds_establish(s->crds, sim_text_or(sim_get(crd, "metadata", "name"), ""));
	else
		rc = kar_fail(err, KAR_INVALID, "%s",
			sim_text_or(sim_member(out.object, "message"), "refused"));
	sim_response_release(&out);
	return rc;
}

/* 1: created; 0: there is no such document. */
static int install_document(struct sim_apiserver *s, const struct kar_buf *file, size_t index,
	struct kar_err *err)
{
	struct kar_buf json KAR_CLEANUP(kar_cleanup_buf) = { .cap = FILE_MAX };
	int rc = kar_yaml_to_json(kar_buf_cstr(file), file->n, index, &json, err);

	if (rc <= 0)
		return rc;
	struct sim_value *crd KAR_CLEANUP(sim_cleanup_value) = sim_parse(kar_buf_cstr(&json), json.n, err);

	if (!crd)
		return -1;
	if (strcmp(sim_text_or(sim_member(crd, "kind"), ""), "CustomResourceDefinition") != 0)
		return 1;
	return create(s, crd, err) ? -1 : 1;
}

static int install_file(struct sim_apiserver *s, const char *folder, const char *name, struct kar_err *err)
{
	struct kar_buf file KAR_CLEANUP(kar_cleanup_buf) = { .cap = FILE_MAX };
	char path[PATH_SIZE];
	int rc = 1;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (read_file(path, &file, err))
		return -1;
	for (size_t i = 0; rc > 0; i++)
		rc = install_document(s, &file, i, err);
	return rc ? kar_wrap(err, "%s", path) : 0;
}

static int is_yaml(const struct dirent *e)
{
	const char *dot = strrchr(e->d_name, '.');

	return e->d_name[0] != '.' && dot &&
		(!strcmp(dot, ".yaml") || !strcmp(dot, ".yml") || !strcmp(dot, ".json"));
}

int sim_apiserver_install_crds(struct sim_apiserver *s, const char *folder, struct kar_err *err)
{
	struct dirent **entries = NULL;
	int n = scandir(folder, &entries, is_yaml, alphasort), rc = 0;

	if (n < 0)
		return kar_fail(err, KAR_FATAL, "cannot read folder %s: %s", folder, strerror(errno));
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = install_file(s, folder, entries[i]->d_name, err);
		free(entries[i]);
	}
	free(entries);
	return rc;
}
