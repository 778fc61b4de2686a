# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --accel icount --shift 0 --smp 1 --memory 2G --no-checks --timeout 1500
# Instructions per large I/O in one guest with one CPU, measured as in cost.sh. Data of writes are copied by our driver,
# because the target is on this machine.
# shellcheck source=qemu/bench/stack.sh
. /nvmeof/add/stack.sh

drivers=$(with_tuned)
modprobe null_blk nr_devices=3 gb=4 bs=4096 queue_mode=2 irqmode=0 completion_nsec=0 submit_queues=1 \
	hw_queue_depth=256 max_sectors=8192
target_modules
target_port 1 127.0.0.1 4420
# shellcheck disable=SC2086 # words
share_port $drivers
sleep 1
for round in $(seq 0 "$REPS"); do
	echo "bench: round $round"
	sample large/read/128k/qd1 read 131072 1 200 sequential batch
	sample large/read/128k/qd4 read 131072 4 400 sequential batch
	sample large/read/1m/qd1 read 1048576 1 60 sequential batch
	sample large/read/1m/qd4 read 1048576 4 120 sequential batch
	sample large/read/1m/qd4/huge read 1048576 4 120 sequential batch huge
	sample large/write/128k/qd4 write 131072 4 400 sequential batch
	sample large/write/1m/qd4/huge write 1048576 4 120 sequential batch huge
done
end_samples
