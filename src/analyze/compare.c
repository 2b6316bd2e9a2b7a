/* SPDX-License-Identifier: MIT */
#include "analyze/compare.h"
#include "analyze/compare-parts.h"
#include "base/cleanup.h"

#include <errno.h>

static int nothing_in_common(const struct compared *k, struct err *e)
{
	cleanup_strbuf struct strbuf b = STRBUF_INIT;

	for (size_t i = 0; i < k->n; i++)
		if (!k->sides[i]->runs.n)
			return err_set(e, -EINVAL, "%s holds no run that could be compared", k->sides[i]->label);
	for (size_t i = 0; i < k->only.n; i++)
		strbuf_addf(&b, "%s%s", b.len ? ", " : "", k->only.p[i]);
	return err_set(e, -EINVAL, "the sides have nothing in common to compare%s%s", b.len ? ": " : "", strbuf_str(&b));
}

static void overall(const struct compared *k, struct compare_outcome *out)
{
	cleanup_free struct decision *d = mem_array(k->rows.n + 1, sizeof(*d));
	size_t n = 0;

	for (size_t i = 0; i < k->rows.n; i++)
		if (row_decision(&k->rows.p[i])->best != STRENGTH_NONE)
			d[n++] = *row_decision(&k->rows.p[i]);
	decide_overall(d, n, &out->verdict, &out->strength);
	for (size_t i = 0; i < k->rows.n; i++)
		out->felt |= k->rows.p[i].felt;
	if (out->verdict == VERDICT_UNCLEAR || out->verdict == VERDICT_SAME)
		out->felt = false;
	out->undecided = out->verdict == VERDICT_UNCLEAR || out->strength == STRENGTH_SUGGESTIVE;
}

int analyze_compare(struct side *const *sides, size_t n, const struct compare_conf *conf, struct page **ret,
		    struct compare_outcome *ret_outcome, struct err *e)
{
	struct compared k = { .sides = sides, .n = n, .conf = conf };
	struct compare_outcome out = { 0 };
	struct env_report env = { 0 };
	text_list checks = { 0 };
	struct hint hint = { 0 };
	struct page *p = NULL;
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		if (!sides[i]->runs.n)
			err = nothing_in_common(&k, e);
	if (!err) {
		env_compare(&k, &env);
		err = env_refuse(&env, conf, e);
	}
	if (!err) {
		rows_make(&k);
		if (!k.rows.n)
			err = nothing_in_common(&k, e);
	}
	if (!err) {
		overall(&k, &out);
		checks_make(&k, &checks);
		if (out.undecided)
			hint_make(&k, &hint);
		p = compare_page(&k, &env, &checks, &hint, &out, e);
		err = p ? 0 : -EINVAL;
	}
	if (!err) {
		*ret = p;
		*ret_outcome = out;
	}
	env_done(&env);
	text_list_done(&checks);
	text_list_done(&k.only);
	vec_done(&k.rows);
	return err;
}
