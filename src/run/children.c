/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/mem.h"
#include "run/child.h"
#include "run/conduct.h"
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

char task_state(pid_t pid)
{
	struct proc_stat st;

	return proc_stat(pid, 0, &st) ? 0 : st.state;
}

static int fork_child(struct conductor *c, struct child *k, uint64_t seed, size_t first, struct err *e)
{
	struct child_setup cs = { .controller = getpid(), .alive = c->alive[0], .slot = k->slot, .seed = seed };

	k->pid = fork();
	if (k->pid < 0)
		return err_sys(e, -errno, "cannot start %s", k->name);
	if (k->pid > 0) {
		setpgid(k->pid, k->pid);	/* also here: it may be killed as a group before it ran */
		return 0;
	}
	close(c->alive[1]);
	cs.dir = mem_dup(area_path(c, k->load, k->index));
	if (k->load)
		child_load(&cs, &c->plan->loads.p[k->index], (int)((size_t)(k->slot - c->board->slot) - first),
			   &c->board->slot[first]);
	child_probe(&cs, &c->plan->probes.p[k->index], c->rings[k->index]);
}

int children_start(struct conductor *c, struct err *e)
{
	const struct plan *plan = c->plan;
	size_t slot = 0;
	int r = 0;

	for (size_t i = 0; i < plan->probes.n && !r; i++) {
		struct child k = { .slot = &c->board->slot[slot++], .index = i };

		snprintf(k.name, sizeof(k.name), "probe %s", plan->probes.p[i].name);
		r = fork_child(c, &k, plan->seed * 1000 + i, 0, e);
		if (!r)
			vec_push(&c->kids, k);
	}
	for (size_t i = 0; i < plan->loads.n && !r; i++) {
		const struct plan_load *pl = &plan->loads.p[i];
		size_t first = slot;

		for (unsigned w = 0; w < pl->workers && !r; w++) {
			struct child k = { .slot = &c->board->slot[slot++], .index = i, .load = true,
					   .program = pl->program };

			snprintf(k.name, sizeof(k.name), pl->workers > 1 ? "load %s/%u" : "load %s", pl->name, w);
			r = fork_child(c, &k, plan->seed * 1000000 + i * 5000 + w, first, e);
			if (!r)
				vec_push(&c->kids, k);
		}
	}
	c->probes_alive = plan->probes.n;
	return r;
}

void children_go(struct conductor *c, bool loads)
{
	for (size_t i = 0; i < c->kids.n; i++)
		if (c->kids.p[i].load == loads)
			c->kids.p[i].slot->go = 1;
}

bool children_ready(struct conductor *c)
{
	for (size_t i = 0; i < c->kids.n; i++)
		if (!c->kids.p[i].gone && slot_state(c->kids.p[i].slot) < CHILD_READY)
			return false;
	return true;
}

/* What a program's starter started, and so on, before the parents go and the traces with them. */
static void kill_descendants(pid_t pid, int depth)
{
	char path[64], text[4096], *p = text;
	ssize_t n;
	cleanup_close int fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (n <= 0 || depth > 16)
		return;
	text[n] = 0;
	for (;;) {
		char *end;
		long kid = strtol(p, &end, 10);

		if (end == p || kid <= 1)
			break;
		kill_descendants((pid_t)kid, depth + 1);
		kill((pid_t)kid, SIGKILL);
		p = end;
	}
}

static void kill_child(const struct child *k)
{
	if (k->gone)
		return;
	if (k->program)
		kill_descendants(k->pid, 0);
	kill(-k->pid, SIGKILL);
	kill(k->pid, SIGKILL);
}

void children_kill(struct conductor *c)
{
	for (size_t i = 0; i < c->kids.n; i++) {
		c->kids.p[i].slot->stop = 1;
		kill_child(&c->kids.p[i]);
	}
}

static bool loads_gone(struct conductor *c)
{
	for (size_t i = 0; i < c->kids.n; i++)
		if (c->kids.p[i].load && !c->kids.p[i].gone)
			return false;
	return true;
}

static bool all_gone(struct conductor *c)
{
	for (size_t i = 0; i < c->kids.n; i++)
		if (!c->kids.p[i].gone)
			return false;
	return true;
}

void children_stop(struct conductor *c, bool loads, nsec_t grace, nsec_t last)
{
	bool (*gone)(struct conductor *) = loads ? loads_gone : all_gone;

	for (size_t i = 0; i < c->kids.n; i++)
		if (!loads || c->kids.p[i].load)
			c->kids.p[i].slot->stop = 1;
	if (conduct_wait(c, nsec_now() + grace, gone) == WAIT_DONE)
		return;
	for (size_t i = 0; i < c->kids.n; i++)
		if (!loads || c->kids.p[i].load)
			kill_child(&c->kids.p[i]);
	conduct_wait(c, nsec_now() + last, gone);
}

uint64_t children_written(const struct conductor *c)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < c->kids.n; i++)
		sum += c->kids.p[i].slot->tally.bytes_written;
	return sum;
}

uint64_t children_bytes(const struct conductor *c)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < c->kids.n; i++)
		sum += c->kids.p[i].slot->tally.bytes_written + c->kids.p[i].slot->tally.bytes_read;
	return sum;
}
