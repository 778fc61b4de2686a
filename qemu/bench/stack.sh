# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced by jobs that compare drivers. A stack is a driver with its own subsystem. Its name is one of
#   ours    this driver
#   intree  the in-tree driver
#   tuned   the in-tree driver with a keep-alive of 1 s
# With make_target, each stack has its own links to its own ports, so events on one stack do not affect the others. Path
# N of a stack is a veth pair: STACKN on the host's side, and "far" in the network namespace STACKN, where nvmet's port
# listens.
# shellcheck source=qemu/guest/lib.sh
. /nvmeof/guest/lib.sh

# index STACK: its number, for addresses, ports and devices.
index() {
	case $1 in ours) echo 1 ;; intree) echo 2 ;; tuned) echo 3 ;; esac
}

nqn_of() {
	echo "nqn.2024-01.io.example:$1"
}

uuid_of() {
	echo "00000000-0000-4000-8000-00000000010$(index "$1")"
}

# Of its disks and its classes in sysfs
prefix_of() {
	case $1 in ours) echo nvmeof ;; *) echo nvme ;; esac
}

# The job sets net to 127 for ports on the loopback device, without links of their own.
net=10
address_of() {
	echo "$net.$(index "$1").$2.2"
}

port_of() {
	echo $(($(index "$1") * 100 + $2))
}

# far STACK PATH COMMAND...: runs the command in the network namespace of the target's end.
far() {
	local ns=/run/netns/$1$2
	shift 2
	nsenter --net="$ns" "$@"
}

make_link() {
	local name=$1$2
	ip netns add "$name"
	ip link add "$name" type veth peer name far netns "$name"
	ip addr add "$net.$(index "$1").$2.1/24" dev "$name"
	ip link set "$name" up
	ip -n "$name" addr add "$(address_of "$1" "$2")/24" dev far
	ip -n "$name" link set far up
}

# shown STACK PATH: the configfs link by which a port serves the subsystem; its removal disables the port.
shown() {
	echo "$nvmet/ports/$(port_of "$1" "$2")/subsystems/$(nqn_of "$1")"
}

# nvmet creates the listening socket in the network namespace of the process that creates the link.
show_port() {
	if [ $net = 127 ]; then target_link "$(port_of "$1" "$2")" "$(nqn_of "$1")"; return; fi
	far "$1" "$2" ln -s "$nvmet/subsystems/$(nqn_of "$1")" "$(shown "$1" "$2")"
}

ana_file() {
	echo "$nvmet/ports/$(port_of "$1" "$2")/ana_groups/1/ana_state"
}

# make_target STACK PATHS DEVICE
make_target() {
	local path
	target_subsystem "$(nqn_of "$1")"
	target_namespace "$(nqn_of "$1")" 1 "$3" "$(uuid_of "$1")"
	for path in $(seq "$2"); do
		[ $net = 127 ] || make_link "$1" "$path"
		target_port "$(port_of "$1" "$path")" "$(address_of "$1" "$path")" 4420
		show_port "$1" "$path"
	done
}

load_driver() {
	case $1 in
	ours) modprobe nvmeof_tcp ;;
	*)
		[ ! -e /dev/nvme-fabrics ] || return 0
		modprobe nvme-tcp
		[ "$(cat /sys/module/nvme_core/parameters/multipath)" = Y ] || fail "nvme_core has no native multipath"
		intree_identity
		;;
	esac
}

service=4420
# further options of each connect, the same for both drivers
connect_options=()
# connect_to STACK TRANSPORT ADDRESS
connect_to() {
	local where=(-t "$2" -n "$(nqn_of "$1")" -a "$3" -s $service "${connect_options[@]}")
	case $1 in
	ours) nvmeofctl connect "${where[@]}" --wait=ns ;;
	intree) nvme connect "${where[@]}" ;;
	tuned) nvme connect "${where[@]}" -k 1 ;;
	esac > /run/connect.out
}

connect_path() {
	connect_to "$1" tcp "$(address_of "$1" "$2")"
}

