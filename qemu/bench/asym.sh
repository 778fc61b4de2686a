# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --accel icount --shift 0 --smp 2 --memory 2G --no-checks --timeout 900
# Compares the policies on two paths, one of which has 30 ms more delay: MB/s of random 4 KiB reads by four processes
# with four in flight each. Case "base": the round trip of the first path is 2 ms, so latency limits the load, not the
# emulated CPUs. Case "cpu": no delay on the first path, so the CPUs limit the load. Writes /results/asym: CASE STACK
# POLICY MBPS.
# shellcheck source=qemu/bench/stack.sh
. /nvmeof/add/stack.sh

policies_of() {
	case $1 in ours) echo numa round-robin queue-depth latency ;; *) echo numa round-robin queue-depth ;; esac
}

# delays MS MS: delay of the packets from the target, for the first and the second path of every stack
delays() {
	local stack path ms
	for stack in $DRIVERS; do
		path=0
		for ms in "$@"; do
			path=$((path + 1))
			tc -n "$stack$path" qdisc replace dev far root netem limit 100000 delay "${ms}ms"
		done
	done
}

# load DEVICE: MB/s of all processes together, from the start of the first one to the end of the last one
load() {
	local pids=() pid ios=1000
	rm -f /run/rate.*
	for pid in 1 2 3 4; do
		iocount "$1" read 4096 4 "$ios" random single > "/run/rate.$pid" &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do wait "$pid"; done
	awk -v ios="$ios" '
		NR == 1 || $1 < begin { begin = $1 }
		NR == 1 || $2 > end { end = $2 }
		END { printf "%.4f\n", NR * ios * 4096 / (end - begin) / 1e6 }' /run/rate.*
}

# measure CASE
measure() {
	local stack policy mbps
	for stack in $DRIVERS; do
		for policy in $(policies_of "$stack"); do
			set_policy "$stack" "$policy"
			mbps=$(load "${device[$stack]}")
			echo "bench: $1 $stack $policy, round $round: $mbps MB/s"
			echo "$1 $stack $policy $mbps" >> /results/asym
		done
	done
}

modprobe null_blk nr_devices=2 gb=1 bs=4096 queue_mode=2 irqmode=0 completion_nsec=0 submit_queues=2 hw_queue_depth=256
modprobe -a veth sch_netem
target_modules
for stack in $DRIVERS; do
	make_target "$stack" 2 "/dev/nullb$(($(index "$stack") - 1))"
	connect_stack "$stack" 2
done
dmesg -n 1
for round in $(seq "$REPS"); do
	delays 2 32
	measure base
	delays 0 30
	measure cpu
done
