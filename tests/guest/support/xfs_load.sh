#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# usage: xfs_load DIRECTORY SECONDS
# Writes and renames trees of files in the directory. Some rounds later it reads each tree from the disk and removes it.
# Wrong data and errors end the script with a message and a nonzero exit status.
set -euo pipefail

dir=$1 seconds=$2
sums=/tmp/xfs_load.$$
keep=6
mkdir -p "$sums"
trap 'rm -rf "$sums"' EXIT
cd "$dir"

write_tree() {
	local i
	mkdir "new.$1"
	for i in 1 2 3 4; do
		head -c $((RANDOM * 6 + 1)) /dev/urandom | tee "new.$1/$i" | md5sum | sed "s/-\$/$i/" >> "$sums/$1"
	done
	mv "new.$1" "tree.$1"
	sync -f "tree.$1"
}

check_tree() {
	echo 1 > /proc/sys/vm/drop_caches
	if ! out=$(cd "tree.$1" && md5sum -c "$sums/$1" 2>&1); then
		echo "tree $1 is not what was written: $out"
		exit 1
	fi
	rm -r "tree.$1" "${sums:?}/$1"
}

round=0
while [ $SECONDS -lt "$seconds" ]; do
	round=$((round + 1))
	write_tree $round
	[ $round -le $keep ] || check_tree $((round - keep))
done
for ((i = round > keep ? round - keep + 1 : 1; i <= round; i++)); do
	check_tree $i
done
echo "rounds: $round"
