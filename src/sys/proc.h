/* SPDX-License-Identifier: MIT */
/*
 * What /proc says about tasks. A process is known by pid and start time: pids
 * are used again. Formats: proc(5).
 */
#ifndef SYS_PROC_H
#define SYS_PROC_H

#include "base/err.h"
#include "base/nsec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct proc_stat {
	pid_t pid, ppid, pgrp;
	char comm[32];
	char state;			/* R S D Z T t I X */
	uint64_t start;			/* clock ticks since boot (field 22) */
	uint64_t utime, stime;		/* clock ticks */
	uint64_t minflt, majflt;
	uint64_t rss_pages;
	uint32_t threads;
};

struct proc_io {			/* bytes; of the whole process, threads that ended included */
	uint64_t read_bytes, write_bytes, cancelled_write_bytes, rchar, wchar;
};

/* tid 0: the process. -ESRCH when it is gone. */
int proc_stat(pid_t pid, pid_t tid, struct proc_stat *ret);
/* The same from the text of a stat file; comm may hold spaces and brackets. False: malformed. */
bool proc_stat_parse(const char *text, struct proc_stat *ret);
int proc_io(pid_t pid, struct proc_io *ret);			/* -EACCES for other people's */
bool proc_io_parse(const char *text, struct proc_io *ret);
int proc_start_time(pid_t pid, uint64_t *ret);
bool proc_is(pid_t pid, uint64_t start);			/* that very process lives (a zombie does not) */

/* Time spent runnable but not running (schedstat, second number). -ENOENT: the kernel does not say. */
int proc_runq(pid_t pid, pid_t tid, nsec_t *ret);

/* "wchan", "stack", "syscall", "comm", ... of a task; at most size - 1 bytes, cut at the last newline. 0 or -errno. */
int proc_text(pid_t pid, pid_t tid, const char *what, char *buf, size_t size);
/* "74 0x3 ..." -> "fsync"; "running" and -1 -> "". Numbers without a name: "syscall 74". Into buf; returns buf. */
const char *proc_syscall_name(const char *text, char *buf, size_t size);
/* Lines "[<0>] jbd2_log_wait_commit+0xd9/0x130 [jbd2]" -> "jbd2_log_wait_commit". Changes text; returns how many. */
int proc_stack_frames(char *text, const char **ret_frames, int max);

/* This boot, as the kernel names it; "" when it does not. */
const char *proc_boot_id(void);

#endif
