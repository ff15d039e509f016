#include "sim/apiserver/http_accept.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 64, MAX_CLAUSES = 32 };

/* One part of an Accept header: application/json;as=Table;v=v1;g=meta.k8s.io;q=0.5 */
struct clause {
	char type[WORD], subtype[WORD];
	char as[WORD], group[WORD], version[WORD], stream[WORD], server_version[WORD];
	double quality;
	bool transforms; /* as, g or v is given */
};

/* The text between @p and @end without white space and quotes around it; what is too long becomes "". */
static void copy(char out[WORD], const char *p, const char *end)
{
	while (p < end && (isspace((unsigned char)*p) || *p == '"'))
		p++;
	while (end > p && (isspace((unsigned char)end[-1]) || end[-1] == '"'))
		end--;
	out[0] = '\0';
	if (end - p >= WORD)
		return;
	memcpy(out, p, (size_t)(end - p));
	out[end - p] = '\0';
}

static void lower(char *s)
{
	for (; *s; s++)
		*s = (char)tolower((unsigned char)*s);
}

static void read_parameter(struct clause *c, const char *p, const char *end)
{
	const char *equals = memchr(p, '=', (size_t)(end - p));
	char key[WORD], value[WORD];

	copy(key, p, equals ? equals : end);
	copy(value, equals ? equals + 1 : end, end);
	if (!strcmp(key, "q")) {
		c->quality = strtod(value, NULL);
		return;
	}
	struct {
		const char *key;
		char *out;
	} known[] = { { "as", c->as }, { "g", c->group }, { "v", c->version }, { "stream", c->stream },
		{ "sv", c->server_version } };

	for (size_t i = 0; i < KAR_LEN(known); i++) {
		if (!strcmp(key, known[i].key))
			memcpy(known[i].out, value, WORD);
	}
	c->transforms |= !strcmp(key, "as") || !strcmp(key, "g") || !strcmp(key, "v");
}

static const char *next_part(const char *p, const char *end, char separator)
{
	const char *at = memchr(p, separator, (size_t)(end - p));

	return at ? at : end;
}

static void read_clause(struct clause *c, const char *p, const char *end)
{
	const char *stop = next_part(p, end, ';'), *slash = next_part(p, stop, '/');

	*c = (struct clause){ .quality = 1 };
	copy(c->type, p, slash);
	copy(c->subtype, slash < stop ? slash + 1 : stop, stop);
	lower(c->type);
	lower(c->subtype);
	while (stop < end) {
		p = stop + 1;
		stop = next_part(p, end, ';');
		read_parameter(c, p, stop);
	}
}

static bool is_meta(const struct clause *c)
{
	return !strcmp(c->group, "meta.k8s.io") &&
		(!strcmp(c->version, "v1") || !strcmp(c->version, "v1beta1"));
}

/* The transformation of the clause, if the endpoint has it. */
static bool transform(const struct clause *c, enum sim_accept_endpoint endpoint, struct sim_accept *out)
{
	if (!c->transforms)
		return true;
	if (endpoint == SIM_ACCEPT_DISCOVERY) {
		out->aggregated = !strcmp(c->group, "apidiscovery.k8s.io") && !strcmp(c->version, "v2") &&
			!strcmp(c->as, "APIGroupDiscoveryList");
		return out->aggregated;
	}
	if (endpoint != SIM_ACCEPT_OBJECTS || !is_meta(c))
		return false;
	out->list = !strcmp(c->as, "PartialObjectMetadataList");
	if (out->list || !strcmp(c->as, "PartialObjectMetadata"))
		out->form = SIM_FORM_METADATA;
	else if (!strcmp(c->as, "Table"))
		out->form = SIM_FORM_TABLE;
	return out->form != SIM_FORM_OBJECT;
}

static bool satisfy(const struct clause *c, enum sim_accept_endpoint endpoint, struct sim_accept *out)
{
	bool any = !strcmp(c->type, "*") && !strcmp(c->subtype, "*");
	bool application = !strcmp(c->type, "application"), yaml = application && !strcmp(c->subtype, "yaml");
	bool json = any || (application && (!strcmp(c->subtype, "json") || !strcmp(c->subtype, "*")));

	*out = (struct sim_accept){ .yaml = yaml };
	if ((!json && !yaml) || *c->server_version || (*c->stream && strcmp(c->stream, "watch") != 0))
		return false;
	return transform(c, endpoint, out);
}

/* The clauses of a header with the best first; of equals the one that stands first. */
static size_t read_clauses(const char *header, struct clause *out)
{
	const char *end = header + strlen(header);
	size_t n = 0, at;

	for (const char *p = header; n < MAX_CLAUSES; p++) {
		const char *stop = next_part(p, end, ',');
		struct clause c;

		read_clause(&c, p, stop);
		for (at = n; at && out[at - 1].quality < c.quality; at--)
			out[at] = out[at - 1];
		out[at] = c;
		n++;
		p = stop;
		if (p == end)
			break;
	}
	return n;
}

bool sim_accept_parse(const char *header, enum sim_accept_endpoint endpoint, struct sim_accept *out)
{
	struct clause clauses[MAX_CLAUSES];
	size_t n;

	*out = (struct sim_accept){ 0 };
	if (!header || !*header)
		return true;
	n = read_clauses(header, clauses);
	for (size_t i = 0; i < n; i++) {
		if (satisfy(&clauses[i], endpoint, out))
			return true;
	}
	return false;
}

enum sim_content sim_content_parse(const char *header)
{
	static const struct {
		const char *name;
		enum sim_content content;
	} known[] = {
		{ "application/json", SIM_CONTENT_JSON },
		{ "application/yaml", SIM_CONTENT_YAML },
		{ "application/vnd.kubernetes.protobuf", SIM_CONTENT_PROTOBUF },
		{ "application/json-patch+json", SIM_CONTENT_JSON_PATCH },
		{ "application/merge-patch+json", SIM_CONTENT_MERGE_PATCH },
		{ "application/strategic-merge-patch+json", SIM_CONTENT_STRATEGIC_PATCH },
		{ "application/apply-patch+yaml", SIM_CONTENT_APPLY },
	};
	char type[WORD];

	if (!header || !*header)
		return SIM_CONTENT_JSON;
	copy(type, header, next_part(header, header + strlen(header), ';'));
	lower(type);
	for (size_t i = 0; i < KAR_LEN(known); i++) {
		if (!strcmp(type, known[i].name))
			return known[i].content;
	}
	return SIM_CONTENT_UNKNOWN;
}
