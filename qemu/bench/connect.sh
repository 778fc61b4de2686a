# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --smp 4 --memory 4G --no-checks --timeout 900
# Wall time until 64 controllers with 4 I/O queues each are live: one call of nvmeofctl, and one `nvme connect` after
# another. The keep-alive is long, because a loaded machine delays an emulated one. The target has one subsystem on 64
# ports. Writes /results/connect: DRIVER SECONDS.

controllers=64
nqn=nqn.2024-01.io.example:connect

addresses() {
	local i
	for i in $(seq 0 $((controllers - 1))); do echo "127.0.0.1:$((4420 + i))"; done
}

# live CLASS: controllers in that state.
live() {
	cat /sys/class/"$1"/*/state 2>/dev/null | grep -cx live
}

connect_ours() {
	local address list=()
	for address in $(addresses); do list+=(-a "$address"); done
	nvmeofctl connect -t tcp -n $nqn "${list[@]}" --nr-io-queues 4 \
		--keep-alive-tmo 30 --wait=ctrl > /run/connect.out
}

connect_intree() {
	local i
	for i in $(seq 0 $((controllers - 1))); do
		nvme connect -t tcp -n $nqn -a 127.0.0.1 -s $((4420 + i)) -i 4 -k 30 > /run/connect.out
	done
}

disconnect_ours() {
	nvmeofctl disconnect --all > /run/disconnect.out
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

modprobe null_blk nr_devices=1 gb=1 queue_mode=2 irqmode=0
target_modules
target_subsystem $nqn
target_namespace $nqn 1 /dev/nullb0 00000000-0000-4000-8000-00000000000c
for i in $(seq $controllers); do
	target_port "$i" 127.0.0.1 $((4419 + i))
	target_link "$i" $nqn
done
for driver in $DRIVERS; do
	case $driver in
	ours) modprobe nvmeof_tcp ;;
	intree) modprobe nvme-tcp; intree_identity ;;
	esac
done
for rep in $(seq "$REPS"); do
	for driver in $DRIVERS; do
		begin=$(now)
		"connect_$driver"
		seconds=$(elapsed "$begin")
		n=$(count_live "$driver")
		[ "$n" = $controllers ] || fail "round $rep: $n controllers of $driver are live, not $controllers"
		echo "bench: round $rep: $driver $seconds s"
		echo "$driver $seconds" >> /results/connect
		"disconnect_$driver"
		# the target tears its queues down in the background: its work is not to fall into the next round
		sleep 3
	done
done
