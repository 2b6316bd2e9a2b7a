/* SPDX-License-Identifier: MIT */
/*
 * One record of a block trace, as the kernel writes it: 48 bytes (version 7,
 * all kernels) or 64 bytes (version 8, struct blk_io_trace2), in the byte order
 * of the traced machine, followed by pdu_len bytes of payload.
 *
 * blk_decode() trusts nothing but `avail`; a struct blk_rec points into the
 * caller's bytes and lives as long as they do.
 * Source of the layout: include/uapi/linux/blktrace_api.h, kernel/trace/blktrace.c.
 */
#ifndef EVENT_BLKTRACE_H
#define EVENT_BLKTRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BLK_MAGIC	0x65617400u	/* | version */
#define BLK_V7_BYTES	48
#define BLK_V8_BYTES	64
#define BLK_PDU_MAX	65535

/* acts: the low 16 bits of the action, BLK_CGROUP apart */
enum blk_act {
	BLK_Q = 1,	/* queued: a bio reached the block layer */
	BLK_M,		/* back merge: the bio was appended to a waiting request */
	BLK_F,		/* front merge */
	BLK_G,		/* got a request structure */
	BLK_S,		/* slept for one (no kernel since 4.x) */
	BLK_R,		/* requeued by the driver */
	BLK_D,		/* issued to the driver */
	BLK_C,		/* completed */
	BLK_P,		/* plugged */
	BLK_U,		/* unplugged; pdu: be64 number of requests */
	BLK_UT,		/* unplugged because the task went to sleep ("timer" before 2.6.39) */
	BLK_I,		/* inserted into the scheduler */
	BLK_X,		/* split; pdu: be64 first sector of the remainder */
	BLK_B,		/* bounced */
	BLK_A,		/* remapped; pdu: be32 device_from, be32 device_to, be64 sector_from */
	BLK_ABORT,
	BLK_DRV,	/* bytes of the driver */
	BLK_ZPLUG,	/* zone write plug (version 8) */
	BLK_ZUNPLUG,
};

#define BLK_CGROUP	0x100u		/* in the act: the pdu begins with a u64 cgroup id */

/* categories: action >> 16 */
#define BLK_TC_READ	0x0001u
#define BLK_TC_WRITE	0x0002u
#define BLK_TC_FLUSH	0x0004u
#define BLK_TC_SYNC	0x0008u
#define BLK_TC_QUEUE	0x0010u
#define BLK_TC_REQUEUE	0x0020u
#define BLK_TC_ISSUE	0x0040u
#define BLK_TC_COMPLETE	0x0080u
#define BLK_TC_FS	0x0100u
#define BLK_TC_PC	0x0200u		/* passthrough: SCSI or driver commands */
#define BLK_TC_NOTIFY	0x0400u
#define BLK_TC_AHEAD	0x0800u
#define BLK_TC_META	0x1000u
#define BLK_TC_DISCARD	0x2000u
#define BLK_TC_DRV_DATA	0x4000u
#define BLK_TC_FUA	0x8000u
#define BLK_TC_ZONE	0x3f0000u	/* zone append, reset, reset-all, finish, open, close (version 8) */
#define BLK_TC_ZEROES	0x400000u	/* write zeroes (version 8) */

/* acts of records with BLK_TC_NOTIFY */
#define BLK_TN_PROCESS	0	/* pid and its name */
#define BLK_TN_TIME	1	/* two u32: seconds and nanoseconds of the wall clock */
#define BLK_TN_MESSAGE	2

struct blk_rec {
	uint64_t time;		/* ns in the trace's clock */
	uint64_t sector;	/* of 512 bytes */
	uint32_t bytes;
	uint32_t act;		/* the low 16 bits of the action, BLK_CGROUP included */
	uint32_t tc;		/* BLK_TC_* */
	uint32_t pid;		/* kernel pid: a thread */
	uint32_t dev;		/* major << 20 | minor */
	uint32_t cpu;
	uint32_t seq;		/* per CPU from 1; 0 in notifies and in what came through ftrace */
	uint16_t error;
	uint16_t pdu_len;
	uint8_t version;	/* 7 or 8 */
	bool swapped;		/* foreign byte order (never the pdu: see the acts) */
	const uint8_t *pdu;
};

enum { BLK_MORE = 0, BLK_FOREIGN = -1 };

static inline uint32_t blk_dev(uint32_t major, uint32_t minor)
{
	return major << 20 | minor;
}

#define BLK_GET(type, p) ({ type blk_get_; memcpy(&blk_get_, (p), sizeof(blk_get_)); blk_get_; })

/* Versions and byte orders other than "7, native"; see blk_decode. */
long blk_decode_other(const uint8_t *p, size_t avail, struct blk_rec *ret);

/*
 * Decodes the record at p. Its length in bytes (> 0), BLK_MORE when it goes
 * beyond avail (also when avail is too short to tell), BLK_FOREIGN when no
 * record of a known version begins here.
 */
static inline long blk_decode(const uint8_t *p, size_t avail, struct blk_rec *ret)
{
	uint32_t action;

	if (__builtin_expect(avail < BLK_V7_BYTES || BLK_GET(uint32_t, p) != (BLK_MAGIC | 7), 0))
		return blk_decode_other(p, avail, ret);
	action = BLK_GET(uint32_t, p + 28);
	ret->seq = BLK_GET(uint32_t, p + 4);
	ret->time = BLK_GET(uint64_t, p + 8);
	ret->sector = BLK_GET(uint64_t, p + 16);
	ret->bytes = BLK_GET(uint32_t, p + 24);
	ret->act = action & 0xffff;
	ret->tc = action >> 16;
	ret->pid = BLK_GET(uint32_t, p + 32);
	ret->dev = BLK_GET(uint32_t, p + 36);
	ret->cpu = BLK_GET(uint32_t, p + 40);
	ret->error = BLK_GET(uint16_t, p + 44);
	ret->pdu_len = BLK_GET(uint16_t, p + 46);
	ret->version = 7;
	ret->swapped = false;
	ret->pdu = p + BLK_V7_BYTES;
	if (__builtin_expect(avail - BLK_V7_BYTES < ret->pdu_len, 0))
		return BLK_MORE;
	return BLK_V7_BYTES + ret->pdu_len;
}

/* The magic's version (of any number) when it is one of ours in either byte order, -1 otherwise. */
int blk_magic(const uint8_t *p, bool *ret_swapped);

/* Bytes from p to the next place where a whole record of a known version begins, followed by another or by the
 * end; `avail` when there is none. Looks at p + 1 first. */
size_t blk_resync(const uint8_t *p, size_t avail);

/* Writes `r` as version r->version in the byte order r->swapped says, with its pdu; returns the length.
 * ret has room for BLK_V8_BYTES + BLK_PDU_MAX. A version 7 record loses categories above bit 15. */
size_t blk_encode(const struct blk_rec *r, uint8_t *ret);

/* be64 / be32 in a pdu, behind the cgroup id if there is one; false when the pdu is too short. */
bool blk_pdu64(const struct blk_rec *r, size_t off, uint64_t *ret);
bool blk_pdu32(const struct blk_rec *r, size_t off, uint32_t *ret);

/* "Q", "UT", "?" */
const char *blk_act_name(uint32_t act);

#endif
