/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * The tracer's kernel side: BTF tracepoints only, since lockdown refuses
 * function entry programs and relay files where people need this most. One
 * object, its parts by subject; every program may be left out when the kernel
 * has no such tracepoint, except the two of the scheduler.
 */
#include "collect/bpf/common.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#include "collect/bpf/block.h"
#include "collect/bpf/sched.h"
#include "collect/bpf/dirty.h"
#include "collect/bpf/journal.h"
