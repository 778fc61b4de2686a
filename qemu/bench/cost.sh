# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --accel icount --shift 0 --smp 1 --memory 2G --no-checks --timeout 1500
# Instructions per I/O of both drivers in one guest with one CPU. Each driver has its own subsystem on the same target,
# backed by null_blk. The in-tree driver has a second one with tuned settings. The samples of the drivers alternate.
# DRIVERS and REPS come from the environment.
# Round 0 is a warm-up, which the report leaves out. Writes /results/samples, a line for each section of the plugin's
# output, in its order: CASE DRIVER COUNT ROUND.

# shellcheck source=qemu/bench/stack.sh
. /nvmeof/add/stack.sh

# sample_commands CASE BLOCKSIZE DEPTH COUNT: reads by io_uring passthrough
sample_commands() {
	local driver
	for driver in $drivers; do
		cmdcount "$(generic_of "${device[$driver]}")" 1 4096 read "${@:2}" > /run/rate
		echo "$1 $driver $4 $round" >> /run/samples
	done
}

# null_blk without memory backing: it has the least cost and affects the ratio least.
drivers=$(with_tuned)
modprobe null_blk nr_devices=3 gb=4 bs=4096 queue_mode=2 irqmode=0 completion_nsec=0 submit_queues=1 hw_queue_depth=256
target_modules
target_port 1 127.0.0.1 4420
# shellcheck disable=SC2086 # words
share_port $drivers
sleep 1
for round in $(seq 0 "$REPS"); do
	echo "bench: round $round"
	sample tcp/randread/4k/qd1 read 4096 1 2000 random batch
	sample tcp/randwrite/4k/qd1 write 4096 1 2000 random batch
	sample tcp/randread/4k/qd16 read 4096 16 2000 random batch
	sample tcp/randwrite/4k/qd16 write 4096 16 2000 random batch
	sample tcp/read/128k/qd1 read 131072 1 200 sequential batch
	sample tcp/read/128k/qd4 read 131072 4 400 sequential batch
	sample single/randread/4k/qd16 read 4096 16 2000 random single
	sample single/randwrite/4k/qd16 write 4096 16 2000 random single
	sample_commands passthru/randread/4k/qd16 4096 16 2000
done
end_samples
