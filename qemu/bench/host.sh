# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --accel icount --shift 0 --smp 2 --memory 2G --no-checks --timeout 1500
# Instructions per I/O of the host alone. The host uses CPU 0, to which the process is pinned and which the plugin
# counts; the target uses CPU 1. Each driver has its own veth link, and the receiver's CPU processes the packets (RPS).
# "tuned" is the in-tree driver as its users tune it: no I/O scheduler, no SQ flow control. Writes /results/samples as
# cost.sh does; each CASE begins with host.
# shellcheck source=qemu/bench/stack.sh
. /nvmeof/add/stack.sh

tuned_path() {
	nvme connect -t tcp -n "$(nqn_of tuned)" -a "$(address_of tuned 1)" -s 4420 --disable-sqflow > /run/connect.out
}

# The target serves a queue on the CPU that receives its packets. The host's I/O queue is that of the CPU.
split() {
	echo 1 > "/sys/class/net/${1}1/queues/rx-0/rps_cpus"
	# sysfs shows the interfaces of the network namespace in which it was mounted
	mkdir -p /run/sys
	far "$1" 1 mount -t sysfs s /run/sys
	echo 2 > /run/sys/class/net/far/queues/rx-0/rps_cpus
	umount /run/sys
}

# sample CASE read|write BLOCKSIZE DEPTH COUNT ORDER SUBMISSION
sample() {
	local stack
	for stack in $stacks; do
		taskset -c 0 iocount "${device[$stack]}" "${@:2}" > /run/rate
		echo "host/$1 $stack $5 $round" >> /run/samples
	done
}

modprobe null_blk nr_devices=3 gb=4 bs=4096 queue_mode=2 irqmode=0 completion_nsec=0 submit_queues=2 hw_queue_depth=256
modprobe veth
target_modules
stacks=$(with_tuned)
for stack in $stacks; do
	make_target "$stack" 1 "/dev/nullb$(($(index "$stack") - 1))"
	split "$stack"
	if [ "$stack" = tuned ]; then
		load_driver tuned
		tuned_path
		connected[tuned]=1
	fi
	connect_stack "$stack" 1
done
no_scheduler tuned
for round in $(seq 0 "$REPS"); do
	echo "bench: round $round"
	sample randread/4k/qd1 read 4096 1 2000 random batch
	sample randwrite/4k/qd1 write 4096 1 2000 random batch
	sample randread/4k/qd16 read 4096 16 2000 random batch
	sample randread/4k/qd16/single read 4096 16 2000 random single
	sample read/128k/qd1 read 131072 1 200 sequential batch
	sample read/128k/qd4 read 131072 4 400 sequential batch
done
cp /run/samples /results/samples
grep -i ' [tw] ' /proc/kallsyms > /results/symbols
