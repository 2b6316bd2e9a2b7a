/* SPDX-License-Identifier: MIT */
#include "event/blktrace.h"
#include "base/cleanup.h"

#include <endian.h>

/* Offsets that differ between the versions; everything before byte 28 is the same. */
struct layout {
	uint8_t bytes, pid, action, dev, cpu, error, pdu_len, action_bytes;
};

static const struct layout layouts[] = {
	[7] = { .bytes = 48, .action = 28, .action_bytes = 4, .pid = 32, .dev = 36, .cpu = 40, .error = 44, .pdu_len = 46 },
	[8] = { .bytes = 64, .pid = 28, .action = 32, .action_bytes = 8, .dev = 40, .cpu = 44, .error = 48, .pdu_len = 50 },
};

static uint16_t get16(const uint8_t *p, bool swap)
{
	uint16_t x = BLK_GET(uint16_t, p);

	return swap ? __builtin_bswap16(x) : x;
}

static uint32_t get32(const uint8_t *p, bool swap)
{
	uint32_t x = BLK_GET(uint32_t, p);

	return swap ? __builtin_bswap32(x) : x;
}

static uint64_t get64(const uint8_t *p, bool swap)
{
	uint64_t x = BLK_GET(uint64_t, p);

	return swap ? __builtin_bswap64(x) : x;
}

int blk_magic(const uint8_t *p, bool *ret_swapped)
{
	uint32_t magic = BLK_GET(uint32_t, p);

	*ret_swapped = false;
	if ((magic & 0xffffff00) == BLK_MAGIC)
		return magic & 0xff;
	*ret_swapped = true;
	magic = __builtin_bswap32(magic);
	return (magic & 0xffffff00) == BLK_MAGIC ? (int)(magic & 0xff) : -1;
}

long blk_decode_other(const uint8_t *p, size_t avail, struct blk_rec *ret)
{
	const struct layout *l;
	uint64_t action;
	bool swap;
	int version;

	if (avail < 4)
		return BLK_MORE;
	version = blk_magic(p, &swap);
	if (version != 7 && version != 8)
		return BLK_FOREIGN;
	l = &layouts[version];
	if (avail < l->bytes)
		return BLK_MORE;
	action = l->action_bytes == 8 ? get64(p + l->action, swap) : get32(p + l->action, swap);
	ret->seq = get32(p + 4, swap);
	ret->time = get64(p + 8, swap);
	ret->sector = get64(p + 16, swap);
	ret->bytes = get32(p + 24, swap);
	ret->act = action & 0xffff;
	ret->tc = (uint32_t)(action >> 16);
	ret->pid = get32(p + l->pid, swap);
	ret->dev = get32(p + l->dev, swap);
	ret->cpu = get32(p + l->cpu, swap);
	ret->error = get16(p + l->error, swap);
	ret->pdu_len = get16(p + l->pdu_len, swap);
	ret->version = (uint8_t)version;
	ret->swapped = swap;
	ret->pdu = p + l->bytes;
	if (avail - l->bytes < ret->pdu_len)
		return BLK_MORE;
	return l->bytes + ret->pdu_len;
}

size_t blk_resync(const uint8_t *p, size_t avail)
{
	for (size_t i = 1; i + BLK_V7_BYTES <= avail; i++) {
		struct blk_rec r;
		bool swapped;
		long n;

		/* the two inner bytes of the magic are the same way round for nobody: test the cheap way first */
		if (p[i + 1] != 0x74 && p[i + 1] != 0x61)
			continue;
		n = blk_decode(p + i, avail - i, &r);
		if (n <= 0)
			continue;
		if (i + (size_t)n + 4 > avail || blk_magic(p + i + n, &swapped) >= 0)
			return i;
	}
	return avail;
}

static void put(uint8_t *p, uint64_t x, size_t bytes, bool swap)
{
	bool little = (BYTE_ORDER == LITTLE_ENDIAN) != swap;

	for (size_t i = 0; i < bytes; i++)
		p[little ? i : bytes - 1 - i] = (uint8_t)(x >> (8 * i));
}

size_t blk_encode(const struct blk_rec *r, uint8_t *ret)
{
	const struct layout *l = &layouts[r->version == 8 ? 8 : 7];
	bool s = r->swapped;

	memset(ret, 0, l->bytes);
	put(ret, BLK_MAGIC | (r->version == 8 ? 8 : 7), 4, s);
	put(ret + 4, r->seq, 4, s);
	put(ret + 8, r->time, 8, s);
	put(ret + 16, r->sector, 8, s);
	put(ret + 24, r->bytes, 4, s);
	put(ret + l->action, (uint64_t)r->tc << 16 | (r->act & 0xffff), l->action_bytes, s);
	put(ret + l->pid, r->pid, 4, s);
	put(ret + l->dev, r->dev, 4, s);
	put(ret + l->cpu, r->cpu, 4, s);
	put(ret + l->error, r->error, 2, s);
	put(ret + l->pdu_len, r->pdu_len, 2, s);
	if (r->pdu_len)
		memcpy(ret + l->bytes, r->pdu, r->pdu_len);
	return l->bytes + (size_t)r->pdu_len;
}

bool blk_pdu64(const struct blk_rec *r, size_t off, uint64_t *ret)
{
	if (r->act & BLK_CGROUP)
		off += 8;
	if (off + 8 > r->pdu_len)
		return false;
	*ret = be64toh(BLK_GET(uint64_t, r->pdu + off));
	return true;
}

bool blk_pdu32(const struct blk_rec *r, size_t off, uint32_t *ret)
{
	if (r->act & BLK_CGROUP)
		off += 8;
	if (off + 4 > r->pdu_len)
		return false;
	*ret = be32toh(BLK_GET(uint32_t, r->pdu + off));
	return true;
}

const char *blk_act_name(uint32_t act)
{
	static const char *const names[] = { "?", "Q", "M", "F", "G", "S", "R", "D", "C", "P", "U", "UT", "I", "X", "B",
					     "A", "?", "d", "ZP", "ZU" };

	act &= ~BLK_CGROUP;
	return act < ARRAY_SIZE(names) ? names[act] : "?";
}
