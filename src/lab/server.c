/* SPDX-License-Identifier: MIT */
#include "lab/server.h"
#include "config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#if !HAVE_FUSE

int server_supported(struct err *e)
{
	return err_set(e, -ENOTSUP, "this stallmark was built without libfuse3, so it has no lab; install libfuse3-dev and build again");
}

void server_main(const struct server_conf *c)
{
	_exit(2);
}

#else

#define FUSE_USE_VERSION 35
#include "base/cleanup.h"
#include "base/mem.h"

#include <fcntl.h>
#include <fuse_lowlevel.h>
#include <linux/falloc.h>
#include <linux/fuse.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#ifndef PR_SET_IO_FLUSHER
#define PR_SET_IO_FLUSHER 57	/* Linux 5.6: our allocations never wait for writeback, which may wait for us */
#endif
#ifndef FOPEN_PARALLEL_DIRECT_WRITES
#define FOPEN_PARALLEL_DIRECT_WRITES (1 << 6)
#endif

#define DISK_INO	2
#define JOBS		1024		/* the kernel sends max_background at once, and a few others */
#define BACKGROUND	256
#define MOST		(1u << 20)	/* bytes of one request */
#define PIECES		(MOST / STORE_BLOCK + 2)
#define SPIN		(50 * NSEC_PER_USEC)
#define POKES		64		/* waiting for their time */
#define BATCH		16

struct job {
	struct rq rq;			/* first: a finished rq is its job */
	fuse_req_t req;
	uint16_t queue;
	struct job *next;
};

struct poke {
	nsec_t at;
	struct fault fault;
	char text[88];
};

struct server {
	const struct server_conf *conf;
	struct fuse_session *session;
	struct store *store;
	struct lab_log *log;
	pthread_mutex_t mu, log_mu;
	pthread_cond_t cond;		/* wakes the timer thread: something is due earlier */
	nsec_t wake_at;			/* what it waits for now */
	struct drive *drive;
	struct job *free_jobs;
	struct poke poke[POKES];	/* by time */
	unsigned npokes;
	bool timing, full, ending;
};

static struct server *server_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

/* ---- answering ---- */

static void answer(struct server *s, struct job *j)
{
	struct rq *rq = &j->rq;

	if (rq->error) {
		fuse_reply_err(j->req, -rq->error);
	} else if (rq->op == RQ_READ) {
		struct iovec iov[PIECES];
		int n = store_get(s->store, rq->sector * 512, rq->bytes, iov, PIECES);

		fuse_reply_iov(j->req, iov, n);
	} else if (rq->op == RQ_WRITE) {
		fuse_reply_write(j->req, rq->bytes);
	} else {
		fuse_reply_err(j->req, 0);
	}
}

/* Answers these jobs, logs how late each answer was, and gives them back. Called without the lock. */
static void answer_all(struct server *s, struct rq **done, unsigned n)
{
	struct log_entry x[BATCH];

	for (unsigned i = 0; i < n; i++) {
		struct job *j = (struct job *)done[i];
		nsec_t late;

		answer(s, j);
		late = nsec_now() - j->rq.done;
		x[i] = (struct log_entry){ .submitted = j->rq.submitted, .due = j->rq.done, .sector = j->rq.sector,
					   .bytes = j->rq.bytes, .late_ns = (uint32_t)MIN(MAX(late, INT64_C(0)), (nsec_t)UINT32_MAX),
					   .op = (uint16_t)j->rq.op, .queue = j->queue, .error = j->rq.error };
	}
	pthread_mutex_lock(&s->log_mu);
	for (unsigned i = 0; i < n; i++)
		log_put(s->log, &x[i]);
	pthread_mutex_unlock(&s->log_mu);
	pthread_mutex_lock(&s->mu);
	for (unsigned i = 0; i < n; i++) {
		struct job *j = (struct job *)done[i];

		j->next = s->free_jobs;
		s->free_jobs = j;
	}
	pthread_mutex_unlock(&s->mu);
}

/* ---- requests ---- */

