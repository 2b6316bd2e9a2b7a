#!/bin/sh
# SPDX-License-Identifier: MIT
# One round of the exam, its culprits drawn anew: at least 95 % of the stalls with the right cause and culprit. The
# kinds whose plant is not fit for a busy machine (cpu, shadow) or brings rarely its wait (handle) are asked for by name.
exec "$(dirname "$0")/exam" ordered ext3_ordered delalloc own_data journal_full dir_lock inode_lock dirty_throttle \
	tags wbt bfq frozen slow_device fsync_storm xfs_log btrfs_commit btrfs_own stopped
