# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --accel icount --smp 4 --memory 4G --no-checks --timeout 600
# Kernel memory of idle connections: 32 controllers of one subsystem with one and with four I/O queues each, over TCP
# and over RDMA. The target is a userspace process, so only its sockets and rxe use kernel memory, equally for both
# drivers. Writes /results/mem: CASE DRIVER KIB.

controllers=32
nqn=nqn.2024-01.io.example:mem

live() {
	cat /sys/class/"$1"/*/state 2> /dev/null | grep -cx live
}

# connect_all DRIVER QUEUES
connect_all() {
	local i class=nvme
	for ((i = 0; i < controllers; i++)); do
		case $1 in
		ours)
			class=nvmeof
			nvmeofctl connect -t $transport -n $nqn -a $address -s $((5000 + i)) -i "$2" -k 60 \
				--wait ctrl
			;;
		intree) nvme connect -t $transport -n $nqn -a $address -s $((5000 + i)) -i "$2" -k 60 ;;
		esac > /run/connect.out
	done
	[ "$(live $class)" = $controllers ] || fail "not all controllers of $1 are live"
}

disconnect_all() {
	case $1 in
	ours) nvmeofctl disconnect --all ;;
	intree) nvme disconnect -n $nqn ;;
	esac > /run/disconnect.out
	sleep 2
}

# used DRIVER QUEUES: KiB of kernel memory that the connections use
used() {
	local before after
	before=$(kernel_memory)
	connect_all "$1" "$2"
	sleep 5
	after=$(kernel_memory)
	disconnect_all "$1"
	echo $((after - before))
}

# measure PREFIX: prefix of the names in the results
measure() {
	local driver one four
	/nvmeof/add/nvmeof-target --transport $transport -a $address -p 5000 -P $controllers -n $nqn > /run/target.out &
	sleep 1
	for driver in $DRIVERS; do
		used "$driver" 1 > /run/warm
		one=$(used "$driver" 1)
		four=$(used "$driver" 4)
		echo "bench: $transport: $driver: $one KiB with one queue each, $four KiB with four"
		awk -v one="$one" -v four="$four" -v n=$controllers -v driver="$driver" -v prefix="$1" 'BEGIN {
			printf "%smem/controller %s %.1f\n", prefix, driver, one / n
			printf "%smem/queue %s %.1f\n", prefix, driver, (four - one) / n / 3 }' >> /results/mem
	done
	kill %%
	wait
}

modprobe -a nvmeof_tcp nvmeof_rdma nvme-tcp nvme-rdma
intree_identity
rdma_card
transport=tcp address=127.0.0.1
measure ''
transport=rdma address=10.60.0.1
measure rdma/