/* The caller has filled rq; data: of a write, stored at once (what is on the disk is what was accepted). */
static void submit(fuse_req_t req, const struct rq *what, const void *data)
{
	struct server *s = server_of(req);
	struct rq *done[BATCH];
	unsigned n = 0;
	struct job *j;
	bool timed;
	nsec_t now;
	int r = 0;

	pthread_mutex_lock(&s->mu);
	timed = s->timing;
	j = s->free_jobs;
	if (j)
		s->free_jobs = j->next;
	if (!j || s->ending) {
		if (j) {
			j->next = s->free_jobs;
			s->free_jobs = j;
		}
		pthread_mutex_unlock(&s->mu);
		fuse_reply_err(req, EIO);
		return;
	}
	j->rq = *what;
	j->req = req;
	now = nsec_now();
	if (timed) {
		j->queue = (uint16_t)drive_queued(s->drive);
		drive_submit(s->drive, &j->rq, now);
	} else {
		j->queue = 0;
	}
	if (!j->rq.error && what->op == RQ_WRITE)
		r = store_put(s->store, what->sector * 512, data, what->bytes, s->full);
	else if (!j->rq.error && what->op == RQ_DISCARD)
		store_drop(s->store, what->sector * 512, what->bytes);
	if (r) {
		j->rq.error = r;
		s->log->refused++;
	}
	s->log->stored_blocks = store_used(s->store);
	if (timed) {
		nsec_t next;

		n = drive_reap(s->drive, now, done, BATCH);
		next = drive_next(s->drive);
		if (next < s->wake_at) {
			s->wake_at = next;
			pthread_cond_signal(&s->cond);
		}
	}
	pthread_mutex_unlock(&s->mu);
	if (n) {
		answer_all(s, done, n);
	} else if (!timed) {
		answer(s, j);
		pthread_mutex_lock(&s->mu);
		j->next = s->free_jobs;
		s->free_jobs = j;
		pthread_mutex_unlock(&s->mu);
	}
}

/* ---- the thread that answers on time ---- */

static void due_pokes(struct server *s, nsec_t now)
{
	unsigned n = 0;

	while (n < s->npokes && s->poke[n].at <= now) {
		const struct poke *p = &s->poke[n++];

		drive_fault(s->drive, &p->fault, MAX(p->at, INT64_C(0)));
		if (p->fault.kind == FAULT_FULL)
			s->full = p->fault.amount;
		log_poke_put(s->log, p->at, p->text);
	}
	s->npokes -= n;
	memmove(s->poke, s->poke + n, s->npokes * sizeof(*s->poke));
}

static void *on_time(void *arg)
{
	struct server *s = arg;
	struct rq *done[BATCH];

	pthread_setname_np(pthread_self(), "stallmark-time");
	pthread_mutex_lock(&s->mu);
	while (!s->ending) {
		nsec_t now = nsec_now(), next, wake;
		unsigned n;

		/* what happens up to a poke happens before it */
		while (s->npokes && s->poke[0].at <= now) {
			n = drive_reap(s->drive, s->poke[0].at, done, BATCH);
			if (!n) {
				due_pokes(s, s->poke[0].at);
				continue;
			}
			pthread_mutex_unlock(&s->mu);
			answer_all(s, done, n);
			pthread_mutex_lock(&s->mu);
		}
		n = drive_reap(s->drive, now, done, BATCH);
		if (n) {
			pthread_mutex_unlock(&s->mu);
			answer_all(s, done, n);
			pthread_mutex_lock(&s->mu);
			continue;
		}
		next = drive_next(s->drive);
		if (s->npokes)
			next = MIN(next, s->poke[0].at);
		s->wake_at = next;
		if (next == NSEC_NEVER) {
			pthread_cond_wait(&s->cond, &s->mu);
			continue;
		}
		wake = next - SPIN;
		if (wake > now) {
			struct timespec ts = { wake / NSEC_PER_SEC, wake % NSEC_PER_SEC };

			pthread_cond_timedwait(&s->cond, &s->mu, &ts);
			continue;
		}
		pthread_mutex_unlock(&s->mu);
		while (nsec_now() < next)
			;
		pthread_mutex_lock(&s->mu);
	}
	pthread_mutex_unlock(&s->mu);
	return NULL;
}

