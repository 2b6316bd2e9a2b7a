/* SPDX-License-Identifier: MIT */
/* Exports of one record with steps, overlapping requests, waits, a counter and hostile names. */
#include "unit.h"

#include "base/mem.h"
#include "format/export.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS NSEC_PER_MSEC
#define HOSTILE "fs\"ync,\n\x01</script>\xff"

static void fill_events(struct rec *rec, int run)
{
	struct rec_series s = { .kind = SERIES_EVENTS, .name = "trace", .unit = "", .meaning = "", .group = "trace" };
	struct event ev[64] = { 0 };
	uint32_t n = 0;
	int id;

	/* requests of one disk, reported when they end: they overlap and their begins are out of order */
	for (int i = 0; i < 20; i++)
		ev[n++] = (struct event){ .t = 1000 * MS + (i * 7 % 20) * MS, .dur = 9 * MS, .kind = EV_BLK_RQ, .dev = 8u << 20,
					  .a = (uint64_t)i, .b = 4096, .flags = i & 1 ? EVF_WRITE : 0 };
	/* what thread 100 waited for inside its second sample, and a wait of somebody else */
	ev[n++] = (struct event){ .t = 1060 * MS, .dur = 20 * MS, .kind = EV_WAIT, .class = WAIT_JBD2_COMMIT_WAIT, .pid = 100,
				  .tid = 100, .comm = rec_string(rec, "editor") };
	ev[n++] = (struct event){ .t = 1060 * MS, .dur = 20 * MS, .kind = EV_WAIT, .class = WAIT_TAGS, .pid = 7, .tid = 7,
				  .comm = rec_string(rec, HOSTILE) };
	ev[n++] = (struct event){ .t = 1010 * MS, .kind = EV_PHASE, .name = rec_string(rec, "measure") };
	assert_int_equal(rec_series(rec, &s, &id, NULL), 0);
	assert_int_equal(rec_events(rec, run, id, 0, ev, n, NULL), 0);
}

static struct rec *make(void)
{
	struct rec_series s = { .kind = SERIES_SAMPLES, .name = HOSTILE, .unit = "ns", .meaning = "m", .group = "probe" };
	struct rec_series k = { .kind = SERIES_COUNTER, .name = "vm.dirty", .unit = "bytes", .meaning = "d", .group = "system" };
	struct rec_run run = { .scenario = "t", .scenario_text = "", .command = "stallmark run /srv/secret", .producer = "run",
			       .cell = "", .version = "0", .t0 = 1000 * MS };
	struct sample row[3] = { 0 };
	struct err e = { 0 };
	char path[64], target[80];
	struct rec *rec;
	int id;

	snprintf(path, sizeof(path), "/dev/shm/test-export.%d", (int)getpid());
	snprintf(target, sizeof(target), "%s.smk", path);
	assert_int_equal(rec_create(path, &rec, &e), 0);
	assert_int_equal(rec_run_begin(rec, &run, &id, &e), 0);
	assert_int_equal(rec_env(rec, id, "fs.dir", "/srv/secret", false, &e), 0);
	assert_int_equal(rec_env(rec, id, "note", "see /srv/secret/log, 7 MiB/s", false, &e), 0);
	assert_int_equal(rec_series(rec, &s, &s.id, &e), 0);
	rec_series_attr(rec, s.id, "loop", "open", &e);
	rec_series_attr(rec, s.id, "limit_ns", "50000000", &e);
	rec_series_attr(rec, s.id, "steps", "open,write", &e);
	for (int i = 0; i < 3; i++) {
		row[i] = (struct sample){ .id = (uint64_t)i, .intended = (1000 + i * 50) * MS, .start = (1000 + i * 50) * MS + i * MS,
					  .end = (1040 + i * 60) * MS, .pid = 100, .tid = 100, .phase = PHASE_MEASURE, .runq = -1 };
		row[i].step[0] = 10 * MS;
		row[i].step[1] = 500 * MS;		/* more than there is: must be cut at the end of the sample */
	}
	row[2].status = SAMPLE_CENSORED;
	assert_int_equal(rec_samples(rec, id, s.id, 0, row, 3, &e), 0);
	assert_int_equal(rec_series(rec, &k, &k.id, &e), 0);
	assert_int_equal(rec_counter(rec, id, k.id, 1005 * MS, 4096, &e), 0);
	fill_events(rec, id);
	assert_int_equal(rec_run_end(rec, id, 1300 * MS, false, "", &e), 0);
	assert_int_equal(rec_finish(rec, target, &e), 0);
	assert_int_equal(rec_open(target, &rec, &e), 0);
	unlink(target);
	return rec;
}

static char *export(const char *as, bool scrub)
{
	const struct format_ops *ops = plug_find(format_table, as);
	struct export_conf conf = { .scrub = scrub, .version = "0" };
	struct rec *rec = make();
	struct err e = { 0 };
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (ops->export_(rec, &conf, f, &e))
		fail_msg("%s: %s", as, e.msg);
	fclose(f);
	rec_close(rec);
	return text;
}

