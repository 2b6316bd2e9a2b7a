/* SPDX-License-Identifier: MIT */
/* blkgen requests|chaos|strange|CASE OUT [key=value...]: writes OUT.blktrace.CPU. blkgen cases: lists the cases. */
#include "cases.h"

static double number(int argc, char **argv, const char *key, double def)
{
	for (int i = 3; i < argc; i++)
		if (!strncmp(argv[i], key, strlen(key)) && argv[i][strlen(key)] == '=')
			return atof(argv[i] + strlen(key) + 1);
	return def;
}

int main(int argc, char **argv)
{
	static struct gen g;
	struct gen_conf c = GEN_CONF_DEFAULT;
	const char *kind = argc > 1 ? argv[1] : "";

#define SET(field) c.field = (__typeof__(c.field))number(argc, argv, #field, (double)c.field)
	if (!strcmp(kind, "cases")) {
		for (const struct gen_case *k = gen_cases; k->name; k++)
			puts(k->name);
		return 0;
	}
	if (argc < 3) {
		fprintf(stderr, "usage: blkgen requests|chaos|strange|CASE OUT [key=value...]\n");
		return 2;
	}
	gen_open(&g, argv[2], (uint64_t)number(argc, argv, "seed", 1));
	g.version = (uint8_t)number(argc, argv, "version", 7);
	g.swapped = number(argc, argv, "swapped", 0) > 0;
	SET(events);
	SET(cpus);
	SET(devs);
	SET(pids);
	SET(depth);
	SET(merge);
	SET(requeue);
	SET(split);
	SET(flush);
	SET(discard);
	SET(remap);
	SET(meta);
	SET(message);
	SET(sub_kib);
	SET(cgroup);
	if (!strcmp(kind, "requests")) {
		gen_requests(&g, &c, NULL);
	} else if (!strcmp(kind, "chaos") || !strcmp(kind, "strange")) {
		gen_chaos(&g, c.events, c.cpus, c.devs, !strcmp(kind, "strange"));
	} else {
		const struct gen_case *k = gen_cases;

		while (k->name && strcmp(k->name, kind))
			k++;
		if (!k->name) {
			fprintf(stderr, "blkgen: no case %s\n", kind);
			return 2;
		}
		k->make(&g);
	}
	gen_close(&g);
	return 0;
}
