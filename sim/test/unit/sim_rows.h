/*
 * sim_rows - files of conversations (sim_script.h, which includes this): a row is its name at the start of a line and its steps below,
 * each after a tab. Every row is a test of its own, with a server of its own.
 */
#ifndef SIM_ROWS_H
#define SIM_ROWS_H

/* A row: its name at the start of a line, its steps below, each after a tab. */
struct script_row {
	const char *file, *name;
	char *steps;
	int line; /* of the name */
};

static inline void script_run(void **state)
{
	const struct script_row *row = *state;
	struct script s = { .row = row->name, .line = row->line };

	script_start(&s, &(struct sim_apiserver_options){ .seed = 1 });
	for (char *next = row->steps; *next;) {
		size_t n = strcspn(next, "\n");
		char *line = kar_xstrndup(next, n);

		s.line++;
		if (line[0] && line[strspn(line, "\t")] && line[strspn(line, "\t")] != '#')
			script_step(&s, line + strspn(line, "\t"));
		free(line);
		next += n + (next[n] == '\n');
	}
	script_end(&s);
}

static inline char *script_read(const char *path)
{
	FILE *f = fopen(path, "r");
	struct kar_buf text = { 0 };
	char block[4096];
	size_t n;

	if (!f) {
		perror(path);
		exit(1);
	}
	for (n = fread(block, 1, sizeof(block), f); n > 0; n = fread(block, 1, sizeof(block), f))
		kar_buf_append(&text, block, n);
	fclose(f);
	return kar_buf_detach(&text);
}

/* Adds a test per row of the file. What is allocated lives as long as the program. */
static inline void script_load(const char *file, struct CMUnitTest **tests, size_t *n)
{
	char *path = kar_xasprintf(KAR_SCENES "/%s", file), *text = script_read(path), *row = text;
	int line = 0;

	while (*row) {
		char *end = row + strcspn(row, "\n"), *next = *end ? end + 1 : end;
		struct script_row *r;

		line++;
		if (*row != '\t' && *row != '#' && *row != '\n') {
			*end = '\0';
			r = kar_xcalloc(1, sizeof(*r));
			*r = (struct script_row){ file, kar_xasprintf("%s: %s", file, row), next, line };
			*tests = kar_xrealloc(*tests, *n + 1, sizeof(**tests));
			(*tests)[(*n)++] = (struct CMUnitTest){ .name = r->name,
				.test_func = script_run,
				.initial_state = r };
			if (*n > 1 && (*tests)[*n - 2].initial_state) /* ends the steps of the row before */
				row[0] = '\0';
		}
		row = next;
	}
	free(path);
}

#endif
