/* SPDX-License-Identifier: MIT */
#include "analyze/stack-parse.h"
#include "base/cleanup.h"
#include "event/waitclass.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define LINE 512

static bool symbol_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

static void copy(char *to, size_t size, const char *from, size_t n)
{
	if (n >= size)
		n = size - 1;
	memcpy(to, from, n);
	to[n] = '\0';
}

static void append_frame(struct stack_task *t, const char *s, size_t n)
{
	while (n && isspace((unsigned char)s[n - 1]))
		n--;
	if (n && t->nframes < STACK_FRAMES)
		t->frame[t->nframes++] = mem_dupn(s, n);
}

/* Is this line a frame? Points *ret at what stack_symbol() reads, without the marker of an unreliable frame. */
static bool is_frame(const char *s, bool inside, const char **ret, bool *ret_doubtful)
{
	const char *p = s;
	bool address = false, blank = *p == ' ' || *p == '\t';
	size_t n;

	*ret_doubtful = false;
	while (*p == ' ' || *p == '\t')
		p++;
	if (*p == '#' && isdigit((unsigned char)p[1])) {	/* crash: "#1 [ffffc900] schedule at ffffffff81" */
		p += strcspn(p, " \t");
		p += strspn(p, " \t");
		if (*p == '[' && (n = strcspn(p, "]")) && p[n]) {
			p += n + 1;
			p += strspn(p, " \t");
		}
		address = true;
	}
	if (*p == '[' && p[1] == '<') {
		n = strcspn(p, "]");
		if (!p[n])
			return false;
		p += n + 1;
		address = true;
	} else if ((n = strspn(p, "0123456789abcdefABCDEF")) >= 8 && (p[n] == ' ' || p[n] == '\t')) {
		p += n;
		address = true;
	}
	p += strspn(p, " \t");
	if (*p == '?') {
		*ret_doubtful = true;
		p++;
		p += strspn(p, " \t");
	}
	*ret = p;
	if (!strncmp(p, "b'", 2))
		p += 2;
	for (n = 0; symbol_char(p[n]);)
		n++;
	if (!n)
		return false;
	if (!strncmp(p, "0x", 2))	/* the end mark of 2.6 and hidden symbols */
		return address;
	if (isdigit((unsigned char)*p) || *p == '.' || (n >= 8 && strspn(p, "0123456789abcdef") == n))
		return false;	/* words of memory, as 2.6 dumps them above the trace */
	if (address)
		return true;
	if (p[n] == '+' && isxdigit((unsigned char)p[n + 1]))
		return true;
	/* a bare name counts when it stands alone and indented inside a stack (bpftrace, bcc, wchan) */
	n += strspn(p + n, "'\r \t");
	return inside && blank && p[n] == '\0';
}

/* What loggers put in front: "Apr  3 12:00:00 host kernel: ", "<4>", "[ 1234.567890] ", "[T1234] ", quoted mail. */
static const char *skip_prefix(const char *s)
{
	for (;;) {
		const char *k = strstr(s, "kernel: ");
		size_t n;

		while (*s == '>' && (s[1] == ' ' || s[1] == '>'))
			s += 1 + (s[1] == ' ');
		if (k && k - s < 80) {
			s = k + 8;
			continue;
		}
		if (*s == '<' && isdigit((unsigned char)s[1]) && (n = strcspn(s, ">")) <= 4 && s[n]) {
			s += n + 1;
			continue;
		}
		if (*s == '[' && s[1] != '<') {
			n = 1 + strspn(s + 1, " 0123456789.TC");
			if (s[n] == ']' && n > 1) {
				s += n + 1;
				s += *s == ' ' && s[1] != ' ' ? 1 : 0;
				continue;
			}
		}
		return s;
	}
}

/* "NAME:123 ..." after `mark`: name and pid, where the name may hold ':' itself (kworker/0:1). */
static bool name_and_pid(const char *s, const char *mark, char *name, size_t size, uint32_t *pid)
{
	const char *p = strstr(s, mark), *colon = NULL;

	if (!p)
		return false;
	p += strlen(mark);
	for (const char *q = p; *q && *q != ' ' && q - p < 40; q++)
		if (*q == ':' && isdigit((unsigned char)q[1]))
			colon = q;
	if (!colon)
		return false;
	copy(name, size, p, (size_t)(colon - p));
	*pid = (uint32_t)strtoul(colon + 1, NULL, 10);
	return true;
}

