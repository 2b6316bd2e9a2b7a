/* SPDX-License-Identifier: MIT */
/*
 * Any program as the disturbance: a fio job file, a real backup, rsync, a
 * virtual machine. It works in the load's directory; its whole process group
 * is stopped at the end.
 */
#include "load/commands.h"

struct conf {
	char *command;
	bool again;
};

static const struct param params[] = {
	PARAM(struct conf, command, PARAM_TEXT, NULL, "the program and its arguments, without a shell; ' ; ' between several"),
	PARAM(struct conf, again, PARAM_BOOL, "yes", "begin again when it ends"),
	{ 0 },
};

static int step(void *st, const void *conf, struct load_step *s, struct err *e)
{
	const struct conf *c = conf;

	return commands_run(c->command ? c->command : "", s->dirfd, c->again, s, e);
}

const struct load_ops load_command = {
	.plug = { .name = "command", .about = "any program, stopped with its whole process group at the end",
		  .conf_size = sizeof(struct conf), .params = params },
	.touches = LOAD_READS | LOAD_WRITES | LOAD_CPU | LOAD_MEMORY | LOAD_PROGRAM,
	.unit_name = "rounds",
	.step = step,
	.why_no_sim = "what a program does is not known",
	.command_param = "command",
};
