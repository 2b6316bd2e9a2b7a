/* SPDX-License-Identifier: MIT */
#include "event/waitclass.h"
#include "base/cleanup.h"

#include <ctype.h>
#include <string.h>

enum how { ANY, TOP, WEAK };

static const struct pattern {
	enum how how;
	enum wait_class class;
	const char *symbols, *under, *words;
} patterns[] = {
#define WAIT_PATTERN(how, class, symbols, under, words) { how, WAIT_##class, symbols, under, words },
#include "event/wait-pattern.def"
#undef WAIT_PATTERN
};

/* Is sym one of the alternatives "a|b*|c"? */
static bool one_of(const char *list, const char *sym)
{
	size_t len = strlen(sym);

	while (*list) {
		size_t n = strcspn(list, "|");

		if (n && list[n - 1] == '*' ? len >= n - 1 && !memcmp(list, sym, n - 1) : len == n && !memcmp(list, sym, n))
			return true;
		list += n;
		list += *list == '|';
	}
	return false;
}

/* What comes before the symbol: blanks, "? ", "[<addr>]", a bare address as perf and bcc print it. */
static const char *skip_address(const char *s)
{
	const char *end;
	size_t n;

	for (;;) {
		while (*s == ' ' || *s == '\t' || *s == '?')
			s++;
		if (*s == '[' && s[1] == '<' && (end = strchr(s, ']'))) {
			s = end + 1;
			continue;
		}
		n = strspn(s, "0123456789abcdefABCDEFx");
		if (n >= 8 && (s[n] == ' ' || s[n] == '\t')) {
			s += n;
			continue;
		}
		return s;
	}
}

const char *stack_symbol(const char *frame, char buf[STACK_SYMBOL])
{
	static const char *const tails[] = { ".isra", ".constprop", ".part", ".cold", ".llvm", ".lto_priv" };
	const char *s = skip_address(frame);
	size_t n = 0;

	if (!strncmp(s, "b'", 2))	/* bcc in Python 3 */
		s += 2;
	while ((isalnum((unsigned char)s[n]) || s[n] == '_' || s[n] == '.' || s[n] == '$') && n < STACK_SYMBOL - 1)
		n++;
	memcpy(buf, s, n);
	buf[n] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(tails); i++) {
		char *cut = strstr(buf, tails[i]);

		if (cut && cut > buf)
			*cut = '\0';
	}
	if (isdigit((unsigned char)buf[0]))
		buf[0] = '\0';
	return buf;
}

bool stack_is_scheduler(const char *sym)
{
	return one_of("schedule|__schedule|io_schedule*|preempt_schedule*|schedule_timeout*|schedule_preempt_disabled|bit_wait*|"
		      "__wait_on_bit*|out_of_line_wait_on_bit*|wait_on_bit*|__switch_to|context_switch|__traceiter_*|"
		      "bpf_*|__bpf_trace_*|trace_event_raw_*|perf_trace_*|dump_stack*|prepare_to_wait*|mutex_lock*|__mutex_lock*|"
		      "rwsem_down_*|down_read*|down_write*|call_rwsem_down_*|rt_mutex_slowlock*|schedule_hrtimeout_*|__down*|"
		      "finish_task_switch|_raw_spin_*|autoremove_wake_function|var_wait*|wait_for_completion*|"
		      "percpu_rwsem_wait|thread_return|do_task_dead|blk_io_schedule|blk_wait_io|wait_for_common", sym);
}

static bool under_matches(const struct pattern *p, char (*sym)[STACK_SYMBOL], int from, int n)
{
	if (!*p->under)
		return true;
	for (int i = from; i < n; i++)
		if (one_of(p->under, sym[i]))
			return true;
	return false;
}

#define DEPTH 64	/* deeper frames never decided anything yet and hostile input has no end */

struct stack_verdict stack_judge(const char *const *frames, int n)
{
	struct stack_verdict v = { .class = WAIT_UNKNOWN, .frame = -1, .words = wait_words(WAIT_UNKNOWN) };
	char sym[DEPTH][STACK_SYMBOL];
	int top = 0;

	if (n > DEPTH)
		n = DEPTH;
	for (int i = 0; i < n; i++)
		stack_symbol(frames[i], sym[i]);
	while (top < n && stack_is_scheduler(sym[top]))
		top++;
	for (int pass = 0; pass < 2; pass++) {
		for (int i = 0; i < n; i++) {
			for (size_t k = 0; k < ARRAY_SIZE(patterns); k++) {
				const struct pattern *p = &patterns[k];

				if ((p->how == WEAK) != (pass == 1) || (p->how == TOP && i > top))
					continue;
				if (!one_of(p->symbols, sym[i]) || !under_matches(p, sym, i + 1, n))
					continue;
				v.class = p->class;
				v.frame = i;
				v.words = *p->words ? p->words : wait_words(p->class);
				v.weak = pass == 1;
				return v;
			}
		}
	}
	return v;
}

enum wait_class stack_classify(const char *const *frames, int n)
{
	return stack_judge(frames, n).class;
}

/* Entries from user space are named after the system call; kernel threads after what they serve. */
const char *stack_operation(const char *const *frames, int n, char buf[STACK_SYMBOL])
{
	static const char *const entry[] = {
		"__x64_sys_", "__ia32_sys_", "__ia32_compat_sys_", "__arm64_sys_", "__se_sys_", "__do_sys_", "__riscv_sys_",
		"__s390x_sys_", "compat_sys_", "ksys_", "SyS_", "sys_",
	};
	static const struct {
		const char *symbols, *words;
	} thread[] = {
		{ "kjournald2|kjournald", "the journal thread" },
		{ "wb_workfn|wb_do_writeback|bdi_writeback_thread|pdflush|background_writeout", "the flusher" },
		{ "loop_process_work|loop_workfn|loop_rootcg_workfn|loop_thread", "a loop device's worker" },
		{ "xfsaild", "the XFS log pusher" },
		{ "xlog_cil_push_work|xlog_ioend_work", "the XFS log worker" },
		{ "transaction_kthread", "the btrfs commit thread" },
		{ "btrfs_work_helper", "a btrfs worker" },
		{ "kswapd|balance_pgdat", "the page-out thread" },
		{ "io_wq_worker|io_sq_thread", "an io_uring worker" },
		{ "asm_exc_page_fault|exc_page_fault|page_fault|do_page_fault|async_page_fault|handle_mm_fault", "a page fault" },
		{ "worker_thread", "a kernel worker" },
		{ "kthread", "a kernel thread" },
	};
	char sym[STACK_SYMBOL];

	buf[0] = '\0';
	for (int i = (n > DEPTH ? DEPTH : n) - 1; i >= 0; i--) {
		stack_symbol(frames[i], sym);
		for (size_t k = 0; k < ARRAY_SIZE(entry); k++) {
			size_t len = strlen(entry[k]);

			if (!strncmp(sym, entry[k], len) && sym[len]) {
				memmove(buf, sym + len, strlen(sym + len) + 1);
				return buf;
			}
		}
	}
	for (size_t k = 0; k < ARRAY_SIZE(thread); k++) {
		for (int i = 0; i < n && i < DEPTH; i++) {
			if (one_of(thread[k].symbols, stack_symbol(frames[i], sym))) {
				strncpy(buf, thread[k].words, STACK_SYMBOL - 1);
				buf[STACK_SYMBOL - 1] = '\0';
				return buf;
			}
		}
	}
	return buf;
}
