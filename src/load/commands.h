/* SPDX-License-Identifier: MIT */
/*
 * Programs as a load: one or more commands, separated by a word ";", run one
 * after another in a directory, over and over until the load is stopped. No
 * shell (base/argv.h says how words are split). Each command is the leader of
 * a process group that ends with it.
 */
#ifndef LOAD_COMMANDS_H
#define LOAD_COMMANDS_H

#include "load/load.h"

/* A command that fails ends the load with a sentence that quotes the last line of its standard error. A round through all
 * commands counts one unit; without `again` the load ends after the first. */
int commands_run(const char *commands, int dirfd, bool again, struct load_step *s, struct err *e);

#endif
