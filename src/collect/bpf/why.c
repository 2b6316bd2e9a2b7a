/* SPDX-License-Identifier: MIT */
#include "collect/bpf/why.h"
#include "base/cleanup.h"
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CAP_BPF
#define CAP_PERFMON	38
#define CAP_BPF		39
#endif

static size_t read_some(const char *path, char *buf, size_t size)
{
	cleanup_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, size - 1);

	buf[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static uint64_t effective_capabilities(void)
{
	char buf[4096], *p;

	read_some("/proc/self/status", buf, sizeof(buf));
	p = strstr(buf, "CapEff:");
	return p ? strtoull(p + 7, NULL, 16) : 0;
}

/* The smallest program that needs what the tracer needs: `return 0` as a raw tracepoint. */
static int try_program(void)
{
	struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr a = { 0 };
	cleanup_close int fd = -1;

	a.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT;
	a.insns = (uint64_t)(uintptr_t)code;
	a.insn_cnt = 2;
	a.license = (uint64_t)(uintptr_t)"GPL";
	fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &a, sizeof(a));
	return fd < 0 ? errno : 0;
}

void bpf_facts_read(struct bpf_facts *ret)
{
	uint64_t caps = effective_capabilities();
	char buf[256], *open_at, *close_at;

	memset(ret, 0, sizeof(*ret));
	ret->built = HAVE_BPF;
	ret->btf = !access("/sys/kernel/btf/vmlinux", R_OK);
	ret->cap = caps >> CAP_SYS_ADMIN & 1 || (caps >> CAP_BPF & 1 && caps >> CAP_PERFMON & 1);
	if (read_some("/proc/kallsyms", buf, sizeof(buf)))
		ret->symbols_hidden = strspn(buf, "0") >= 8 && buf[strspn(buf, "0")] == ' ' &&
				      (open_at = strchr(buf, '\n')) && strspn(open_at + 1, "0") >= 8 &&
				      open_at[1 + strspn(open_at + 1, "0")] == ' ';
	read_some("/sys/kernel/security/lockdown", buf, sizeof(buf));
	open_at = strchr(buf, '[');
	close_at = open_at ? strchr(open_at, ']') : NULL;
	if (close_at && (size_t)(close_at - open_at) <= sizeof(ret->lockdown))
		memcpy(ret->lockdown, open_at + 1, (size_t)(close_at - open_at - 1));
	if (ret->cap) {
		ret->trial = true;
		ret->trial_errno = try_program();
	}
}

int bpf_facts_judge(const struct bpf_facts *f, struct err *why)
{
	if (!f->built)
		return err_set(why, -ENOTSUP, "tracing is not in this build (libbpf, clang or bpftool were missing); build again "
			       "with -Dbpf=enabled, sampled stacks are used instead");
	if (!f->cap)
		return err_set(why, -ENOTSUP, "tracing needs CAP_BPF and CAP_PERFMON; run as root, without them only own tasks "
			       "are sampled");
	if (!f->btf)
		return err_set(why, -ENOTSUP, "this kernel has no BTF (/sys/kernel/btf/vmlinux); it was built without "
			       "CONFIG_DEBUG_INFO_BTF, sampled stacks are used instead");
	if (!strcmp(f->lockdown, "confidentiality"))
		return err_set(why, -ENOTSUP, "the kernel is locked down (confidentiality), which forbids BPF to read kernel "
			       "memory; boot with lockdown=integrity, sampled stacks are used instead");
	if (f->trial && f->trial_errno)
		return err_set(why, -ENOTSUP, "the kernel refuses BPF programs: %s (no bpf(2), or a security module or container "
			       "forbids it); sampled stacks are used instead", strerror(f->trial_errno));
	if (f->symbols_hidden)
		return err_set(why, -ENOTSUP, "the kernel hides its symbols (kernel.kptr_restrict=2), so that no stack can be "
			       "read; set it to 1 as root, sampled stacks are used instead");
	return 0;
}

int bpf_why_not(struct err *why)
{
	struct bpf_facts f;

	bpf_facts_read(&f);
	return bpf_facts_judge(&f, why);
}
