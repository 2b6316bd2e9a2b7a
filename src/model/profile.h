/* SPDX-License-Identifier: MIT */
/*
 * A disk profile: a data file NAME.profile that gives a model its numbers.
 *
 *	# Deskstar 7K1000.C, a desktop disk of 2009	(first comment block: what it is)
 *	model = hdd
 *	rpm = 7200		# data sheet
 *	head_switch = 800us	# assumed
 *
 * Text after " #" is the source of the value; a value without one counts as
 * assumed. Keys are the model's parameters. stallmark-profile(5).
 */
#ifndef MODEL_PROFILE_H
#define MODEL_PROFILE_H

#include "model/disk.h"

struct profile_line {
	char *key, *value, *source;	/* source: "assumed" when the file gives none */
	int line;
};

struct profile {
	char *name, *path, *about;	/* path: "" when parsed from memory */
	const struct disk_ops *ops;
	void *conf;			/* ops->plug.conf_size, filled; begins with struct disk_conf */
	struct profile_line *lines;	/* as written, without `model` */
	size_t nlines;
};

/* `name` is a path (has a '/' or ends in .profile) or a name looked for in dirs (NULL-terminated). Errors name file and line. */
int profile_load(const char *name, const char *const *dirs, struct profile **ret, struct err *e);
int profile_parse(const char *text, size_t len, const char *file, const char *name, struct profile **ret, struct err *e);
/* One value by hand; its source becomes "set by hand". */
int profile_set(struct profile *p, const char *key, const char *value, struct err *e);
void profile_free(struct profile *p);

struct disk_conf *profile_disk(const struct profile *p);

/* Names of the profiles in dirs, sorted, each once; free with profile_names_free. */
int profile_names(const char *const *dirs, char ***ret, size_t *ret_n, struct err *e);
void profile_names_free(char **names, size_t n);

#endif
