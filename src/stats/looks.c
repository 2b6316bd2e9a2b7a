/* SPDX-License-Identifier: MIT */
#include "stats/looks.h"

#define POCOCK_THREE_LOOKS	0.022	/* of 0.05 */

const unsigned look_runs[LOOKS] = { 5, 10, 20 };

bool look_is_due(unsigned runs_a_side)
{
	for (int i = 0; i < LOOKS; i++)
		if (look_runs[i] == runs_a_side)
			return true;
	return false;
}

unsigned look_next(unsigned runs_a_side)
{
	for (int i = 0; i < LOOKS; i++)
		if (look_runs[i] > runs_a_side)
			return look_runs[i];
	return 0;
}

double look_alpha(double alpha)
{
	return alpha * POCOCK_THREE_LOOKS / 0.05;
}
