# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --drive 1G --drive 1G --quiet-driver --timeout 240
# What `make demo` shows, from an emulated drive to verified data and back. Lines that begin with "demo: " are the
# account that the user sees; all the rest is in the log. Any command that fails ends the job (set -e).

nqn=nqn.2024-01.io.example:demo
uuid1=00000000-0000-4000-8000-000000000001
uuid2=00000000-0000-4000-8000-000000000002
step=0

say() {
	echo "demo: $*"
}

begin_step() {
	step=$((step + 1))
	say
	say "$step. $*"
}

# Run a command that the user may well type; show it and what it prints.
show() {
	say "   \$ $*"
	"$@" > /run/shown 2>&1 || { cat /run/shown; fail "'$*' failed"; }
	sed 's/^/demo:      /' /run/shown
}

check_leaves_nothing() {
	! grep -q '^nvmeof' /proc/modules || fail "a module is still loaded"
	! ls /dev/nvmeof* > /dev/null 2>&1 || fail "a device node is still there"
}

# verified DIRECTORY BLOCKSIZE DEPTH: write with checksums, read back, compare; count I/Os and errors.
verified() {
	local out=/run/fio-$2.json writes reads errors
	fio --name=verify --directory="$1" --size=24M --rw=randwrite --bs="$2" --iodepth="$3" --ioengine=libaio \
	    --direct=1 --verify=crc32c --verify_fatal=1 --do_verify=1 --eta=never --output-format=json --output="$out"
	writes=$(count write "$out")
	reads=$(count read "$out")
	errors=$(awk -F'[:,]' '$1 ~ /"error"/ { n += $2 } END { print n + 0 }' "$out")
	((writes > 0 && reads >= writes)) || fail "fio wrote $writes blocks and read $reads"
	total_ios=$((total_ios + writes + reads))
	total_errors=$((total_errors + errors))
	say "   $1: $writes random writes of $2 at depth $3, $reads reads, each checksum compared: $errors errors"
}

# count read|write FILE: I/Os of that direction in fio's JSON.
count() {
	awk -F'[:,]' -v section="\"$1\"" '
		$1 ~ /^ *"(read|write|trim)" *$/ { inside = index($1, section) }
		inside && $1 ~ /"total_ios"/ { n += $2 }
		END { print n + 0 }' "$2"
}

start=$(now)
total_ios=0 total_errors=0
say "Up: Linux $(uname -r), $(nproc) CPUs."

begin_step "Target: export two emulated NVMe drives over TCP with the kernel's own nvmet"
start_udev
drives_up 2
target_modules
target_subsystem $nqn
target_namespace $nqn 1 "$(drive 0)" $uuid1
target_namespace $nqn 2 "$(drive 1)" $uuid2
target_port 1 127.0.0.1 4420
target_link 1 $nqn
say "   $(drive 0) and $(drive 1) are now namespaces 1 and 2 of $nqn at 127.0.0.1:4420"

begin_step "Host: load this project's module and connect"
show modprobe nvmeof_tcp
show nvmeofctl connect -t tcp -n $nqn -a 127.0.0.1 -s 4420 --wait=ns
wait_for 10 by_uuid $uuid1 > /run/found
wait_for 10 by_uuid $uuid2 > /run/found
first=$(by_uuid $uuid1) second=$(by_uuid $uuid2)
show nvmeofctl list
udevadm settle
wait_for 10 test -L /dev/disk/by-id/nvme-uuid.$uuid1
say "   udev made /dev/disk/by-id/nvme-uuid.$uuid1 -> $(readlink /dev/disk/by-id/nvme-uuid.$uuid1)"

begin_step "Data: ext4 on $first, xfs on $second, and verified I/O on both"
mkfs.ext4 -q "$first"
mkfs.xfs -q "$second"
mkdir -p /mnt/ext4 /mnt/xfs
mount "$first" /mnt/ext4
mount "$second" /mnt/xfs
verified /mnt/ext4 4k 16
verified /mnt/xfs 64k 4
umount /mnt/ext4 /mnt/xfs
fsck.ext4 -fn "$first"
xfs_repair -n "$second"
say "   unmounted; fsck.ext4 and xfs_repair find both file systems clean"

begin_step "Away: disconnect and unload"
show nvmeofctl disconnect -n $nqn
show modprobe -r nvmeof_tcp nvmeof
check_leaves_nothing
say "   no device node and no module is left"
target_remove
((total_errors == 0)) || fail "$total_errors I/O errors"
say
say "Done: $total_ios verified I/Os, $total_errors errors, $(elapsed "$start") s."
