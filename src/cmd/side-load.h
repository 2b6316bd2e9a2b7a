/* SPDX-License-Identifier: MIT */
/*
 * From what a user names to sides of a comparison: a record, a directory or a
 * quoted glob of records and importable files (each file's runs are runs of the
 * side), or one file or paste with several columns, each column a side.
 */
#ifndef CMD_SIDE_LOAD_H
#define CMD_SIDE_LOAD_H

#include "analyze/side.h"

struct side_load_conf {
	const char *as;		/* importer, NULL: by sniffing */
	nsec_t pause;		/* closed loops of foreign files: what the tester slept; -1: what is known of the format */
	bool *broken;		/* set when a file of a directory was left out */
};

/* One side from one argument. */
int side_load(const char *path, const struct side_load_conf *conf, struct side **ret, struct err *e);

/* One side from several files; broken ones are named and left out. */
int side_load_files(const char *label, char **paths, size_t n, const struct side_load_conf *conf, struct side **ret,
		    struct err *e);

/* One paste or file ("-": standard input) whose columns are the sides; at least two, else -EINVAL. */
int side_load_columns(const char *path, const struct side_load_conf *conf, struct side ***ret, size_t *ret_n, struct err *e);

#endif
