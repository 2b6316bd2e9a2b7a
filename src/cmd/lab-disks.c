/* SPDX-License-Identifier: MIT */
/* stallmark lab disks: which profiles there are, and what each number rests on. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "cmd/cmd-lab.h"
#include "cmd/cmd.h"
#include "model/profile.h"

#include <string.h>

#define CAPACITY	(UINT64_C(64) << 30)
#define FLOOR		(200 * NSEC_PER_USEC)	/* what loop and FUSE add to a request, about; bench/lab prints it */

/* How far the lab's own cost shows. */
static const char *here(nsec_t service)
{
	if (service >= 10 * FLOOR)
		return "real time";
	if (service >= 2 * FLOOR)
		return "cost shows";
	return "simulator";
}

static void row(struct node *t, const struct profile *p)
{
	struct node *r = page_row(t);
	const struct disk_conf *d = profile_disk(p);
	nsec_t service = p->ops->expect_random_read(p->conf, CAPACITY);
	uint64_t rate = p->ops->expect_sequential(p->conf, CAPACITY);

	page_cell(r, "name", NULL, val_text(p->name));
	page_cell(r, "model", NULL, val_text(p->ops->plug.name));
	page_cell(r, "random_read", NULL, service ? val_nsec(service) : val_null(UNIT_SECONDS));
	page_cell(r, "sequential", NULL, rate ? val((double)rate, UNIT_BYTES_S) : val_null(UNIT_BYTES_S));
	page_cell(r, "depth", NULL, val((double)d->depth, UNIT_COUNT));
	page_cell(r, "write_cache", NULL, val_text(d->write_cache ? "yes" : "no"));
	page_cell(r, "lab", NULL, val_text(here(service)));
}

int lab_disks_page(struct page **ret, struct err *e)
{
	char **names;
	size_t n;
	struct page *p;
	struct node *t;
	int r = profile_names(cmd_profile_dirs(), &names, &n, e);

	if (r)
		return r;
	p = page_new("stallmark.lab-disks/1");
	t = page_table(p->root, "disks", NULL);
	page_column(t, "name", "disk", 0);
	page_column(t, "model", "model", 0);
	page_column(t, "random_read", "4 KiB read", NODE_RIGHT);
	page_column(t, "sequential", "sequential", NODE_RIGHT);
	page_column(t, "depth", "depth", NODE_RIGHT);
	page_column(t, "write_cache", "cache", 0);
	page_column(t, "lab", "in the lab", 0);
	for (size_t i = 0; i < n && !r; i++) {
		struct profile *prof;

		r = profile_load(names[i], cmd_profile_dirs(), &prof, e);
		if (!r) {
			row(t, prof);
			profile_free(prof);
		}
	}
	profile_names_free(names, n);
	if (r) {
		page_free(p);
		return r;
	}
	page_text(p->root, "4 KiB read and sequential: what the profile promises for one random read at depth 1 and for large reads. "
		  "In the lab: loop and FUSE add about 0.2 ms to each request; where that is less than a tenth of the disk's own time "
		  "it serves in real time, where it is more than half only the simulator gives that disk's figures. "
		  "stallmark lab disks NAME shows where each number comes from.");
	*ret = p;
	return 0;
}

int lab_disk_page(const char *name, struct page **ret, struct err *e)
{
	struct profile *prof;
	struct page *p;
	struct node *t;
	nsec_t service;
	uint64_t rate;
	int r = profile_load(name, cmd_profile_dirs(), &prof, e);

	if (r)
		return r;
	service = prof->ops->expect_random_read(prof->conf, CAPACITY);
	rate = prof->ops->expect_sequential(prof->conf, CAPACITY);
	p = page_new("stallmark.lab-disk/1");
	page_cell(p->root, "name", "disk", val_text(prof->name));
	page_text(p->root, "%s", prof->about);
	page_cell(p->root, "about", NULL, val_text(prof->about));
	page_cell(p->root, "model", "model", val_text(prof->ops->plug.name));
	page_cell(p->root, "random_read", "4 KiB read, depth 1", service ? val_nsec(service) : val_null(UNIT_SECONDS));
	page_cell(p->root, "sequential", "sequential", rate ? val((double)rate, UNIT_BYTES_S) : val_null(UNIT_BYTES_S));
	page_cell(p->root, "lab", "in the lab", val_text(here(service)));
	t = page_table(p->root, "values", NULL);
	page_column(t, "key", "key", 0);
	page_column(t, "value", "value", 0);
	page_column(t, "source", "source", 0);
	for (const struct param *q = prof->ops->plug.params; q->name; q++) {
		struct node *line = page_row(t);
		const char *source = "not given: the model's default (assumed)";
		char text[64];

		param_get_text(q, prof->conf, text, sizeof(text));
		for (size_t i = 0; i < prof->nlines; i++)
			if (!strcmp(prof->lines[i].key, q->name)) {
				source = prof->lines[i].source;
				snprintf(text, sizeof(text), "%s", prof->lines[i].value);
			}
		page_cell(line, "key", NULL, val_text(q->name));
		page_cell(line, "value", NULL, val_text(text));
		page_cell(line, "source", NULL, val_text(source));
	}
	profile_free(prof);
	*ret = p;
	return 0;
}
