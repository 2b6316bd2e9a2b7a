#!/bin/bash
# SPDX-License-Identifier: MIT
# Student t, its inverse, the incomplete beta function and the normal quantile agree with GSL to 1e-9 on a grid.
set -eu
cd "$(dirname "$0")/../.."
command -v gsl-config >/dev/null || { echo "libgsl-dev is not installed"; exit 77; }
[ -f build/src/libstallmark.a ] || { echo "build/ is not there"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# shellcheck disable=SC2046
cc -std=gnu17 -O2 -D_GNU_SOURCE -Isrc $(gsl-config --cflags) -o "$dir/oracle" tests/long/stats-oracle.c build/src/libstallmark.a \
	$(gsl-config --libs) -lm
"$dir/oracle"
