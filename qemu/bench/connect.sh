# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --smp 4 --memory 4G --no-checks --timeout 900
# Wall time until 64 controllers with 4 I/O queues each are live, over TCP and over RDMA: one call of nvmeofctl, and
# successive calls of `nvme connect`. The keep-alive is long because Keep Alive commands are late in an emulated guest
# under load. The target has one subsystem on 64 ports of each transport. Writes /results/connect: CASE DRIVER SECONDS.

controllers=64
nqn=nqn.2024-01.io.example:connect

addresses() {
	local i
	for i in $(seq 0 $((controllers - 1))); do echo "$address:$((4420 + i))"; done
}

# live CLASS: number of live controllers
live() {
	cat /sys/class/"$1"/*/state 2>/dev/null | grep -cx live
}

connect_ours() {
	local one list=()
	for one in $(addresses); do list+=(-a "$one"); done
	nvmeofctl connect -t $transport -n $nqn "${list[@]}" --nr-io-queues 4 \
		--keep-alive-tmo 30 --wait=ctrl > /run/connect.out
}

connect_intree() {
	local i
	for i in $(seq 0 $((controllers - 1))); do
		nvme connect -t $transport -n $nqn -a "$address" -s $((4420 + i)) -i 4 -k 30 > /run/connect.out
	done
}

disconnect_ours() {
	nvmeofctl disconnect --all --force > /run/disconnect.out
}

disconnect_intree() {
	nvme disconnect -n $nqn > /run/disconnect.out
}

count_live() {
	case $1 in
	ours) live nvmeof ;;
	intree) live nvme ;;
	esac
}

rounds() {
	local rep driver begin seconds n
	for rep in $(seq "$REPS"); do
		for driver in $DRIVERS; do
			begin=$(now)
			"connect_$driver"
			seconds=$(elapsed "$begin")
			n=$(count_live "$driver")
			[ "$n" = $controllers ] ||
				fail "$transport, round $rep: $n controllers of $driver are live, not $controllers"
			echo "bench: $transport, round $rep: $driver $seconds s"
			echo "$1 $driver $seconds" >> /results/connect
			"disconnect_$driver"
			# the target tears its queues down in the background, which must not overlap the next round
			sleep 3
		done
	done
}

modprobe null_blk nr_devices=1 gb=1 queue_mode=2 irqmode=0
target_modules
target_subsystem $nqn
target_namespace $nqn 1 /dev/nullb0 00000000-0000-4000-8000-00000000000c
modprobe nvmet-rdma
rdma_card
for i in $(seq $controllers); do
	target_port "$i" 127.0.0.1 $((4419 + i))
	target_port $((controllers + i)) 10.60.0.1 $((4419 + i)) rdma
	target_link "$i" $nqn
	target_link $((controllers + i)) $nqn
done
for driver in $DRIVERS; do
	case $driver in
	ours) modprobe -a nvmeof_tcp nvmeof_rdma ;;
	intree) modprobe -a nvme-tcp nvme-rdma; intree_identity ;;
	esac
done
transport=tcp address=127.0.0.1
rounds connect/64
transport=rdma address=10.60.0.1
rounds rdma/connect/64
