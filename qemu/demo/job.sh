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
	sed 's/^/demo:     /' /run/shown
}

check_leaves_nothing() {
	! grep -q '^nvmeof' /proc/modules || fail "a module is still loaded"
	! ls /dev/nvmeof* > /dev/null 2>&1 || fail "a device node is still there"
}

# verified DIRECTORY BLOCKSIZE DEPTH: write with checksums, read back, compare; count I/Os and errors.
verified() {
	local out=/run/fio-$2.json
	fio --name=verify --directory="$1" --size=24M --rw=randwrite --bs="$2" --iodepth="$3" --ioengine=libaio \
	    --direct=1 --verify=crc32c --verify_fatal=1 --do_verify=1 --output-format=json --output="$out"
	local ios errors
	ios=$(sum total_ios "$out")
	errors=$(sum error "$out")
	((ios > 0)) || fail "fio did no I/O"
	total_ios=$((total_ios + ios))
	total_errors=$((total_errors + errors))
	say "   $1, blocks of $2, depth $3: $ios I/Os, each block read back and compared, $errors errors"
}

# sum KEY FILE: of all values of that key in fio's JSON.
sum() {
	awk -F'[:,]' -v key="\"$1\"" '$1 ~ key { n += $2 } END { print n + 0 }' "$2"
}

start=$(now)
total_ios=0 total_errors=0
say "Kernel $(uname -r), $(nproc) CPUs, emulated by QEMU"

begin_step "Two emulated NVMe drives become a target: the kernel's nvmet, over TCP"
start_udev
drives_up 2
target_modules
target_subsystem $nqn
target_namespace $nqn 1 "$(drive 0)" $uuid1
target_namespace $nqn 2 "$(drive 1)" $uuid2
target_port 1 127.0.0.1 4420
target_link 1 $nqn
say "   $(drive 0) and $(drive 1) are namespaces 1 and 2 of $nqn at 127.0.0.1:4420"

begin_step "Load the module, connect"
show modprobe nvmeof_tcp
show nvmeofctl connect -t tcp -n $nqn -a 127.0.0.1 -s 4420 --wait=ns
wait_for 10 by_uuid $uuid1 > /run/found
wait_for 10 by_uuid $uuid2 > /run/found
first=$(by_uuid $uuid1) second=$(by_uuid $uuid2)
show nvmeofctl list
show nvmeofctl list-subsys
udevadm settle
wait_for 10 test -L /dev/disk/by-id/nvme-uuid.$uuid1
say "   udev's link: /dev/disk/by-id/nvme-uuid.$uuid1 -> $(readlink /dev/disk/by-id/nvme-uuid.$uuid1)"

begin_step "Make file systems: ext4 on $first, xfs on $second"
mkfs.ext4 -q "$first"
mkfs.xfs -q "$second"
mkdir -p /mnt/ext4 /mnt/xfs
mount "$first" /mnt/ext4
mount "$second" /mnt/xfs

begin_step "Verified I/O"
verified /mnt/ext4 4k 16
verified /mnt/xfs 64k 4
umount /mnt/ext4 /mnt/xfs
fsck.ext4 -fn "$first"
xfs_repair -n "$second"
say "   both file systems check clean"
show nvmeofctl show "$(basename "$first")"

begin_step "Disconnect, unload"
show nvmeofctl disconnect -n $nqn
show modprobe -r nvmeof_tcp nvmeof
check_leaves_nothing
target_remove
((total_errors == 0)) || fail "$total_errors I/O errors"
say
say "Done: $total_ios I/Os, $total_errors errors, $(elapsed "$start") s in the guest; the module is unloaded."
