# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --accel icount --shift 0 --smp 2 --memory 2G --no-checks --timeout 1500
# Instructions per large I/O of the host alone, measured as in host.sh. The digest/ cases are connections with data
# digests.
# shellcheck source=qemu/bench/stack.sh
. /nvmeof/add/stack.sh

modprobe null_blk nr_devices=3 gb=4 bs=4096 queue_mode=2 irqmode=0 completion_nsec=0 submit_queues=2 \
	hw_queue_depth=256 max_sectors=8192
stacks=$(with_tuned)
make_alone
connect_alone
for round in $(seq 0 "$REPS"); do
	echo "bench: round $round"
	sample_alone large/read/128k/qd1 read 131072 1 200 sequential batch
	sample_alone large/read/128k/qd4 read 131072 4 400 sequential batch
	sample_alone large/read/1m/qd1/huge read 1048576 1 60 sequential batch huge
	sample_alone large/read/1m/qd4/huge read 1048576 4 120 sequential batch huge
	sample_alone large/write/128k/qd4 write 131072 4 400 sequential batch
	sample_alone large/write/1m/qd4/huge write 1048576 4 120 sequential batch huge
done
for stack in $stacks; do disconnect_stack "$stack"; done
connect_options=(--data-digest)
connect_alone
for round in $(seq 0 "$REPS"); do
	sample_alone large/digest/read/128k/qd4 read 131072 4 400 sequential batch
	sample_alone large/digest/write/128k/qd4 write 131072 4 400 sequential batch
done
end_samples
