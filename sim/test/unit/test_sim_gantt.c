/* The pictures of what was recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/test/fixture/markup.h"
#include "sim/test/unit/sim_record_world.h"

static void expect_markup(const struct kar_buf *out, const char *part)
{
	char wrong[256] = "";

	if (!markup_is_well_formed(kar_buf_cstr(out), wrong, sizeof(wrong)))
		fail_msg("%s in\n%s", wrong, kar_buf_cstr(out));
	if (!strstr(kar_buf_cstr(out), part))
		fail_msg("no %s in\n%s", part, kar_buf_cstr(out));
}

static void pictures_are_well_formed_whatever_the_title(void **state KAR_UNUSED)
{
	const char title[] = "</text><a b=\"&c;\">\x01\xff\xef\xbf\xbf.yaml";
	struct kar_buf svg = { 0 }, html = { 0 };
	struct world w;

	set_up(&w);
	play(&w);
	sim_report_svg(&w.r, title, &svg);
	expect_markup(&svg, "&lt;/text&gt;&lt;a b=&quot;&amp;c;&quot;&gt;\ufffd\ufffd\ufffd.yaml");
	expect_markup(&svg, "<title>a: Running from 12s for 1m</title>");
	expect_markup(&svg, "<title>a-w-0 from 11s for 1m1s</title>");
	expect_markup(&svg, "<title>Cordoned</title>");
	sim_report_html(&w.r, title, &html);
	expect_markup(&html, "default/a   q ");
	kar_buf_release(&svg);
	kar_buf_release(&html);
	tear_down(&w);
}

static bool is_colour(const char *s)
{
	return *s == '#' && strspn(s + 1, "0123456789abcdef") == 6 && s[7] == '"';
}

/* In all of the picture: not every program that shows it knows style sheets, hsl() or names of colours. */
static void expect_plain_colours(const struct kar_buf *svg)
{
	static const char *const attributes[] = { " fill=\"", " stroke=\"" };
	static const char *const others[] = { "<style", "class=", "style=", "hsl(" };

	for (size_t i = 0; i < KAR_LEN(others); i++)
		assert_null(strstr(kar_buf_cstr(svg), others[i]));
	for (size_t i = 0; i < KAR_LEN(attributes); i++) {
		for (const char *p = strstr(kar_buf_cstr(svg), attributes[i]); p;
			p = strstr(p, attributes[i])) {
			p += strlen(attributes[i]);
			if (!is_colour(p) && strncmp(p, "url(#", 5) != 0)
				fail_msg("no #rrggbb: %.20s", p);
		}
	}
}

static void restarts_are_red_and_releases_yellow(void **state KAR_UNUSED)
{
	struct kar_buf svg = { 0 };
	struct world w;

	set_up(&w);
	play_losses(&w);
	sim_report_svg(&w.r, "t", &svg);
	expect_markup(&svg, "fill=\"#f7dc4a\"><title>a: Releasing from 2s for 1s</title>");
	expect_markup(&svg, "fill=\"#c8353f\"><title>a: Restarting from 15s for 1s</title>");
	expect_markup(&svg, "fill=\"#7d8590\"><title>a: Suspended from 25s for 4s</title>");
	kar_buf_release(&svg);
	tear_down(&w);
}

static void every_colour_is_explained(void **state KAR_UNUSED)
{
	static const char *const words[] = { ">Pending<", ">Starting<", ">Running: colour of the job<",
		">Restarting<", ">Releasing nodes or quota<", ">Suspended<", ">Node cordoned<",
		">Node not ready<", ">Pod failed<" };
	struct kar_buf svg = { 0 };
	struct world w;

	set_up(&w);
	play(&w);
	sim_report_svg(&w.r, "t", &svg);
	for (size_t i = 0; i < KAR_LEN(words); i++)
		expect_markup(&svg, words[i]);
	expect_plain_colours(&svg);
	assert_null(strstr(kar_buf_cstr(&svg), ">q</text>")); /* the one queue */
	expect_markup(&svg, "fill=\"#51cdba\"><title>a: Running");
	expect_markup(&svg, "height=\"10\" fill=\"#51cdba\"/>"); /* the same in the key */
	kar_buf_release(&svg);
	tear_down(&w);
}

static void queues_are_named_if_there_are_two(void **state KAR_UNUSED)
{
	struct kar_buf svg = { 0 };
	struct world w;

	set_up(&w);
	submit(&w, "a", 1);
	call(&w, KAR_CREATE, "kube-arbitrator.io/v1alpha1/queuejobs/default/b", NULL,
		"{\"apiVersion\":\"kube-arbitrator.io/v1alpha1\",\"kind\":\"QueueJob\",\"metadata\":{\"name\":\"b\"},\"spec\":{"
		"\"queue\":\"a-queue-with-a-long-name\",\"taskSpecs\":[{\"name\":\"w\",\"replicas\":1,\"template\":{\"spec\":{"
		"\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}]}}");
	sim_record_close(&w.r);
	sim_report_svg(&w.r, "t", &svg);
	expect_markup(&svg, ">q</text>");
	expect_markup(&svg, ">a-queue-with\u2026</text>");
	expect_markup(&svg, ">a-queue-with-a-long-name</text>"); /* its band */
	kar_buf_release(&svg);
	tear_down(&w);
}

/* Which would be a picture of many metres. */
static void of_many_jobs_the_largest_have_bars(void **state KAR_UNUSED)
{
	struct kar_buf svg = { 0 };
	struct world w;
	char name[8];

	set_up(&w);
	add_node(&w, "n1");
	for (int i = 0; i < 61; i++) {
		snprintf(name, sizeof(name), "j%d", i);
		submit(&w, name, 1);
	}
	w.r.jobs[40].milli_cpu = 1000;
	at(&w, 10);
	sim_record_close(&w.r);
	sim_report_svg(&w.r, "t", &svg);
	expect_markup(&svg, "<title>j40: Pending");
	expect_markup(&svg, "<title>j10: Pending");
	assert_null(strstr(kar_buf_cstr(&svg), "<title>j11: "));
	expect_markup(&svg, ">Running: colour of the queue<");
	expect_markup(&svg, ">q</text>"); /* its band */
	expect_plain_colours(&svg);
	kar_buf_release(&svg);
	tear_down(&w);
}

static void empty_record_is_drawn(void **state KAR_UNUSED)
{
	struct kar_buf out = { 0 };
	struct world w;

	set_up(&w);
	sim_record_close(&w.r);
	sim_report_html(&w.r, "", &out);
	expect_markup(&out, "<svg ");
	kar_buf_release(&out);
	tear_down(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(restarts_are_red_and_releases_yellow),
		cmocka_unit_test(every_colour_is_explained),
		cmocka_unit_test(queues_are_named_if_there_are_two),
		cmocka_unit_test(of_many_jobs_the_largest_have_bars),
		cmocka_unit_test(pictures_are_well_formed_whatever_the_title),
		cmocka_unit_test(empty_record_is_drawn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
