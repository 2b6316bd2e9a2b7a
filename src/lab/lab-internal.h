/* SPDX-License-Identifier: MIT */
/* What lab.c, known.c and lab-record.c share; nobody else includes this. */
#ifndef LAB_LAB_INTERNAL_H
#define LAB_LAB_INTERNAL_H

#include "lab/lab.h"
#include "lab/log.h"
#include "lab/loop.h"

struct lab {
	struct lab_conf conf;		/* what lab_facts needs: strings are copies */
	struct profile *profile;
	struct undo *undo;
	int first_id, last_id;		/* of our entries in the log */
	char *dir, *point;		/* runtime folder; mount point, "" without a filesystem */
	struct loop loop;
	pid_t server;
	const struct lab_log *log;
	struct strbuf said, cgroup;
	uint64_t tail, pokes_seen, lost;	/* of lab_record */
	uint64_t first_head;			/* log head when the first record was asked for */
};

/* One command to a server's socket; ret_answer may be NULL. -EIO with the server's sentence; -ENOTCONN: not there. */
int lab_ask(const char *dir, const char *command, struct strbuf *ret_answer, struct err *e);
/* dir/info, for the commands that find a lab by name. */
int lab_info_write(const struct lab *lab, pid_t owner, struct err *e);
/* Bytes of memory that all labs and records of ours hold now. */
uint64_t lab_memory_held(void);

#endif
