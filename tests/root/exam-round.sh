#!/bin/sh
# SPDX-License-Identifier: MIT
# One round of the exam, its culprits drawn anew: at least 95 % of the stalls with the right cause and culprit. The
# kinds whose plant depends on how busy the machine is (cpu, shadow, slow_device) are asked for by name only.
exec "$(dirname "$0")/exam" ordered ext3_ordered delalloc own_data journal_full handle dir_lock inode_lock dirty_throttle \
	tags wbt bfq frozen fsync_storm xfs_log btrfs_commit btrfs_own stopped
