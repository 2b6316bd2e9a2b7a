/* SPDX-License-Identifier: MIT */
#include "stats/gate.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *const gate_metric_name[GATE_METRICS + 1] = { "usual", "p90", "p99", "worst", "stuck", "n", "missed", NULL };

static const char *const ops[] = { "<", "<=", ">", ">=", "=", "!=" };

const char *gate_op_text(enum gate_op op)
{
	return ops[op];
}

/* Copies text[0..n) without the blanks around it. */
static int copy_word(char *to, size_t size, const char *text, size_t n)
{
	while (n && isspace((unsigned char)text[n - 1]))
		n--;
	while (n && isspace((unsigned char)*text))
		text++, n--;
	if (!n || n >= size)
		return -EINVAL;
	memcpy(to, text, n);
	to[n] = '\0';
	return 0;
}

static int parse_value(struct gate *g, const char *text, struct err *e)
{
	uint64_t count;
	nsec_t t;
	int r;

	switch (g->metric) {
	case GATE_STUCK:
		return units_share(g->value_text, &g->value, e);
	case GATE_N:
	case GATE_MISSED:
		r = units_count(g->value_text, &count, e);
		g->value = (double)count;
		return r;
	default:
		r = units_nsec(g->value_text, &t, e);
		g->value = nsec_seconds(t);
		return r;
	}
}

int gate_parse(const char *text, struct gate *ret, struct err *e)
{
	struct gate g = { 0 };
	size_t op_at = strcspn(text, "<>=!"), op_len;
	char left[128], metric[32];
	const char *dot, *near;

	if (!text[op_at]) {
		if (copy_word(left, sizeof(left), text, op_at) || strcmp(left, "worse"))
			return err_set(e, -EINVAL, "'%s' is neither 'worse' nor PROBE.METRIC with <, <=, >, >=, = or != and a value "
				       "(as 'fsync.stuck > 5%%')", text);
		*ret = (struct gate){ .worse = true };
		return 0;
	}
	op_len = strspn(text + op_at, "<>=!");
	for (g.op = 0; g.op < ARRAY_SIZE(ops); g.op++)
		if (strlen(ops[g.op]) == op_len && !strncmp(text + op_at, ops[g.op], op_len))
			break;
	if (op_len == 2 && !strncmp(text + op_at, "==", 2))
		g.op = GATE_EQ;
	if (g.op == ARRAY_SIZE(ops))
		return err_set(e, -EINVAL, "'%s': there is no comparison '%.*s'; use <, <=, >, >=, = or !=", text, (int)op_len,
			       text + op_at);
	if (copy_word(left, sizeof(left), text, op_at) || !(dot = strrchr(left, '.')) || dot == left)
		return err_set(e, -EINVAL, "'%s': what is compared must be PROBE.METRIC, as fsync.stuck", text);
	if (copy_word(g.probe, sizeof(g.probe), left, (size_t)(dot - left)) ||
	    copy_word(metric, sizeof(metric), dot + 1, strlen(dot + 1)))
		return err_set(e, -EINVAL, "'%s': what is compared must be PROBE.METRIC, as fsync.stuck", text);
	for (g.metric = 0; g.metric < GATE_METRICS; g.metric++)
		if (!strcmp(metric, gate_metric_name[g.metric]))
			break;
	if (g.metric == GATE_METRICS) {
		near = units_nearest(metric, gate_metric_name, GATE_METRICS);
		return err_set(e, -EINVAL, "'%s': there is no metric '%s'%s%s%s; metrics are usual, p90, p99, worst, stuck, n, missed",
			       text, metric, near ? ", did you mean '" : "", near ? near : "", near ? "'" : "");
	}
	if (copy_word(g.value_text, sizeof(g.value_text), text + op_at + op_len, strlen(text + op_at + op_len)))
		return err_set(e, -EINVAL, "'%s': there is no value after '%s'", text, ops[g.op]);
	if (parse_value(&g, text, e)) {
		err_wrap(e, "'%s'", text);
		return -EINVAL;
	}
	*ret = g;
	return 0;
}

static enum gate_answer answer(const struct gate *g, double x, bool at_least)
{
	bool yes = false;

	switch (g->op) {
	case GATE_LT: yes = x < g->value; break;
	case GATE_LE: yes = x <= g->value; break;
	case GATE_GT: yes = x > g->value; break;
	case GATE_GE: yes = x >= g->value; break;
	case GATE_EQ: yes = x == g->value; break;
	case GATE_NE: yes = x != g->value; break;
	}
	if (!at_least)
		return yes ? GATE_TRUE : GATE_FALSE;
	/* the true number is x or more: only what holds for all of those is decided */
	if (x > g->value)
		return g->op == GATE_GT || g->op == GATE_GE || g->op == GATE_NE ? GATE_TRUE : GATE_FALSE;
	if (x == g->value && (g->op == GATE_GE || g->op == GATE_LT))
		return g->op == GATE_GE ? GATE_TRUE : GATE_FALSE;
	return GATE_UNKNOWN;
}

static void from_quantile(const struct quantile *q, struct gate_result *r)
{
	r->known = q->known;
	r->at_least = q->at_least;
	r->value = nsec_seconds(q->value);
}

void gate_test(const struct gate *g, const struct summary *s, struct gate_result *ret)
{
	struct gate_result r = { .known = s->n > 0, .n = s->n };

	switch (g->metric) {
	case GATE_USUAL: from_quantile(&s->usual, &r); break;
	case GATE_P90: from_quantile(&s->p90, &r); break;
	case GATE_P99: from_quantile(&s->p99, &r); break;
	case GATE_WORST:
		r.value = nsec_seconds(s->worst);
		r.at_least = s->worst_at_least;
		break;
	case GATE_STUCK:
		r.known = s->stuck.known;
		r.value = s->stuck.share;
		r.at_least = s->censored > s->missed;
		break;
	case GATE_N:
		r.known = true;
		r.value = (double)s->n;
		break;
	case GATE_MISSED:
		r.known = true;
		r.value = (double)s->missed;
		break;
	case GATE_METRICS:
		break;
	}
	r.answer = r.known ? answer(g, r.value, r.at_least) : GATE_UNKNOWN;
	*ret = r;
}
