/* SPDX-License-Identifier: MIT */
#include "analyze/explain-words.h"
#include "base/cleanup.h"
#include "base/units.h"

#include <stdio.h>
#include <string.h>

void words_count(struct strbuf *out, uint64_t n, const char *what)
{
	char digits[24];
	int len = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n);

	for (int i = 0; i < len; i++) {
		strbuf_addc(out, digits[i]);
		if ((len - 1 - i) % 3 == 0 && i + 1 < len)
			strbuf_addc(out, ',');
	}
	strbuf_addf(out, " %s%s", what, n == 1 || !*what ? "" : "s");
}

static void words_requests(const struct walk_node *n, struct strbuf *out)
{
	const struct { uint64_t n; const char *what; } k[] = {
		{ n->async_writes, "async write" }, { n->sync_writes, "sync write" }, { n->reads, "read" },
		{ n->meta, "metadata request" }, { n->flushes, "flush" },
	};
	const char *between = "";
	char size[UNITS_TEXT];

	for (size_t i = 0; i < ARRAY_SIZE(k); i++) {
		if (!k[i].n)
			continue;
		strbuf_adds(out, between);
		words_count(out, k[i].n, k[i].n > 1 && !strcmp(k[i].what, "flush") ? "flushe" : k[i].what);
		between = ", ";
	}
	if (n->bytes)
		strbuf_addf(out, " (%s)", units_size_text(n->bytes, size));
}

static void words_leaf(const struct trace *t, const struct walk_node *n, struct strbuf *out)
{
	char name[64];
	const char *file;

	switch (n->leaf) {
	case LEAF_DISK:
		strbuf_addf(out, "%s served ", trace_disk_name(t, n->dev, name, sizeof(name)));
		words_requests(n, out);
		return;
	case LEAF_ORDERED:
		file = trace_file_name(t, n->dev, n->ino);
		if (*file)
			strbuf_addf(out, "ordered data of the file '%s': ", file);
		else
			strbuf_addf(out, "ordered data of inode %llu: ", (unsigned long long)n->ino);
		words_requests(n, out);
		return;
	case LEAF_JOURNAL:
		strbuf_adds(out, "journal and metadata: ");
		words_requests(n, out);
		return;
	case LEAF_FLUSH:
		strbuf_addf(out, "%s emptied its write cache", trace_disk_name(t, n->dev, name, sizeof(name)));
		return;
	case LEAF_SILENT:
		strbuf_addf(out, "%s did not answer: requests were in it, none completed",
			    trace_disk_name(t, n->dev, name, sizeof(name)));
		return;
	case LEAF_SLOTS:
	case LEAF_WBT:
		strbuf_addf(out, "%s by ", n->leaf == LEAF_SLOTS ? "request slots taken" : "writeback allowance used");
		words_requests(n, out);
		return;
	case LEAF_HELD:
		strbuf_addf(out, "requests to %s were held back (scheduler or throttle)",
			    trace_disk_name(t, n->dev, name, sizeof(name)));
		return;
	default:
		strbuf_adds(out, walk_leaf_words(n->leaf));
	}
}

void words_node(const struct trace *t, const struct walk_node *n, struct strbuf *out)
{
	char who[96];

	if (n->kind == WALK_LEAF) {
		words_leaf(t, n, out);
		return;
	}
	if (n->kind == WALK_WAIT) {
		strbuf_addf(out, "waits for %s", wait_words(n->class));
		return;
	}
	strbuf_adds(out, trace_who(t, n->tid, who, sizeof(who)));
	if (n->transaction)
		strbuf_addf(out, ", transaction %u", n->transaction);
}

void words_charge(const struct trace *t, const struct charge *c, uint32_t own_pid, struct strbuf *out)
{
	const char *file = c->ino ? trace_file_name(t, c->dev, c->ino) : "";
	char who[96];

	if (c->pid == own_pid)
		strbuf_adds(out, "itself");
	else
		strbuf_adds(out, trace_who(t, c->pid, who, sizeof(who)));
	if (*file)
		strbuf_addf(out, ", file '%s'", file);
	else if (c->ino)
		strbuf_addf(out, ", inode %llu", (unsigned long long)c->ino);
}

/* The biggest charge to others of a node, or to itself when there are no others. */
static const struct charge *biggest(const struct bill *b, uint32_t own, bool others)
{
	const struct charge *best = NULL;

	for (size_t i = 0; i < b->c.n; i++)
		if ((b->c.p[i].pid != own) == others && (!best || b->c.p[i].ns > best->ns))
			best = &b->c.p[i];
	return best;
}

void stall_sentence(const struct trace *t, const struct stall *s, struct strbuf *out)
{
	struct walk_node *n = walk_task(t, s->tid, s->a, s->b), *top = n;
	const struct charge *c;
	char who[96], time[NSEC_TEXT];

	walk_merge(n);
	if (s->probe)
		strbuf_addf(out, "%s (pid %u)", s->probe, s->pid);
	else
		strbuf_adds(out, trace_who(t, s->tid, who, sizeof(who)));
	if (*s->operation && !strchr(s->operation, ' '))
		strbuf_addf(out, " in %s", s->operation);
	else if (*s->operation)
		strbuf_addf(out, " in %s", s->operation);
	strbuf_addf(out, " was stuck for %s%s: ", s->open ? "at least " : "", nsec_text(s->b - s->a, time));
	for (int depth = 0; n->nkids; depth++) {
		struct walk_node *k = n->kid[0];

		if (k->kind == WALK_WAIT) {
			strbuf_addf(out, "%s%s it waited for %s", depth > 1 ? ", of which " : "",
				    nsec_text((nsec_t)k->ns, time), wait_words(k->class));
			if (k->nkids && k->kid[0]->kind == WALK_TASK) {
				strbuf_addf(out, " (%s", trace_who(t, k->kid[0]->tid, who, sizeof(who)));
				if (k->kid[0]->transaction)
					strbuf_addf(out, ", transaction %u", k->kid[0]->transaction);
				strbuf_addc(out, ')');
			}
		} else if (k->kind == WALK_LEAF) {
			strbuf_addf(out, "%s%s ", n == top ? "" : "; ", nsec_text((nsec_t)k->ns, time));
			words_node(t, k, out);
		}
		n = k;
	}
	c = biggest(&s->bill, s->pid, true);
	if (c && s->culprit_ns >= s->own) {
		strbuf_adds(out, "; behind it: ");
		words_charge(t, c, s->pid, out);
		strbuf_addf(out, " (%.0f %%)", 100 * s->culprit_ns / (double)(s->b - s->a));
	}
	if (s->own > 0.01 * (double)(s->b - s->a))
		strbuf_addf(out, "; %.0f %% is its own", 100 * s->own / (double)(s->b - s->a));
	walk_free(top);
}
