/* SPDX-License-Identifier: MIT */
#include "model/disk.h"

void rq_finish(struct rq **list, struct rq *rq, nsec_t done)
{
	rq->done = done;
	while (*list && ((*list)->done < done || ((*list)->done == done && (*list)->id < rq->id)))
		list = &(*list)->link;
	rq->link = *list;
	*list = rq;
}

unsigned rq_take_finished(struct rq **list, nsec_t now, struct rq **done, unsigned max)
{
	unsigned n = 0;

	while (n < max && *list && (*list)->done <= now) {
		done[n++] = *list;
		*list = (*list)->link;
	}
	return n;
}