/* ---- what the control socket asks for ---- */

int server_poke(struct server *s, const char *text, nsec_t at, struct err *e)
{
	struct poke p = { .at = at };
	int r = fault_parse(text, &p.fault, e);
	unsigned i;

	if (r)
		return r;
	snprintf(p.text, sizeof(p.text), "%s", text);
	pthread_mutex_lock(&s->mu);
	if (p.at <= 0)
		p.at = nsec_now();
	if (s->npokes == POKES) {
		pthread_mutex_unlock(&s->mu);
		return err_set(e, -EAGAIN, "%d faults are waiting for their time already", POKES);
	}
	for (i = s->npokes++; i > 0 && s->poke[i - 1].at > p.at; i--)
		s->poke[i] = s->poke[i - 1];
	s->poke[i] = p;
	s->wake_at = 0;
	pthread_cond_signal(&s->cond);
	pthread_mutex_unlock(&s->mu);
	return 0;
}

void server_timing(struct server *s, bool on)
{
	struct rq *done[BATCH];
	unsigned n;

	pthread_mutex_lock(&s->mu);
	s->timing = on;
	/* what is still in the drive, frozen or slow as it may be, is answered now */
	for (int days = 1; !on && days < 8 && drive_queued(s->drive); days++)
		while ((n = drive_reap(s->drive, nsec_now() + days * 86400 * NSEC_PER_SEC, done, BATCH))) {
			pthread_mutex_unlock(&s->mu);
			answer_all(s, done, n);
			pthread_mutex_lock(&s->mu);
		}
	pthread_mutex_unlock(&s->mu);
}

unsigned server_queued(struct server *s)
{
	unsigned n;

	pthread_mutex_lock(&s->mu);
	n = drive_queued(s->drive);
	pthread_mutex_unlock(&s->mu);
	return n;
}

void server_end(struct server *s)
{
	pthread_mutex_lock(&s->mu);
	s->ending = true;
	pthread_cond_signal(&s->cond);
	pthread_mutex_unlock(&s->mu);
	fuse_session_exit(s->session);
	kill(getpid(), SIGTERM);	/* wakes the reader; its handler does nothing but that */
}

/* ---- the filesystem: a folder with the file `disk` ---- */

static void fill(const struct server *s, fuse_ino_t ino, struct stat *st)
{
	*st = (struct stat){ .st_ino = ino, .st_nlink = 1, .st_mode = S_IFREG | 0600, .st_blksize = STORE_BLOCK };
	if (ino == FUSE_ROOT_ID) {
		st->st_mode = S_IFDIR | 0700;
		st->st_nlink = 2;
		return;
	}
	st->st_size = (off_t)s->conf->capacity_bytes;
	st->st_blocks = (blkcnt_t)(store_used(s->store) * (STORE_BLOCK / 512));
}

static void op_init(void *userdata, struct fuse_conn_info *c)
{
	c->max_background = BACKGROUND;
	c->congestion_threshold = BACKGROUND;
	c->max_write = MOST;
	c->max_readahead = 0;
	c->want |= c->capable & FUSE_CAP_ASYNC_DIO;
	c->want &= ~(unsigned)(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE | FUSE_CAP_SPLICE_MOVE);
}

static void op_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fuse_entry_param e = { .ino = DISK_INO, .attr_timeout = 3600, .entry_timeout = 3600 };

	if (parent != FUSE_ROOT_ID || strcmp(name, "disk")) {
		fuse_reply_err(req, ENOENT);
		return;
	}
	fill(server_of(req), DISK_INO, &e.attr);
	fuse_reply_entry(req, &e);
}

static void op_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st;

	fill(server_of(req), ino, &st);
	fuse_reply_attr(req, &st, 3600);
}

static void op_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set, struct fuse_file_info *fi)
{
	if (to_set & FUSE_SET_ATTR_SIZE)
		fuse_reply_err(req, EPERM);
	else
		op_getattr(req, ino, fi);
}

