/* SPDX-License-Identifier: MIT */
#include "format/fiobins.h"

struct fiobin fiobin_of_index(unsigned idx, unsigned total)
{
	struct fiobin b = { .lo = idx, .hi = idx, .clipped = idx + 1 == total };

	if (idx >= 128) {
		unsigned e = (idx >> 6) - 1;

		b.lo = (UINT64_C(1) << (e + 6)) + ((uint64_t)(idx & 63) << e);
		b.hi = b.lo + (UINT64_C(1) << e) - 1;
	}
	return b;
}

bool fiobin_of_middle(uint64_t mid, unsigned total, struct fiobin *ret)
{
	unsigned idx = (unsigned)mid;

	if (mid >= 128) {
		unsigned e = 63 - (unsigned)__builtin_clzll(mid) - 6;

		idx = ((e + 1) << 6) + (unsigned)((mid >> e) & 63);
		if (idx >= total)
			return false;
		*ret = fiobin_of_index(idx, total);
		return ret->lo + (UINT64_C(1) << e) / 2 == mid;
	}
	*ret = fiobin_of_index(idx, total);
	return true;
}
