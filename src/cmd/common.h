/* SPDX-License-Identifier: MIT */
/* What main() needs: the overview, help made from the tables, option parsing. */
#ifndef CMD_COMMON_H
#define CMD_COMMON_H

#include <stdio.h>

void cmd_overview(FILE *out);
int cmd_help(const char *name);			/* NULL: overview */
void cmd_version(void);
int cmd_dispatch(int argc, char **argv);	/* argv[0] is the command's name */

#endif
