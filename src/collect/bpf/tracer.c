/* SPDX-License-Identifier: MIT */
#include "collect/bpf/tracer.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "collect/bpf/why.h"
#include "collect/bpf/wire.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "stall.skel.h"

struct tracer {
	struct stall *skel;
	struct ring_buffer *ring;
	struct bpf_link *iter;
	int stats_fd;
	int (*fn)(void *ctx, void *row, size_t n);
	void *ctx;
};

/* libbpf names the program that failed only in its messages. */
static char failed_program[64];
static char last_message[256];

static int listen(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	char line[512];
	const char *p;

	if (level > LIBBPF_WARN)
		return 0;
	vsnprintf(line, sizeof(line), fmt, ap);
	if (!*failed_program && (p = strstr(line, "prog '")) && strchr(p + 6, '\'')) {
		size_t n = strcspn(p + 6, "'");

		if (n < sizeof(failed_program)) {
			memcpy(failed_program, p + 6, n);
			failed_program[n] = '\0';
		}
	}
	if (!*last_message) {
		snprintf(last_message, sizeof(last_message), "%.*s", (int)MIN(strcspn(line, "\n"), sizeof(last_message) - 1),
			 line);
	}
	return 0;
}

static bool needed(const char *program)
{
	return !strcmp(program, "sched_switch") || !strcmp(program, "sched_waking");
}

static bool of_requests(const char *program)
{
	return !strncmp(program, "block_", 6) && strcmp(program, "block_rq_complete");
}

/* One attempt. *left_out collects the names of programs not to load, each followed by a blank. */
static int load_once(const struct tracer_conf *c, const char *left_out, struct stall **ret)
{
	struct stall *s = stall__open();
	struct bpf_program *p;
	nsec_t link = MAX(c->threshold / 4, NSEC_PER_MSEC);
	int r;

	if (!s)
		return -errno;
	s->rodata->user_ns = (uint64_t)MIN(link, c->threshold);
	s->rodata->runq_ns = (uint64_t)MIN(link, c->threshold);
	s->rodata->kthread_ns = (uint64_t)MIN(NSEC_PER_MSEC, c->threshold);
	s->rodata->probe_ns = (uint64_t)MIN(c->probe_threshold, c->threshold);
	s->rodata->self_tgid = (uint32_t)getpid();
	bpf_object__for_each_program(p, s->obj) {
		const char *name = bpf_program__name(p), *at = strstr(left_out, name);
		size_t n = strlen(name);
		bool out = !c->requests && of_requests(name);

		for (; at && !out; at = strstr(at + 1, name))
			out = at[n] == ' ' && (at == left_out || at[-1] == ' ');
		bpf_program__set_autoload(p, !out);
	}
	r = stall__load(s);
	if (r < 0) {
		stall__destroy(s);
		return r;
	}
	*ret = s;
	return 0;
}

int tracer_supported(struct err *why)
{
	return bpf_why_not(why);
}

int tracer_open(const struct tracer_conf *c, struct tracer **ret, struct strbuf *ret_missing, struct err *e)
{
	cleanup_strbuf struct strbuf out = STRBUF_INIT;
	struct stall *s = NULL;
	libbpf_print_fn_t before = libbpf_set_print(listen);
	struct tracer *t;
	int r;

	for (int tries = 0; tries < 64; tries++) {
		*failed_program = *last_message = '\0';
		r = load_once(c, strbuf_str(&out), &s);
		if (!r || !*failed_program || needed(failed_program))
			break;
		strbuf_addf(&out, "%s ", failed_program);
	}
	libbpf_set_print(before);
	if (r < 0) {
		if (bpf_why_not(e) < 0)
			return r;
		return err_set(e, r, "the kernel refused the tracer%s%s (%s)%s%s", *failed_program ? " at " : "", failed_program,
			       strerror(-r), *last_message ? ": " : "", last_message);
	}
	t = mem_alloc(sizeof(*t));
	t->skel = s;
	t->stats_fd = -1;
	*ret = t;
	strbuf_adds(ret_missing, strbuf_str(&out));
	return 0;
}

int tracer_watch(struct tracer *t, uint32_t tgid)
{
	uint32_t one = 1;

	return bpf_map_update_elem(bpf_map__fd(t->skel->maps.watched), &tgid, &one, BPF_ANY);
}

static int on_row(void *ctx, void *row, size_t n)
{
	struct tracer *t = ctx;

	return t->fn(t->ctx, row, n);
}

int tracer_attach(struct tracer *t, struct err *e)
{
	int r;

	t->ring = ring_buffer__new(bpf_map__fd(t->skel->maps.ring), on_row, t, NULL);
	if (!t->ring)
		return err_sys(e, -errno, "cannot map the tracer's ring buffer");
	bpf_program__set_autoattach(t->skel->progs.open_waits, false);
	r = stall__attach(t->skel);
	if (r < 0)
		return err_sys(e, r, "cannot attach the tracer");
	if (bpf_program__autoload(t->skel->progs.open_waits))
		t->iter = bpf_program__attach_iter(t->skel->progs.open_waits, NULL);
	return 0;
}

int tracer_read(struct tracer *t, int (*fn)(void *ctx, void *row, size_t n), void *ctx, struct err *e)
{
	int r;

	t->fn = fn;
	t->ctx = ctx;
	r = ring_buffer__consume(t->ring);
	return r < 0 ? err_sys(e, r, "cannot read the tracer's ring buffer") : r;
}

int tracer_open_waits(struct tracer *t, int (*fn)(void *ctx, void *row, size_t n), void *ctx, struct err *e)
{
	cleanup_close int fd = t->iter ? bpf_iter_create(bpf_link__fd(t->iter)) : -1;
	struct wire_wait w;
	size_t have = 0;
	ssize_t n;

	if (fd < 0)
		return 0;
	while ((n = read(fd, (char *)&w + have, sizeof(w) - have)) > 0) {
		have += (size_t)n;
		if (have < sizeof(w))
			continue;
		have = 0;
		n = fn(ctx, &w, sizeof(w));
		if (n < 0)
			return (int)n;
	}
	return n < 0 ? err_sys(e, -errno, "cannot list the tasks that are still waiting") : 0;
}

uint64_t tracer_lost(const struct tracer *t)
{
	return t->skel->bss->lost;
}

int tracer_cost_begin(struct tracer *t)
{
	t->stats_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	return t->stats_fd < 0 ? -errno : 0;
}

void tracer_cost_end(struct tracer *t)
{
	if (t->stats_fd >= 0)
		close(t->stats_fd);
	t->stats_fd = -1;
}

int tracer_cost(struct tracer *t, struct tracer_cost *ret, int max)
{
	struct bpf_program *p;
	int n = 0;

	bpf_object__for_each_program(p, t->skel->obj) {
		struct bpf_prog_info info = { 0 };
		uint32_t len = sizeof(info);

		if (!bpf_program__autoload(p) || bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &len))
			continue;
		if (n < max)
			ret[n] = (struct tracer_cost){ bpf_program__name(p), info.run_time_ns, info.run_cnt };
		n++;
	}
	return n;
}

void tracer_close(struct tracer *t)
{
	if (!t)
		return;
	tracer_cost_end(t);
	ring_buffer__free(t->ring);
	bpf_link__destroy(t->iter);
	stall__destroy(t->skel);
	free(t);
}
