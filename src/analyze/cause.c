/* SPDX-License-Identifier: MIT */
#include "analyze/cause.h"
#include "base/cleanup.h"

#include <string.h>

const struct cause_ops *cause_of(enum wait_class class)
{
	const struct cause_ops *rest = NULL;

	for (const struct cause_ops *const *c = cause_table; *c; c++) {
		for (size_t i = 0; i < ARRAY_SIZE((*c)->classes) && (*c)->classes[i] != WAIT_UNKNOWN; i++)
			if ((*c)->classes[i] == class)
				return *c;
		if (!strcmp((*c)->plug.name, "other"))
			rest = *c;
	}
	return rest;
}