struct piece {
	long long pid, tid;
	double from, to;
};

static int by_row(const void *a, const void *b)
{
	const struct piece *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return x->to > y->to ? -1 : x->to < y->to;
}

/* In each row a slice is inside the one before it or after its end. */
static void check_nesting(struct piece *p, size_t n)
{
	struct piece open[64];
	size_t depth = 0;

	qsort(p, n, sizeof(*p), by_row);
	for (size_t i = 0; i < n; i++) {
		if (i && (p[i].pid != p[i - 1].pid || p[i].tid != p[i - 1].tid))
			depth = 0;
		while (depth && open[depth - 1].to <= p[i].from)
			depth--;
		if (depth && p[i].to > open[depth - 1].to)
			fail_msg("row %lld: %f..%f reaches out of %f..%f", p[i].tid, p[i].from, p[i].to, open[depth - 1].from,
				 open[depth - 1].to);
		assert_true(depth < 64);
		open[depth++] = p[i];
	}
}

static void chrome_nests(void **state)
{
	char *text = export("chrome", false);
	json_error_t je;
	json_t *doc = json_loads(text, 0, &je), *list, *ev;
	struct piece piece[200];
	size_t i, n = 0, starts = 0, ends = 0, counters = 0, marks = 0, steps = 0;

	if (!doc)
		fail_msg("line %d: %s", je.line, je.text);
	list = json_object_get(doc, "traceEvents");
	json_array_foreach(list, i, ev) {
		const char *ph = json_string_value(json_object_get(ev, "ph")), *name = json_string_value(json_object_get(ev, "name"));

		starts += !strcmp(ph, "s");
		ends += !strcmp(ph, "f");
		counters += !strcmp(ph, "C");
		marks += !strcmp(ph, "i");
		if (strcmp(ph, "X"))
			continue;
		steps += !strcmp(name, "write") && !json_object_get(ev, "args");
		piece[n] = (struct piece){ .pid = json_integer_value(json_object_get(ev, "pid")),
					   .tid = json_integer_value(json_object_get(ev, "tid")),
					   .from = json_number_value(json_object_get(ev, "ts")) };
		piece[n].to = piece[n].from + json_number_value(json_object_get(ev, "dur"));
		n++;
	}
	assert_int_equal(n, 3 + 6 + 20 + 2);	/* samples, steps, requests, waits */
	assert_int_equal(steps, 3);
	check_nesting(piece, n);
	assert_int_equal(starts, 1);		/* the wait of the probe's thread, not the one of thread 7 */
	assert_int_equal(ends, 1);
	assert_int_equal(counters, 1);
	assert_int_equal(marks, 1);
	assert_string_equal(json_string_value(json_object_get(json_object_get(doc, "otherData"), "left_out")), "0");
	json_decref(doc);
	free(text);
}

static void json_is_exact(void **state)
{
	char *text = export("json", false);
	json_t *doc = json_loads(text, 0, NULL), *s;

	assert_non_null(doc);
	s = json_array_get(json_object_get(doc, "samples"), 0);
	assert_int_equal(json_array_size(json_object_get(s, "wait")), 3);
	assert_true(json_number_value(json_array_get(json_object_get(s, "wait"), 2)) == 0.06);
	assert_string_equal(json_string_value(json_array_get(json_object_get(s, "status"), 2)), "censored");
	assert_true(json_is_null(json_array_get(json_object_get(s, "runq"), 0)));	/* unknown, not 0 */
	assert_int_equal(json_integer_value(json_object_get(doc, "events")), 23);
	json_decref(doc);
	free(text);
}

static void scrubbed(void **state)
{
	static const char *const all[] = { "json", "csv", "chrome", "openmetrics", "hdr", "fio-lat" };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		char *text = export(all[i], true);

		assert_null(strstr(text, "secret"));
		free(text);
	}
	char *text = export("json", true);

	assert_non_null(strstr(text, "see <path>, 7 MiB/s"));
	free(text);
}

static void hostile_names(void **state)
{
	char *text = export("csv", false);

	/* one header and three rows, though the name holds a newline */
	for (size_t lines = 0, i = 0; ; i++) {
		lines += text[i] == '\n';
		if (!text[i]) {
			assert_int_equal(lines, 4);
			break;
		}
	}
	assert_non_null(strstr(text, ",\"fs\"\"ync, "));
	free(text);
	text = export("hdr", false);
	assert_non_null(strstr(text, "Tag=fs\"ync___</script>"));
	free(text);
	text = export("openmetrics", false);
	assert_non_null(strstr(text, "probe=\"fs\\\"ync,\\n"));
	/* one of three ticks waited longer than 50 ms */
	assert_non_null(strstr(text, "limit_seconds=\"0.05\"} 0.333333333"));
	assert_non_null(strstr(text, "# EOF\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chrome_nests),
		cmocka_unit_test(json_is_exact),
		cmocka_unit_test(scrubbed),
		cmocka_unit_test(hostile_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
