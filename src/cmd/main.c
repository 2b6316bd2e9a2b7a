/* SPDX-License-Identifier: MIT */
/* stallmark COMMAND ...: finds the command, parses its options, runs it. */
#include "cmd/cmd.h"
#include "cmd/common.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	if (argc < 2)
		return cmd_overview(stderr), EXIT_TROUBLE;
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return cmd_overview(stdout), EXIT_FINE;
	if (!strcmp(argv[1], "help"))
		return cmd_help(argc > 2 ? argv[2] : NULL);
	if (!strcmp(argv[1], "--version"))
		return cmd_version(), EXIT_FINE;
	return cmd_dispatch(argc - 1, argv + 1);
}
