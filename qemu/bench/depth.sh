# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --accel icount --shift 0 --smp 2 --memory 2G --no-checks --timeout 900
# I/Os per second of 4 KiB reads by one process with 256 in flight, on a drive that needs 20 ms for each: over one path,
# and round-robin over four. Then two disks of one subsystem: one has had no path for 30 s and 256 queued requests, and
# the I/O rate of the other one is compared with its rate alone. Writes /results/depth: CASE STACK IOPS.
# shellcheck source=qemu/bench/stack.sh
. /nvmeof/add/stack.sh

reads=8000

# measure CASE STACK DEVICE
measure() {
	local iops
	iops=$(iocount "$3" read 4096 256 $reads random single | awk '{ print $3 }')
	echo "bench: $1 $2, round $round: $iops IOPS"
	echo "$1 $2 $iops" >> /results/depth
}

dead_uuid_of() {
	echo "00000000-0000-4000-8000-00000000020$(index "$1")"
}

# dead_state STACK STATE: ANA state of the group of the disk that loses its paths
dead_state() {
	local path
	for path in 1 2 3 4; do echo "$2" > "$nvmet/ports/$(port_of "$1" "$path")/ana_groups/2/ana_state"; done
}

# dead_target STACK DEVICE: a second namespace, in an ANA group of its own
dead_target() {
	local ns path
	ns=$nvmet/subsystems/$(nqn_of "$1")/namespaces/2
	for path in 1 2 3 4; do mkdir "$nvmet/ports/$(port_of "$1" "$path")/ana_groups/2"; done
	dead_state "$1" optimized
	target_namespace "$(nqn_of "$1")" 2 "$2" "$(dead_uuid_of "$1")"
	echo 2 > "$ns/ana_grpid"
}

neighbour() {
	local dead pid
	patiently 30 by_uuid "$(dead_uuid_of "$1")" "$(prefix_of "$1")" > /run/found
	dead=$(by_uuid "$(dead_uuid_of "$1")" "$(prefix_of "$1")")
	measure alone "$1" "${device[$1]}"
	iocount "$dead" read 4096 256 1000000 random single > /run/dead &
	pid=$!
	sleep 1
	dead_state "$1" inaccessible
	sleep 30
	measure beside "$1" "${device[$1]}"
	dead_state "$1" optimized
	kill $pid
	wait $pid || true
}

modprobe null_blk nr_devices=2 gb=1 queue_mode=2 irqmode=2 completion_nsec=20000000 hw_queue_depth=4096 submit_queues=2
modprobe veth
target_modules
for stack in $DRIVERS; do
	make_target "$stack" 4 /dev/nullb0
	dead_target "$stack" /dev/nullb1
	connect_stack "$stack" 1
done
for round in $(seq "$REPS"); do
	for stack in $DRIVERS; do measure 1path "$stack" "${device[$stack]}"; done
done
for stack in $DRIVERS; do
	connect_stack "$stack" 4
	set_policy "$stack" round-robin
done
for round in $(seq "$REPS"); do
	for stack in $DRIVERS; do measure 4paths "$stack" "${device[$stack]}"; done
	for stack in $DRIVERS; do neighbour "$stack"; done
done
