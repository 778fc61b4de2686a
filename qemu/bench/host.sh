# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --accel icount --shift 0 --smp 2 --memory 2G --no-checks --timeout 1500
# Instructions per I/O of the host alone. The host uses CPU 0, to which the process is pinned and which the plugin
# counts; the target uses CPU 1. Each driver has its own veth link, and the receiver's CPU processes the packets (RPS).
# "tuned" is the in-tree driver as its users tune it: no I/O scheduler, no SQ flow control. Writes /results/samples as
# cost.sh does; each CASE begins with host.
# shellcheck source=qemu/bench/stack.sh
. /nvmeof/add/stack.sh

modprobe null_blk nr_devices=3 gb=4 bs=4096 queue_mode=2 irqmode=0 completion_nsec=0 submit_queues=2 hw_queue_depth=256
stacks=$(with_tuned)
make_alone
connect_alone
for round in $(seq 0 "$REPS"); do
	echo "bench: round $round"
	sample_alone randread/4k/qd1 read 4096 1 2000 random batch
	sample_alone randwrite/4k/qd1 write 4096 1 2000 random batch
	sample_alone randread/4k/qd16 read 4096 16 2000 random batch
	sample_alone randread/4k/qd16/single read 4096 16 2000 random single
	sample_alone read/128k/qd1 read 131072 1 200 sequential batch
	sample_alone read/128k/qd4 read 131072 4 400 sequential batch
done
end_samples
