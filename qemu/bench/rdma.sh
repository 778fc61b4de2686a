# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --accel icount --shift 0 --smp 1 --memory 2G --no-checks --timeout 1500
# Instructions per I/O of both drivers over rxe, as cost.sh does over TCP: one guest, one CPU, one target, a subsystem
# for each. Most instructions are those of rxe, a software RDMA device. Therefore the driver's own part is also counted
# by symbol, and the verbs calls and completions of the driver by kprobes in separate rounds. The in-tree driver runs
# without an I/O scheduler. Writes /results/samples as cost.sh does, and /results/rdma: CASE DRIVER FIGURE.

# shellcheck source=qemu/bench/stack.sh
. /nvmeof/add/stack.sh

connect_ours() {
	modprobe nvmeof_rdma
	connect_to ours rdma 10.60.0.1
}

connect_intree() {
	modprobe nvme-rdma
	intree_identity
	connect_to intree rdma 10.60.0.1
	find_disk intree
	no_scheduler intree
}

# hits EVENT...: total number of hits of these kprobes
hits() {
	local event sum=0
	for event; do sum=$((sum + $(awk -v name="$event" '$1 == name { print $2 }' "$tracing/kprobe_profile"))); done
	echo $sum
}

# Work requests of all drivers, without those of the target
posts() {
	echo $(($(hits posts) - $(hits target_response target_rw)))
}

cqes() {
	echo $(($(hits cqes) - $(hits target_recv target_send target_read target_write)))
}

# calls CASE read
# write BLOCKSIZE DEPTH COUNT ORDER SUBMISSION: verbs calls and completions for a thousand I/Os
calls() {
	local driver kind
	declare -A before
	for driver in $drivers; do
		for kind in posts cqes; do before[$kind]=$($kind); done
		iocount "${device[$driver]}" "${@:2}" > /run/rate
		# the plugin counts this run, too, probes included: as round 0 it is left out
		echo "rdma/$1 $driver $5 0" >> /run/samples
		for kind in posts cqes; do
			# iocount's warm-up is a quarter of the measured I/Os, plus the depth
			awk -v n="$(($($kind) - ${before[$kind]}))" -v count="$(($5 + $5 / 4 + $4))" \
				-v case="rdma/$kind/$1" -v driver="$driver" \
				'BEGIN { printf "%s %s %.0f\n", case, driver, 1000 * n / count }' >> /run/rdma
		done
	done
}

drivers=$DRIVERS
modprobe null_blk nr_devices=2 gb=4 bs=4096 queue_mode=2 irqmode=0 completion_nsec=0 submit_queues=1 hw_queue_depth=256
modprobe nvmet-rdma
rdma_card
target_port 1 10.60.0.1 4420 rdma
# shellcheck disable=SC2086 # words
share_port $drivers
sleep 1
for round in $(seq 0 "$REPS"); do
	echo "bench: round $round"
	sample rdma/randread/4k/qd1 read 4096 1 1000 random batch
	sample rdma/randwrite/4k/qd1 write 4096 1 1000 random batch
	sample rdma/randread/4k/qd16 read 4096 16 2000 random batch
	sample rdma/randwrite/4k/qd16 write 4096 16 2000 random batch
	sample rdma/read/128k/qd4 read 131072 4 200 sequential batch
done
grep -i ' [tw] ' /proc/kallsyms > /results/symbols

tracing=/sys/kernel/tracing
[ -e $tracing/kprobe_events ] || mount -t tracefs none $tracing
echo 'p:posts rdma_rxe:rxe_post_send' > $tracing/kprobe_events
for probe in cqes:rdma_rxe:rxe_cq_post target_response:nvmet_rdma:nvmet_rdma_queue_response \
	target_rw:ib_core:rdma_rw_ctx_post target_recv:nvmet_rdma:nvmet_rdma_recv_done \
	target_send:nvmet_rdma:nvmet_rdma_send_done target_read:nvmet_rdma:nvmet_rdma_read_data_done \
	target_write:nvmet_rdma:nvmet_rdma_write_data_done; do
	echo "p:${probe%%:*} ${probe#*:}" >> $tracing/kprobe_events
done
echo 1 > $tracing/events/kprobes/enable
calls qd1 read 4096 1 1000 random batch
calls qd16 read 4096 16 2000 random batch
calls qd16/write write 4096 16 2000 random batch
echo 0 > $tracing/events/kprobes/enable
cp /run/rdma /results/rdma
cp /run/samples /results/samples