# live STACK COUNT: so many of its controllers are live, with their I/O queues.
live() {
	local ctrl nqn state n=0
	for ctrl in "/sys/class/$(prefix_of "$1")"/*; do
		{ read -r nqn < "$ctrl/subsysnqn" && read -r state < "$ctrl/state"; } 2> /run/live.err || continue
		if [ "$nqn" = "$(nqn_of "$1")" ] && [ "$state" = live ]; then n=$((n + 1)); fi
	done
	[ $n = "$2" ]
}

# patiently SECONDS COMMAND...: wait_for with longer pauses: a reconnect takes seconds, and polling costs emulation
# time.
patiently() {
	pause=0.3 wait_for "$@"
}

# find_disk STACK: sets device[STACK]
declare -A device
find_disk() {
	patiently 30 by_uuid "$(uuid_of "$1")" "$(prefix_of "$1")" > /run/found
	device[$1]=$(by_uuid "$(uuid_of "$1")" "$(prefix_of "$1")")
	echo "bench: $1 is ${device[$1]}"
}

# connect_stack STACK PATHS: connects up to so many paths, existing ones included.
declare -A connected
connect_stack() {
	local path
	load_driver "$1"
	for path in $(seq $((${connected[$1]:-0} + 1)) "$2"); do connect_path "$1" "$path"; done
	connected[$1]=$2
	patiently 30 live "$1" "$2"
	find_disk "$1"
}

# connect_STACK: over the loopback device. A job may define its own.
connect_ours() {
	load_driver ours
	connect_to ours tcp 127.0.0.1
}

connect_intree() {
	load_driver intree
	connect_to intree tcp 127.0.0.1
}

connect_tuned() {
	connect_tuned_to 127.0.0.1
	find_disk tuned
	no_scheduler tuned
}

# share_port STACK...: serves a null_blk device for each stack behind port 1, and connects it by connect_STACK.
share_port() {
	local stack n=0
	for stack; do
		target_subsystem "$(nqn_of "$stack")"
		target_namespace "$(nqn_of "$stack")" 1 "/dev/nullb$n" "$(uuid_of "$stack")"
		target_link 1 "$(nqn_of "$stack")"
		n=$((n + 1))
		"connect_$stack"
		find_disk "$stack"
	done
}

# with_tuned: the stacks of $DRIVERS, and "tuned" if "intree" is one of them
with_tuned() {
	case " $DRIVERS " in
	*' intree '*) echo "$DRIVERS tuned" ;;
	*) echo "$DRIVERS" ;;
	esac
}

# sample CASE read|write BLOCKSIZE DEPTH COUNT ORDER SUBMISSION: one section of the plugin's output for each of the
# job's $drivers, in $round
sample() {
	local driver
	for driver in $drivers; do
		iocount "${device[$driver]}" "${@:2}" > /run/rate
		echo "$1 $driver $5 $round" >> /run/samples
	done
}

# The in-tree driver as its users tune it: no SQ flow control, and no I/O scheduler for the hidden disk of the path
connect_tuned_to() {
	nvme connect -t tcp -n "$(nqn_of tuned)" -a "$1" -s $service --disable-sqflow "${connect_options[@]}" \
		> /run/connect.out
}

# For figures of the host alone: the host is on CPU 0, the target on CPU 1. The target serves a queue on the CPU that
# receives its packets. The host's I/O queue is that of the CPU.
split_cpus() {
	echo 1 > "/sys/class/net/${1}1/queues/rx-0/rps_cpus"
	# sysfs shows the interfaces of the network namespace in which it was mounted
	mkdir -p /run/sys
	far "$1" 1 mount -t sysfs s /run/sys
	echo 2 > /run/sys/class/net/far/queues/rx-0/rps_cpus
	umount /run/sys
}

# Targets of all of $stacks on null_blk devices, each behind its veth link
make_alone() {
	local stack
	modprobe veth
	target_modules
	for stack in $stacks; do
		make_target "$stack" 1 "/dev/nullb$(($(index "$stack") - 1))"
		split_cpus "$stack"
	done
}

# Connects all of $stacks by their veth links
connect_alone() {
	local stack
	for stack in $stacks; do
		if [ "$stack" = tuned ]; then
			load_driver tuned
			connect_tuned_to "$(address_of tuned 1)"
			connected[tuned]=1
		fi
		connect_stack "$stack" 1
	done
	no_scheduler tuned
}

# sample_alone CASE read|write BLOCKSIZE DEPTH COUNT ORDER SUBMISSION [huge]: as sample(), for the host alone
sample_alone() {
	local stack
	for stack in $stacks; do
		taskset -c 0 iocount "${device[$stack]}" "${@:2}" > /run/rate
		echo "host/$1 $stack $5 $round" >> /run/samples
	done
}

# Puts the samples, and the symbols of the kernel, where the report finds them
end_samples() {
	cp /run/samples /results/samples
	grep -i ' [tw] ' /proc/kallsyms > /results/symbols
}

disconnect_stack() {
	case $1 in
	ours) nvmeofctl disconnect --all ;;
	*) nvme disconnect -n "$(nqn_of "$1")" ;;
	esac > /run/disconnect.out
	connected[$1]=0
}

subsystem_of() {
	local entry nqn
	for entry in "/sys/class/$(prefix_of "$1")-subsystem"/*; do
		read -r nqn < "$entry/subsysnqn"
		[ "$nqn" != "$(nqn_of "$1")" ] || { echo "$entry"; return; }
	done
	return 1
}

# no_scheduler STACK: the in-tree driver's hidden disks, one for each path, have a scheduler by default
no_scheduler() {
	local disk nqn
	[ -n "${device[$1]:-}" ] || return 0
	for disk in /sys/block/nvme[0-9]*c[0-9]*n[0-9]*; do
		read -r nqn < "$disk/device/subsysnqn"
		[ "$nqn" != "$(nqn_of "$1")" ] || echo none > "$disk/queue/scheduler"
	done
}

set_policy() {
	echo "$2" > "$(subsystem_of "$1")/iopolicy"
}

# wait_ms MS
wait_ms() {
	sleep "$(printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000)))"
}

# record CASE STACK WHERE: adds the gap that iogap measured in this round to /results/gaps
record() {
	local longest ios errors
	read -r longest ios errors < /run/gap
	echo "bench: $1 $2, round $round, $3: $longest ms, $ios I/Os, $errors errors"
	echo "$1 $2 $longest $errors $round" >> /results/gaps
}

sent_on() {
	cat "/sys/class/net/$1$2/statistics/tx_packets"
}

# busy_path STACK: the path of the two that a load uses.
busy_path() {
	local before1 before2
	before1=$(sent_on "$1" 1) before2=$(sent_on "$1" 2)
	iogap "${device[$1]}" read 0.005 > /run/gap
	if (($(sent_on "$1" 1) - before1 > $(sent_on "$1" 2) - before2)); then echo 1; else echo 2; fi
}