/* By hand: libfuse 3.14 does not know FOPEN_PARALLEL_DIRECT_WRITES, without which writes queue for the inode's lock. */
static void op_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fuse_open_out out = { .open_flags = FOPEN_DIRECT_IO | FOPEN_PARALLEL_DIRECT_WRITES };

	if (ino != DISK_INO)
		fuse_reply_err(req, EISDIR);
	else
		fuse_reply_buf(req, (const char *)&out, sizeof(out));
}

static bool inside(const struct server *s, off_t offset, uint64_t n)
{
	return offset >= 0 && offset % 512 == 0 && n % 512 == 0 && n > 0 && (uint64_t)offset + n <= s->conf->capacity_bytes;
}

static void op_read(fuse_req_t req, fuse_ino_t ino, size_t n, off_t offset, struct fuse_file_info *fi)
{
	struct server *s = server_of(req);
	struct rq rq = { .op = RQ_READ, .sector = (uint64_t)offset / 512 };

	if (offset >= 0 && (uint64_t)offset >= s->conf->capacity_bytes) {
		fuse_reply_buf(req, NULL, 0);
		return;
	}
	n = (size_t)MIN((uint64_t)n, s->conf->capacity_bytes - (uint64_t)offset);
	if (n > MOST || !inside(s, offset, n)) {
		fuse_reply_err(req, EINVAL);
		return;
	}
	rq.bytes = (uint32_t)n;
	submit(req, &rq, NULL);
}

static void op_write(fuse_req_t req, fuse_ino_t ino, const char *data, size_t n, off_t offset, struct fuse_file_info *fi)
{
	struct rq rq = { .op = RQ_WRITE, .sector = (uint64_t)offset / 512, .bytes = (uint32_t)n };

	if (n > MOST || !inside(server_of(req), offset, n))
		fuse_reply_err(req, offset >= 0 && (uint64_t)offset + n > server_of(req)->conf->capacity_bytes ? EFBIG : EINVAL);
	else
		submit(req, &rq, data);
}

static void op_fsync(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	submit(req, &(struct rq){ .op = RQ_FLUSH }, NULL);
}

static void op_fallocate(fuse_req_t req, fuse_ino_t ino, int mode, off_t offset, off_t n, struct fuse_file_info *fi)
{
	struct server *s = server_of(req);

	if (!(mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE))) {
		fuse_reply_err(req, EOPNOTSUPP);
		return;
	}
	if (!inside(s, offset, (uint64_t)n)) {
		fuse_reply_err(req, EINVAL);
		return;
	}
	while (n > 0) {		/* rq.bytes has 32 bits; all but the last piece are forgotten at once */
		off_t k = MIN(n, (off_t)1 << 30);

		if (k == n) {
			submit(req, &(struct rq){ .op = RQ_DISCARD, .sector = (uint64_t)offset / 512, .bytes = (uint32_t)k }, NULL);
			return;
		}
		pthread_mutex_lock(&s->mu);
		store_drop(s->store, (uint64_t)offset, (uint64_t)k);
		pthread_mutex_unlock(&s->mu);
		offset += k;
		n -= k;
	}
}

static const struct fuse_lowlevel_ops operations = {
	.init = op_init, .lookup = op_lookup, .getattr = op_getattr, .setattr = op_setattr, .open = op_open, .read = op_read,
	.write = op_write, .fsync = op_fsync, .fallocate = op_fallocate,
};

/* ---- the process ---- */

static volatile sig_atomic_t got_term;

static void on_term(int sig)
{
	got_term = 1;
}

