# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --accel icount --shift 0 --smp 2 --memory 4G --no-checks --timeout 1800
# A thousand namespaces: seconds from connect until the disks exist, with a latency of 50 ms for each answer, and from
# disconnect until they are removed, without that latency. Each driver has its own subsystem with one path, and all
# namespaces are on one null_blk. Writes /results/ns: CASE DRIVER SECONDS.
# shellcheck source=qemu/bench/stack.sh
. /nvmeof/add/stack.sh

namespaces=1000 delay=50ms

# more STACK: adds all namespaces but the first one
more() {
	local nsid
	for ((nsid = 2; nsid <= namespaces; nsid++)); do
		target_namespace "$(nqn_of "$1")" "$nsid" /dev/nullb0 \
			"00000000-0000-4000-8000-$(printf "%04x%08x" "$(index "$1")" "$nsid")"
	done
}

# heads STACK COUNT: so many disks exist. The names of the in-tree driver's hidden path devices contain a c.
heads() {
	local disk count=0
	for disk in /sys/block/"$(prefix_of "$1")"[0-9]*n*[0-9]; do
		case $disk in
		*/nvme[0-9]*c* | *'*'*) ;;
		*) count=$((count + 1)) ;;
		esac
	done
	[ $count = "$2" ]
}

leave() {
	case $1 in
	ours) nvmeofctl disconnect --force -n "$(nqn_of ours)" ;;
	*) nvme disconnect -n "$(nqn_of "$1")" ;;
	esac > /run/leave.out
}

record() {
	local seconds
	seconds=$(elapsed "$3")
	echo "bench: ns/$1-$namespaces $2: $seconds s"
	echo "ns/$1-$namespaces $2 $seconds" >> /results/ns
}

round() {
	local begin
	tc -n "${1}1" qdisc replace dev far root netem limit 100000 delay $delay
	begin=$(now)
	connect_path "$1" 1
	wait_for 900 heads "$1" $namespaces
	record scan "$1" "$begin"
	tc -n "${1}1" qdisc del dev far root
	sleep 10 # partition tables are read
	begin=$(now)
	leave "$1"
	wait_for 900 heads "$1" 0
	record remove "$1" "$begin"
}

modprobe null_blk nr_devices=1 gb=1 queue_mode=2 irqmode=0
modprobe -a veth sch_netem
target_modules
for driver in $DRIVERS; do
	load_driver "$driver"
	make_target "$driver" 1 /dev/nullb0
	more "$driver"
done
for driver in $DRIVERS; do round "$driver"; done
