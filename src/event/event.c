/* SPDX-License-Identifier: MIT */
#include "event/event.h"

#include <string.h>

static const struct {
	const char *name, *about, *arg[6];
} kinds[EV_MAX] = {
#define EVENT(id, name, about, a, b, c, d, e, f) [EV_##id] = { name, about, { a, b, c, d, e, f } },
#include "event/event.def"
#undef EVENT
};

static const struct {
	const char *name, *words;
} classes[WAIT_MAX] = {
#define WAIT_CLASS(id, name, words) [WAIT_##id] = { name, words },
#include "event/wait.def"
#undef WAIT_CLASS
};

const char *event_name(uint32_t kind)
{
	return kind < EV_MAX ? kinds[kind].name : NULL;
}

const char *event_about(uint32_t kind)
{
	return kind < EV_MAX ? kinds[kind].about : "";
}

const char *event_arg_name(uint32_t kind, int i)
{
	return kind < EV_MAX && i >= 0 && i < 6 ? kinds[kind].arg[i] : "";
}

uint32_t event_by_name(const char *name)
{
	for (uint32_t k = 1; k < EV_MAX; k++)
		if (!strcmp(kinds[k].name, name))
			return k;
	return EV_NONE;
}

const char *wait_name(uint32_t class)
{
	return class < WAIT_MAX ? classes[class].name : "unknown";
}

const char *wait_words(uint32_t class)
{
	return class < WAIT_MAX ? classes[class].words : classes[WAIT_UNKNOWN].words;
}

uint32_t wait_by_name(const char *name)
{
	for (uint32_t k = 0; k < WAIT_MAX; k++)
		if (!strcmp(classes[k].name, name))
			return k;
	return WAIT_UNKNOWN;
}

const char *conf_name(uint32_t conf)
{
	static const char *const name[CONF_MAX] = { "unknown", "time", "waker", "completion", "owner", "exact" };

	return conf < CONF_MAX ? name[conf] : "unknown";
}

/* One line a member keeps both directions in step: MEMBERS(use) calls use(index, member). */
#define MEMBERS(use)										\
	use(0, t) use(1, dur) use(2, kind) use(3, class) use(4, pid) use(5, tid) use(6, other)	\
	use(7, dev) use(8, ino) use(9, a) use(10, b) use(11, c) use(12, d) use(13, e) use(14, f)	\
	use(15, stack) use(16, name) use(17, comm) use(18, flags)

void event_to_columns(const struct event *rows, uint32_t n, int64_t *const col[EVENT_COLUMNS])
{
	for (uint32_t r = 0; r < n; r++) {
#define PUT(i, m) col[i][r] = (int64_t)rows[r].m;
		MEMBERS(PUT)
#undef PUT
	}
}

void event_from_columns(int64_t *const col[EVENT_COLUMNS], uint32_t n, struct event *ret_rows)
{
	for (uint32_t r = 0; r < n; r++) {
#define GET(i, m) ret_rows[r].m = (__typeof__(ret_rows[r].m))col[i][r];
		MEMBERS(GET)
#undef GET
	}
}