static void become_server(const struct server_conf *c)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, term = { .sa_handler = on_term };
	struct sched_param rt = { .sched_priority = 10 };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), fd;
	sigset_t none;

	setsid();
	prctl(PR_SET_NAME, "stallmark-lab");
	for (int i = 0; i < 3; i++)
		dup2(null, i);
	close(null);
	close_range(3, (unsigned)c->ready - 1, 0);	/* not the caller's record, not its pipes */
	close_range((unsigned)c->ready + 1, ~0u, 0);
	(void)!chdir("/");
	sigaction(SIGINT, &ignore, NULL);
	sigaction(SIGHUP, &ignore, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	sigaction(SIGQUIT, &ignore, NULL);
	sigaction(SIGTERM, &term, NULL);	/* no SA_RESTART: it must interrupt read() */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_TIMERSLACK, 1UL);
	prctl(PR_SET_IO_FLUSHER, 1UL, 0UL, 0UL, 0UL);
	if (sched_setscheduler(0, SCHED_FIFO, &rt))
		setpriority(PRIO_PROCESS, 0, -20);	/* not allowed here: the log shows what it costs */
	fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd >= 0) {
		(void)!write(fd, "-1000", 5);
		close(fd);
	}
	/* no heap growth later: one arena, never given back, some of it touched below */
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, -1);
	mallopt(M_TOP_PAD, 8 << 20);
}

static int prepare(struct server *s, struct err *e)
{
	const struct server_conf *c = s->conf;
	cleanup_free char *point = mem_printf("%s/mnt", c->dir);
	char *argv[] = { "stallmark-lab", "-o", "fsname=stallmark-lab,subtype=stallmark", NULL };
	struct fuse_args args = FUSE_ARGS_INIT(3, argv);
	pthread_condattr_t ca;
	pthread_t thread;
	struct job *jobs;
	sigset_t term;
	int r;

	r = store_new(c->capacity_bytes, c->pool_bytes, c->file, &s->store, e);
	if (!r)
		r = drive_new(c->profile, c->capacity_bytes, c->seed, &s->drive, e);
	if (r)
		return r;
	s->log->max_blocks = store_size(s->store);
	jobs = mem_array(JOBS, sizeof(*jobs));
	for (int i = 0; i < JOBS; i++) {
		jobs[i].next = s->free_jobs;
		s->free_jobs = &jobs[i];
	}
	pthread_mutex_init(&s->mu, NULL);
	pthread_mutex_init(&s->log_mu, NULL);
	pthread_condattr_init(&ca);
	pthread_condattr_setclock(&ca, CLOCK_MONOTONIC);
	pthread_cond_init(&s->cond, &ca);
	s->wake_at = NSEC_NEVER;
	s->session = fuse_session_new(&args, &operations, sizeof(operations), s);
	if (!s->session)
		return err_set(e, -EIO, "libfuse refused to start a session");
	if (fuse_session_mount(s->session, point))
		return err_set(e, -EIO, "cannot mount FUSE at %s; is /dev/fuse usable here (containers often forbid it)?", point);
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return err_sys(e, -errno, "cannot lock the lab server's memory");
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &term, NULL);	/* it must interrupt the reader, which is this thread */
	r = server_control_start(s, c->dir, e);
	if (!r && (r = -pthread_create(&thread, NULL, on_time, s)))
		err_sys(e, r, "cannot start the lab server's timing thread");
	pthread_sigmask(SIG_UNBLOCK, &term, NULL);
	return r;
}

void server_main(const struct server_conf *c)
{
	struct server *s;
	struct fuse_buf buf = { 0 };
	struct err e = { 0 };
	int r;

	become_server(c);
	s = mem_alloc(sizeof(*s));
	s->conf = c;
	s->log = c->log;
	r = prepare(s, &e);
	if (r) {
		if (s->session)
			fuse_session_unmount(s->session);
		(void)!write(c->ready, e.msg, strlen(e.msg));
		_exit(2);
	}
	(void)!write(c->ready, "ok", 2);
	close(c->ready);
	while (!fuse_session_exited(s->session) && !got_term) {
		r = fuse_session_receive_buf(s->session, &buf);
		if (r == -EINTR)
			continue;
		if (r <= 0)
			break;
		fuse_session_process_buf(s->session, &buf);
	}
	/* whoever still waits for an answer gets an error when the connection closes */
	fuse_session_unmount(s->session);
	_exit(0);
}

int server_supported(struct err *e)
{
	if (access("/dev/fuse", R_OK | W_OK))
		return err_sys(e, -ENOTSUP, "the lab needs /dev/fuse (%s); modprobe fuse, or a container that is given the device",
			       strerror(errno));
	return 0;
}

#endif
