#!/bin/sh
# SPDX-License-Identifier: MIT
# One round of the exam, its culprits drawn anew. The kinds whose plant is not fit for a busy machine (cpu, shadow) or
# rarely brings its wait (handle) are in tests/long/exam.sh only.
exec "$(dirname "$0")/exam" ordered ext3_ordered delalloc own_data journal_full dir_lock inode_lock dirty_throttle \
	tags wbt bfq frozen slow_device fsync_storm xfs_log btrfs_commit btrfs_own stopped
