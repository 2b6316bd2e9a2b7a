/* SPDX-License-Identifier: MIT */
/* stallmark lab fit: measures a real disk and writes a profile for it. */
#include "base/cleanup.h"
#include "base/units.h"
#include "cmd/cmd-lab.h"
#include "cmd/cmd.h"
#include "lab/fit.h"
#include "sys/kfile.h"

#include <errno.h>
#include <stdio.h>

static void fit_page(const struct fit *f, double error, const char *profile, const char *output, struct page *p)
{
	struct node *t;

	page_cell(p->root, "what", "measured", val_text(f->what));
	page_cell(p->root, "model", "model", val_text(f->rotational ? "hdd" : "ssd"));
	page_cell(p->root, "random_read", "4 KiB read, mean", val_nsec(f->random_read));
	page_cell(p->root, "random_read_half_width", "  95 % within +-", val_nsec(f->random_error));
	page_cell(p->root, "deep", "32 readers", val(f->iops_deep, UNIT_PER_S));
	page_cell(p->root, "outer", "sequential, start", val(f->outer, UNIT_BYTES_S));
	page_cell(p->root, "inner", "sequential, end", val(f->inner, UNIT_BYTES_S));
	page_cell(p->root, "flush", "fdatasync of one write", f->writes ? val_nsec(f->flush_empty) : val_null(UNIT_SECONDS));
	page_cell(p->root, "model_off", "the profile's 4 KiB read is off by", val(error, UNIT_SHARE));
	t = page_table(p->root, "distances", NULL);
	page_column(t, "share", "jump, share of disk", NODE_RIGHT);
	page_column(t, "mean", "read", NODE_RIGHT);
	page_column(t, "n", "n", NODE_RIGHT);
	for (int i = 0; i < FIT_DISTANCES; i++) {
		struct node *row = page_row(t);

		page_cell(row, "share", NULL, val(f->read[i].share, UNIT_SHARE));
		page_cell(row, "mean", NULL, val_nsec(f->read[i].mean));
		page_cell(row, "n", NULL, val(f->read[i].n, UNIT_COUNT));
	}
	page_flag(page_cell(p->root, "profile", NULL, val_text(profile)), NODE_JSON_ONLY);
	if (output)
		page_text(p->root, "The profile is in %s; stallmark lab up NAME disk=%s serves it.", output, output);
	else
		page_pre(p->root, "%s", profile);
}

int lab_fit_command(int argc, char **argv, bool json)
{
	const struct lab_fit_options *o = &lab_fit_opt;
	cleanup_strbuf struct strbuf profile = STRBUF_INIT;
	nsec_t time = 30 * NSEC_PER_SEC;
	struct err e = { 0 };
	struct fit f;
	struct page *p;
	double error;
	int code;

	if (argc)
		return cmd_usage("lab", "fit takes no argument '%s': --device DEV or --dir DIR", argv[0]);
	if (!o->device == !o->dir)
		return cmd_usage("lab", "fit wants one of --device DEV (only reads) and --dir DIR (writes one file there)");
	if (o->time && units_nsec(o->time, &time, &e))
		return cmd_fail(&e);
	if (time < 2 * NSEC_PER_SEC || time > 3600 * NSEC_PER_SEC)
		return cmd_usage("lab", "--time %s: 2s to 1h", o->time);
	if (o->device ? fit_device(o->device, time, &f, &e) : fit_dir(o->dir, time, &f, &e))
		return cmd_fail(&e);
	if (fit_profile(&f, &profile, &error, &e))
		return cmd_fail(&e);
	if (o->output && file_write_durable(o->output, strbuf_str(&profile), 0644, &e))
		return cmd_fail(&e);
	p = page_new("stallmark.lab-fit/1");
	fit_page(&f, error, strbuf_str(&profile), o->output, p);
	code = cmd_print_page(p, json ? "json" : NULL, false);
	page_free(p);
	return code;
}