static void flush(struct stack_text *out, struct stack_task *cur)
{
	if (cur->nframes && out->task.n < STACK_TASKS) {
		vec_push(&out->task, *cur);
	} else {
		for (int i = 0; i < cur->nframes; i++)
			free(cur->frame[i]);
	}
	memset(cur, 0, sizeof(*cur));
}

/* "dd;__x64_sys_fsync;...;jbd2_log_wait_commit 1234": outermost first, a process in front, a number behind. */
static bool folded(const char *s, struct stack_text *out, struct stack_task *cur)
{
	const char *end = s + strlen(s), *last;
	struct stack_task t = { 0 };
	const char *p;

	while (end > s && isspace((unsigned char)end[-1]))
		end--;
	for (last = end; last > s && isdigit((unsigned char)last[-1]);)
		last--;
	if (last == end || last == s || last[-1] != ' ' || !memchr(s, ';', (size_t)(last - s)))
		return false;
	flush(out, cur);
	t.count = strtoull(last, NULL, 10);
	end = last - 1;
	for (p = end; p > s; p--) {
		if (p[-1] != ';' && p - 1 > s)
			continue;
		if (p[-1] == ';')
			append_frame(&t, p, (size_t)(end - p));
		end = p - 1;
	}
	copy(t.comm, sizeof(t.comm), s, strcspn(s, ";"));
	flush(out, &t);
	return true;
}

/* "task dd:12 is blocked on a mutex likely owned by task cp:13" (6.16+) comes after the stack it belongs to. */
static void lock_owner(const char *s, struct stack_text *out, struct stack_task *cur)
{
	char name[32];
	uint32_t pid;

	if (!name_and_pid(s, "INFO: task ", name, sizeof(name), &pid))
		return;
	for (size_t i = out->task.n + 1; i-- > 0;) {
		struct stack_task *t = i == out->task.n ? cur : &out->task.p[i];

		if (t->nframes && t->pid == pid) {
			name_and_pid(s, "by task ", t->owner, sizeof(t->owner), &t->owner_pid);
			return;
		}
	}
}

