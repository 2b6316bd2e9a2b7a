/* SPDX-License-Identifier: MIT */
/* Why tracing with BPF does or does not work here, in one sentence; works in every build. */
#ifndef COLLECT_BPF_WHY_H
#define COLLECT_BPF_WHY_H

#include "base/err.h"

#include <stdbool.h>

/* What the machine shows; a test fills it by hand. */
struct bpf_facts {
	bool built;			/* this program has the tracer in it */
	bool btf;			/* /sys/kernel/btf/vmlinux is there */
	bool cap;			/* CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN */
	bool symbols_hidden;		/* /proc/kallsyms shows zeros */
	char lockdown[32];		/* "none", "integrity", "confidentiality", "" unknown */
	bool trial;			/* a small program was tried ... */
	int trial_errno;		/* ... with this result */
};

void bpf_facts_read(struct bpf_facts *ret);
/* 0: it works; -ENOTSUP and the first reason that stands in the way, with what to do. */
int bpf_facts_judge(const struct bpf_facts *f, struct err *why);
int bpf_why_not(struct err *why);	/* both */

#endif
