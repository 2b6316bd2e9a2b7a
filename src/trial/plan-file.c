/* SPDX-License-Identifier: MIT */
#include "trial/plan-file.h"
#include "base/cleanup.h"
#include "base/strbuf.h"
#include "base/units.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER	"stallmark-ab 1"
#define MOST	(1 << 20)

static int append(const char *path, int flags, const char *text, struct err *e)
{
	cleanup_close int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
	size_t n = strlen(text);

	if (fd < 0)
		return err_sys(e, -errno, "cannot write the plan %s", path);
	if (write(fd, text, n) != (ssize_t)n || fsync(fd))
		return err_sys(e, errno ? -errno : -EIO, "cannot write the plan %s", path);
	return 0;
}

int ab_plan_create(const char *path, const struct ab_plan *p, struct err *e)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;

	strbuf_addf(&b, "%s\nscenario %s\ndir %s\na %s\nb %s\ntime %s\nrounds %u\nuntil-decided %d\n", HEADER, p->scenario, p->dir, p->a,
		    p->b, p->time, p->rounds, p->until_decided);
	for (size_t i = 0; i < p->define.n; i++)
		strbuf_addf(&b, "define %s\n", p->define.p[i]);
	return append(path, O_CREAT | O_EXCL, strbuf_str(&b), e);
}

int ab_plan_add_run(const char *path, struct ab_plan *p, char side, const char *record, const char *kernel, struct err *e)
{
	cleanup_free char *line = mem_printf("run %c %s %s\n", side, record, kernel);
	int r = append(path, O_APPEND, line, e);

	if (!r)
		vec_push(&p->done, ((struct ab_run){ .side = side, .record = mem_dup(record), .kernel = mem_dup(kernel) }));
	return r;
}

int ab_plan_add_look(const char *path, struct ab_plan *p, unsigned rounds, const char *verdict, bool ended, struct err *e)
{
	cleanup_free char *line = mem_printf("look %u %s%s\n", rounds, verdict, ended ? "\nended" : "");
	int r = append(path, O_APPEND, line, e);

	if (!r) {
		p->looks++;
		p->ended |= ended;
	}
	return r;
}

static void set(char **to, const char *value)
{
	free(*to);
	*to = mem_dup(value);
}

/* Names of records are ours: a-001.smk. Nothing else is opened because a plan says so. */
static bool record_name(const char *s, char side)
{
	unsigned n;
	int end = 0;

	return s[0] == side && sscanf(s + 1, "-%3u.smk%n", &n, &end) == 1 && end && !s[1 + end];
}

static int read_line(struct ab_plan *p, char *line)
{
	char *value = strchr(line, ' '), *more;
	uint64_t n;

	if (!strcmp(line, "ended")) {
		p->ended = true;
		return 0;
	}
	if (!value)
		return -EINVAL;
	*value++ = 0;
	if (!strcmp(line, "scenario")) {
		set(&p->scenario, value);
	} else if (!strcmp(line, "dir")) {
		set(&p->dir, value);
	} else if (!strcmp(line, "a")) {
		set(&p->a, value);
	} else if (!strcmp(line, "b")) {
		set(&p->b, value);
	} else if (!strcmp(line, "time")) {
		set(&p->time, value);
	} else if (!strcmp(line, "define")) {
		vec_push(&p->define, mem_dup(value));
	} else if (!strcmp(line, "rounds")) {
		if (units_count(value, &n, NULL) || !n || n > AB_ROUNDS_MAX)
			return -EINVAL;
		p->rounds = (unsigned)n;
	} else if (!strcmp(line, "until-decided")) {
		p->until_decided = !strcmp(value, "1");
	} else if (!strcmp(line, "look")) {
		p->looks++;
	} else if (!strcmp(line, "run")) {
		char side = value[0];

		if ((side != 'a' && side != 'b') || value[1] != ' ')
			return -EINVAL;
		value += 2;
		more = strchr(value, ' ');
		if (!more)
			return -EINVAL;
		*more++ = 0;
		if (!record_name(value, side))
			return -EINVAL;
		vec_push(&p->done, ((struct ab_run){ .side = side, .record = mem_dup(value), .kernel = mem_dup(more) }));
	} else {
		return -EINVAL;
	}
	return 0;
}

int ab_plan_read(const char *path, struct ab_plan *ret, struct err *e)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	cleanup_free char *text = NULL;
	struct ab_plan p = { 0 };
	struct stat st;
	ssize_t n;
	unsigned number = 0;

	if (fd < 0)
		return err_sys(e, -errno, "cannot read the plan %s", path);
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
		return err_set(e, -EPERM, "%s is not a file of yours that only you can write: a plan of somebody else is not followed", path);
	text = mem_alloc(MOST + 1);
	n = read(fd, text, MOST);
	if (n < 0)
		return err_sys(e, -errno, "cannot read the plan %s", path);
	for (char *line = text, *end; line < text + n; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)		/* cut while it was written: the run counts as not done */
			break;
		*end = 0;
		number++;
		if (number == 1 ? strcmp(line, HEADER) : read_line(&p, line)) {
			ab_plan_done(&p);
			return err_set(e, -EINVAL, "%s, line %u is not understood; it is no plan of this version of stallmark ab", path, number);
		}
	}
	if (!p.scenario || !p.dir || !p.a || !p.b || !p.time || !p.rounds) {
		ab_plan_done(&p);
		return err_set(e, -EINVAL, "%s is not a complete plan of stallmark ab", path);
	}
	*ret = p;
	return 0;
}

void ab_plan_done(struct ab_plan *p)
{
	for (size_t i = 0; i < p->define.n; i++)
		free(p->define.p[i]);
	for (size_t i = 0; i < p->done.n; i++) {
		free(p->done.p[i].record);
		free(p->done.p[i].kernel);
	}
	vec_done(&p->define);
	vec_done(&p->done);
	free(p->scenario);
	free(p->dir);
	free(p->a);
	free(p->b);
	free(p->time);
	*p = (struct ab_plan){ 0 };
}
