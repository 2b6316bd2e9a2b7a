/* SPDX-License-Identifier: MIT */
/*
 * The labs of a scenario: its [lab NAME] sections and what --lab says, joined
 * with the run. run/ knows nothing of labs: it gets directories and hooks.
 *
 *	labs_make	reads the sections; nothing is done yet
 *	labs_consent	what will be made, for the consent
 *	labs_up		makes them; `dir = @NAME` in other sections becomes the mount point (before plan_make)
 *	labs_begin, labs_phase, labs_second, labs_end	the four hooks of struct run_hooks, ctx is the struct labs
 *	labs_down	takes them down
 */
#ifndef TRIAL_LABS_H
#define TRIAL_LABS_H

#include "run/run.h"
#include "scenario/scenario.h"
#include "base/strbuf.h"

struct labs;

/* option: the text of --lab, or NULL; that lab is called "lab" and is where everything works that says no other place.
 * *ret is NULL when there are none. -ENOENT: dir = @NAME names a lab that no section makes. */
int labs_make(struct scenario *s, const char *option, struct labs **ret, struct err *e);
void labs_consent(const struct labs *l, struct strbuf *out);
bool labs_machine_wide(const struct labs *l);		/* needs --yes-system */
/* profile_dirs must stay. On failure those that were made are taken down again. */
int labs_up(struct labs *l, const char *const *profile_dirs, struct err *e);
/* Where probes and loads work without --dir: the lab of --lab; NULL when there is none. */
const char *labs_dir(const struct labs *l);
void labs_refused(const struct labs *l, struct strbuf *out);	/* lines: what the kernel did not take */

int labs_begin(void *labs, struct rec *rec, int run, struct err *e);
void labs_phase(void *labs, enum sample_phase phase, nsec_t t);
void labs_second(void *labs, struct rec *rec, int run, nsec_t now);
void labs_end(void *labs, struct rec *rec, int run, bool partial);

/* Measuring is over: from now on the disks answer at once, so that cleaning up need not wait for them. */
void labs_hurry(struct labs *l);
/* Everything goes, the struct too; `said` gets a line for what could not be. NULL is fine. */
void labs_down(struct labs *l, struct strbuf *said);

#endif
