/* SPDX-License-Identifier: MIT */
#include "live/screen.h"
#include "config.h"
#include "event/waitclass.h"

#if HAVE_NCURSES
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"

#include <curses.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct screen {
	SCREEN *term;
	char said[400];
};

static volatile sig_atomic_t up;	/* the terminal is ours */
static struct sigaction before[NSIG];

/* After a crash of ours the terminal must be usable: give it back, then die of the same signal. */
static void crash(int sig)
{
	if (up) {
		up = 0;
		endwin();
	}
	sigaction(sig, &before[sig], NULL);
	raise(sig);
}

static void at_exit(void)
{
	if (up) {
		up = 0;
		endwin();
	}
}

struct screen *screen_open(void)
{
	static const int fatal[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
	struct screen *s = mem_alloc(sizeof(*s));
	static bool once;

	s->term = newterm(NULL, stderr, stdin);
	if (!s->term) {
		free(s);
		return NULL;
	}
	set_term(s->term);
	up = 1;
	curs_set(0);
	leaveok(stdscr, TRUE);
	if (!once)
		atexit(at_exit);
	once = true;
	for (size_t i = 0; i < ARRAY_SIZE(fatal); i++) {
		struct sigaction sa = { .sa_handler = crash, .sa_flags = SA_RESETHAND };

		sigaction(fatal[i], &sa, &before[fatal[i]]);
	}
	return s;
}

static void bar(int width, double share)
{
	int full = (int)(share * width + 0.5);

	addch('[');
	for (int i = 0; i < width; i++)
		addch(i < full ? '#' : ' ');
	addch(']');
}

static void head(const char *title, const struct run_view *v)
{
	char a[NSEC_TEXT], b[NSEC_TEXT];

	attron(A_BOLD);
	mvprintw(0, 0, "%.*s", COLS - 1, title);
	attroff(A_BOLD);
	mvprintw(1, 0, "%s %s", live_phase((int)v->phase), nsec_text(v->now - v->since, a));
	if (v->until > v->since) {
		nsec_t left = MAX(v->until - v->now, (nsec_t)0);

		printw(", %s left  ", nsec_text(left, b));
		if (COLS >= 70)
			bar(24, 1 - nsec_seconds(left) / nsec_seconds(v->until - v->since));
	}
	if (v->say && *v->say)
		mvprintw(2, 0, "%.*s", COLS - 1, v->say);
}

static void machine(int y, const struct facts *f, const struct run_view *v)
{
	char a[UNITS_TEXT], b[UNITS_TEXT];

	mvprintw(y, 0, "load   writes %-10s reads %-10s", units_rate_text((double)v->load_written_s, a),
		 units_rate_text((double)v->load_read_s, b));
	if (COLS >= 70)
		printw(" so far %s", units_size_text(v->written, a));
	mvprintw(y + 1, 0, "Dirty  %-9s of %-9s ", units_size_text(f->dirty, a), units_size_text(f->dirty_limit, b));
	if (COLS >= 70 && f->dirty_limit)
		bar(24, MIN((double)f->dirty / (double)f->dirty_limit, 1.0));
	mvprintw(y + 2, 0, "       Writeback %s", units_size_text(f->writeback, a));
}

/* What it waits for in words, from the kernel function it sleeps in; the function itself when no words are known. */
static void stuck_in(uint32_t tid)
{
	char where[64];
	const char *frame = facts_wchan(tid, where);
	struct stack_verdict said = stack_judge(&frame, 1);
	int room = COLS - getcurx(stdscr) - 1;

	if (!*where || room < 8)
		return;
	if (said.class != WAIT_UNKNOWN)
		printw(", for %.*s", room - 6, said.words);
	else
		printw(" in %.*s", room - 4, where);
}

static void probes(int y, const struct run_view *v)
{
	char last[NSEC_TEXT], worst[NSEC_TEXT], limit[NSEC_TEXT], now[NSEC_TEXT];

	attron(A_BOLD);
	mvprintw(y, 0, "%-16s %7s %10s %10s %7s  %s", "probe", "waits", "last", "worst", "late", "now");
	attroff(A_BOLD);
	for (int i = 0; i < v->nprobes && y + 1 + i < LINES - 1; i++) {
		bool stuck = v->probe[i].limit && v->probe[i].in_flight > v->probe[i].limit;

		mvprintw(y + 1 + i, 0, "%-16.16s %7llu %10s %10s %7u  ", v->probe[i].name, (unsigned long long)v->probe[i].n,
			 v->probe[i].n ? nsec_text(v->probe[i].last, last) : "-",
			 v->probe[i].n ? nsec_text(v->probe[i].worst, worst) : "-", v->probe[i].late);
		if (stuck) {
			attron(A_REVERSE);
			printw("stuck %s", nsec_text(v->probe[i].in_flight, now));
			attroff(A_REVERSE);
			stuck_in(v->probe[i].tid);
		} else if (v->probe[i].limit && COLS >= 78) {
			printw("(limit %s)", nsec_text(v->probe[i].limit, limit));
		}
	}
}

void screen_draw(struct screen *s, const char *title, const struct facts *f, const struct run_view *v)
{
	struct winsize ws;

	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) && ws.ws_row && ws.ws_col && (ws.ws_row != LINES || ws.ws_col != COLS)) {
		resizeterm(ws.ws_row, ws.ws_col);
		clear();
	}
	erase();
	head(title, v);
	machine(4, f, v);
	probes(8, v);
	mvprintw(LINES - 1, 0, "%.*s", COLS - 1, *s->said ? s->said : "Ctrl-C ends the run and shows what was measured");
	refresh();
}

void screen_say(struct screen *s, const char *text)
{
	snprintf(s->said, sizeof(s->said), "%s", text);
}

void screen_close(struct screen *s)
{
	if (!s)
		return;
	up = 0;
	endwin();
	delscreen(s->term);
	if (*s->said)
		fprintf(stderr, "%s\n", s->said);
	free(s);
}

#else

struct screen *screen_open(void)
{
	return NULL;
}

void screen_draw(struct screen *s, const char *title, const struct facts *f, const struct run_view *v)
{
}

void screen_say(struct screen *s, const char *text)
{
}

void screen_close(struct screen *s)
{
}

#endif
