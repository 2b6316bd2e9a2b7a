/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "base/cleanup.h"
#include "collect/bpf/why.h"
#include "collect/fs-rows.h"
#include "collect/ksyms.h"

#include <errno.h>
#include <string.h>

static void each_reason_is_named(void **state)
{
	static const struct {
		struct bpf_facts f;
		const char *says;	/* NULL: it works */
	} c[] = {
		{ { .built = true, .btf = true, .cap = true, .lockdown = "integrity", .trial = true }, NULL },
		{ { .built = true, .btf = true, .cap = true }, NULL },
		{ { .built = false, .btf = true, .cap = true }, "not in this build" },
		{ { .built = true, .btf = true, .cap = false }, "CAP_BPF" },
		{ { .built = true, .btf = false, .cap = true }, "BTF" },
		{ { .built = true, .btf = true, .cap = true, .lockdown = "confidentiality" }, "locked down" },
		{ { .built = true, .btf = true, .cap = true, .trial = true, .trial_errno = EPERM }, "refuses" },
		{ { .built = true, .btf = true, .cap = true, .symbols_hidden = true }, "kptr_restrict" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(c); i++) {
		struct err e = { 0 };
		int r = bpf_facts_judge(&c[i].f, &e);

		assert_int_equal(r, c[i].says ? -ENOTSUP : 0);
		if (c[i].says && !strstr(e.msg, c[i].says))
			fail_msg("'%s' does not say %s", e.msg, c[i].says);
	}
}

static void addresses_become_symbols(void **state)
{
	static const char text[] = "ffffffff81000000 T _stext\nffffffff81000100 t foo\nffffffff81000100 T foo_alias\n"
				   "ffffffff81000200 D data\nffffffffc0000000 t bar\t[mod]\n";
	struct ksyms *k = NULL;
	struct err e = { 0 };

	assert_int_equal(ksyms_parse(text, sizeof(text) - 1, &k, &e), 0);
	assert_string_equal(ksyms_find(k, 0xffffffff81000142), "foo");
	assert_string_equal(ksyms_find(k, 0xffffffff81000000), "_stext");
	assert_string_equal(ksyms_find(k, 0xffffffffc0000010), "bar");
	assert_null(ksyms_find(k, 0xffffffff80000000));
	assert_null(ksyms_find(k, 0xffffffffc0200000));
	ksyms_free(k);
}

static void hidden_symbols_are_said(void **state)
{
	static const char text[] = "0000000000000000 T _stext\n0000000000000000 t foo\n";
	struct ksyms *k = NULL;
	struct err e = { 0 };

	assert_int_equal(ksyms_parse(text, sizeof(text) - 1, &k, &e), -EACCES);
	assert_non_null(strstr(e.msg, "kptr_restrict"));
}

static void mounts_are_understood(void **state)
{
	struct fs_line f;

	assert_true(fs_parse_line("30 25 7:1 / /mnt/with\\040blank rw,relatime shared:1 - ext4 /dev/loop1 rw,nodelalloc", &f));
	assert_int_equal(f.dev, 7 << 20 | 1);
	assert_string_equal(f.folder, "/mnt/with blank");
	assert_string_equal(f.type, "ext4");
	assert_string_equal(f.source, "/dev/loop1");
	assert_false(fs_parse_line("22 25 0:21 / /proc rw - proc proc rw", &f));
	assert_false(fs_parse_line("nonsense", &f));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_reason_is_named),
		cmocka_unit_test(addresses_become_symbols),
		cmocka_unit_test(hidden_symbols_are_said),
		cmocka_unit_test(mounts_are_understood),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