/* A line that is not a frame: what does it say about the stack that follows? False: nothing. */
static bool heading(const char *s, struct stack_text *out, struct stack_task *cur)
{
	const char *p;
	size_t n;

	if ((p = strstr(s, "INFO: task ")) && strstr(s, " blocked")) {
		if (!strstr(s, "likely owned") && !strstr(s, "last held")) {
			flush(out, cur);
			name_and_pid(s, "INFO: task ", cur->comm, sizeof(cur->comm), &cur->pid);
			cur->state = 'D';
			if ((p = strstr(s, "more than ")))
				cur->blocked_s = (uint32_t)strtoul(p + 10, NULL, 10);
			return true;
		}
		lock_owner(s, out, cur);
		return true;
	}
	if ((p = strstr(s, "task:")) && strstr(p, "state:")) {
		uint32_t pid = cur->pid, blocked = cur->blocked_s;

		if (cur->nframes)
			flush(out, cur), pid = 0, blocked = 0;
		copy(cur->comm, sizeof(cur->comm), p + 5, strcspn(p + 5, " "));
		cur->state = strstr(p, "state:")[6];
		if ((p = strstr(p, " pid:")))
			pid = (uint32_t)strtoul(p + 5, NULL, 10);
		cur->pid = pid;
		cur->blocked_s = blocked;
		return true;
	}
	if ((p = strstr(s, "/proc/")) && isdigit((unsigned char)p[6]) && strstr(p, "/stack")) {
		const char *t = strstr(p, "/task/");
		uint32_t pid = (uint32_t)strtoul(t && isdigit((unsigned char)t[6]) ? t + 6 : p + 6, NULL, 10);
		const char *rest = strstr(p, "/stack:"), *f;
		bool doubtful;

		if (pid != cur->pid || !rest)
			flush(out, cur);
		cur->pid = pid;
		if (rest && is_frame(rest + 7, true, &f, &doubtful) && !doubtful)	/* grep . /proc/[0-9]*\/stack */
			append_frame(cur, f, strlen(f));
		return true;
	}
	p = s + strspn(s, " \t");
	n = strcspn(p, " \t\r");
	/* "dd            D ffff880 0  1234  1 0x0" of old sysrq-w, "dd 1234 [001] 12.5: sched:..." of perf script,
	 * "1234 dd" or "dd 1234" of one's own script, "-  dd (1234)" of offcputime */
	if (n && *p && !strncmp(p, "Call Trace", 10))
		return true;
	if (n && !strncmp(p, "<TASK>", 6))
		return true;
	if (*p == '\0' || !strncmp(p, "</TASK>", 7)) {
		flush(out, cur);
		return true;
	}
	if (cur->nframes && !strncmp(p, "RIP: ", 5)) {	/* the registers of user space end the stack */
		flush(out, cur);
		return true;
	}
	if (n >= 8 && strspn(p, "0123456789abcdef") == n)
		return true;
	if (*p == '-' && cur->nframes && strstr(p, "(") && isdigit((unsigned char)strstr(p, "(")[1])) {
		char *paren = strstr(p, "(");

		p += strspn(p, "- \t");
		copy(cur->comm, sizeof(cur->comm), p, strcspn(p, " ("));
		cur->pid = (uint32_t)strtoul(paren + 1, NULL, 10);
		flush(out, cur);
		return true;
	}
	if (!strncmp(p, "RSP:", 4) || !strncmp(p, "RAX:", 4) || !strncmp(p, "R10:", 4) || !strncmp(p, "R13:", 4) ||
	    !strncmp(p, "RDX:", 4) || !strncmp(p, "RBP:", 4) || strstr(p, "Not tainted") || strstr(p, "Tainted:") ||
	    strstr(p, "hung_task_timeout_secs") || !strncmp(p, "Workqueue:", 10) ||
	    !strncmp(p, "Hardware name", 13))
		return true;
	if (p[n] && n < sizeof(cur->comm)) {
		const char *second = p + n + strspn(p + n, " \t");
		size_t len = strcspn(second, " \t\r");
		bool digits = strspn(p, "0123456789") == n, digits2 = len && strspn(second, "0123456789") == len;

		flush(out, cur);
		if (digits != digits2) {
			const char *name = digits ? second : p;

			cur->pid = (uint32_t)strtoul(digits ? p : second, NULL, 10);
			copy(cur->comm, sizeof(cur->comm), name, digits ? len : n);
			return true;
		}
		if (len == 1 && strchr("DSRTtZI", *second)) {
			copy(cur->comm, sizeof(cur->comm), p, n);
			cur->state = *second;
			for (const char *q = second + 1; *q; q += strcspn(q, " \t")) {	/* free stack, then the pid */
				q += strspn(q, " \t");
				if (strspn(q, "0123456789") == strcspn(q, " \t\r") && strtoul(q, NULL, 10) > 1) {
					cur->pid = (uint32_t)strtoul(q, NULL, 10);
					break;
				}
			}
			return true;
		}
	} else {
		flush(out, cur);
	}
	copy(cur->title, sizeof(cur->title), p, strcspn(p, "\r\n"));
	return false;
}

int stack_parse(const char *text, size_t len, struct stack_text *ret, struct err *e)
{
	struct stack_text out = { 0 };
	struct stack_task cur = { 0 };
	const char *end = text + len;

	while (text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((nl ? nl : end) - text);
		char line[LINE];
		const char *s, *f;
		bool doubtful;

		if (n >= LINE && nl && memchr(text, ';', n)) {	/* folded stacks are long lines */
			cleanup_free char *whole = mem_dupn(text, n);

			if (!folded(whole, &out, &cur))
				out.odd_lines++;
			text = nl + 1;
			continue;
		}
		copy(line, sizeof(line), text, n);
		text = nl ? nl + 1 : end;
		for (size_t i = 0; i < n && i < LINE - 1; i++)	/* an embedded NUL must not hide the rest */
			if (!line[i])
				line[i] = '?';
		s = skip_prefix(line);
		if (is_frame(s, cur.nframes || *cur.comm || cur.pid, &f, &doubtful)) {
			if (!doubtful)
				append_frame(&cur, f, strlen(f));
			continue;
		}
		if (!folded(s, &out, &cur) && !heading(s, &out, &cur))
			out.odd_lines++;
	}
	flush(&out, &cur);
	if (!out.task.n) {
		stack_text_done(&out);
		return err_set(e, -ENODATA, "there is no kernel stack in this text; paste what /proc/PID/stack, dmesg (hung "
			       "task, sysrq w), perf script, bpftrace or a folded stack file shows, one symbol a line");
	}
	*ret = out;
	return 0;
}

void stack_text_done(struct stack_text *t)
{
	for (size_t i = 0; i < t->task.n; i++)
		for (int k = 0; k < t->task.p[i].nframes; k++)
			free(t->task.p[i].frame[k]);
	vec_done(&t->task);
}
