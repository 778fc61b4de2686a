# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --accel icount --shift 0 --smp 1 --memory 2G --no-checks --timeout 900
# Instructions per I/O with 2, 4, 8 and 16 paths, counted as in cost.sh: our latency and queue-depth policies, and the
# in-tree driver's queue-depth. Writes /results/samples as cost.sh does; a CASE is mpath/cost/NUMBERpaths/qd16, with the
# policy appended unless the drivers are compared by it.
# Namespace 1 is as in cost.sh: on one CPU an I/O completes before the next one is sent, and the in-tree policy takes
# the first path, which is idle. Namespace 2 completes after 1 ms, so that 15 commands are in flight whenever a path is
# chosen: its cases begin with mpath/choice.
# shellcheck source=qemu/bench/stack.sh
. /nvmeof/add/stack.sh
# shellcheck disable=SC2034 # stack.sh uses it
net=127

slow_uuid_of() {
	echo "00000000-0000-4000-8000-00000000020$(index "$1")"
}

# make_drive NAME IRQMODE NSEC: a null_blk made through configfs, which has its own mode
make_drive() {
	local drive=/sys/kernel/config/nullb/$1
	mkdir "$drive"
	echo 4096 > "$drive/size"
	echo 4096 > "$drive/blocksize"
	echo 1 > "$drive/submit_queues"
	echo 256 > "$drive/hw_queue_depth"
	echo "$2" > "$drive/irqmode"
	echo "$3" > "$drive/completion_nsec"
	echo 1 > "$drive/power"
	wait_for 5 test -b "/dev/$1"
}

# sample STACK DEVICE POLICY CASE
sample() {
	set_policy "$1" "$3"
	iocount "$2" read 4096 16 2000 random batch > /run/rate
	echo "$4 $1 2000 $round" >> /run/samples
}

sample_stack() {
	local slow
	slow=$(by_uuid "$(slow_uuid_of "$1")" "$(prefix_of "$1")")
	sample "$1" "${device[$1]}" "$2" "mpath/cost/${paths}paths/qd16$3"
	sample "$1" "$slow" "$2" "mpath/choice/${paths}paths$3"
}

sample_round() {
	local stack
	for stack in $DRIVERS; do
		case $stack in
		ours)
			sample_stack ours latency ''
			sample_stack ours queue-depth /queue-depth
			;;
		intree) sample_stack intree queue-depth '' ;;
		esac
	done
}

modprobe null_blk nr_devices=0
target_modules
for stack in $DRIVERS; do
	make_drive "fast$stack" 0 0
	make_drive "slow$stack" 2 1000000
	make_target "$stack" 16 "/dev/fast$stack"
	target_namespace "$(nqn_of "$stack")" 2 "/dev/slow$stack" "$(slow_uuid_of "$stack")"
done
dmesg -n 1
for paths in 2 4 8 16; do
	for stack in $DRIVERS; do connect_stack "$stack" "$paths"; done
	sleep 1
	for round in $(seq 0 "$REPS"); do
		sample_round
	done
done
end_samples
