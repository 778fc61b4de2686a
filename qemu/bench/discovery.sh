# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --accel icount --smp 4 --memory 4G --no-checks --timeout 900
# Seconds until all disks of 50 subsystems with two ports each exist: nvmeofctl connect-all with the discovery services
# of both ports, and `nvme connect-all` with one after the other. Seconds to read and print a log of 1,001 entries. For
# nvmeofd alone, seconds from a change at the target until I/O completes on the new path, and the daemon's memory with
# 400 connections. Writes /results/discovery: CASE DRIVER SECONDS, and /results/daemon: CASE DRIVER KIB.

subsystems=50
entries=1000
nqn=nqn.2024-01.io.example:disk

# uuid_of N
uuid_of() {
	printf '00000000-0000-4000-8000-%012d' "$1"
}

# disks PREFIX: number of disks with this name prefix, without the hidden ones of single paths
disks() {
	local disk n=0
	for disk in /sys/block/"$1"[0-9]*n[0-9]*; do
		[[ ! -e $disk/hidden || $(< "$disk/hidden") = 1 ]] || n=$((n + 1))
	done
	echo $n
}

all_there() {
	[ "$(disks "$1")" -ge $subsystems ]
}

# live CLASS
live() {
	cat /sys/class/"$1"/*/state 2> /dev/null | grep -cx live
}

connect_ours() {
	nvmeofctl connect-all -a 127.0.0.1:4420 -a 127.0.0.1:4421 -i 2 > /run/connect.out
	wait_for 60 all_there nvmeof
}

connect_intree() {
	nvme connect-all -t tcp -a 127.0.0.1 -s 4420 -i 2 > /run/connect.out
	nvme connect-all -t tcp -a 127.0.0.1 -s 4421 -i 2 >> /run/connect.out
	wait_for 60 all_there nvme
}

disconnect() {
	case $1 in
	ours) nvmeofctl disconnect-all ;;
	intree) nvme disconnect-all ;;
	esac > /run/disconnect.out
	sleep 3 # the target tears its queues down in the background
}

log() {
	case $1 in
	ours) nvmeofctl discover -a 127.0.0.1:4430 ;;
	intree) nvme discover -t tcp -a 127.0.0.1 -s 4430 ;;
	esac > /run/log.out
}

# rounds CASE: with "connect" or "log"
rounds() {
	local rep driver begin seconds class
	for rep in $(seq "$REPS"); do
		for driver in $DRIVERS; do
			class=nvme
			[ "$driver" = intree ] || class=nvmeof
			begin=$(now)
			if [ "$1" = connect-all ]; then "connect_$driver"; else log "$driver"; fi
			seconds=$(elapsed "$begin")
			echo "bench: round $rep: $1 $driver $seconds s"
			echo "discovery/$1 $driver $seconds" >> /results/discovery
			[ "$1" = connect-all ] || continue
			[ "$(live $class)" = $((2 * subsystems)) ] || fail "not all controllers of $driver are live"
			disconnect "$driver"
		done
	done
}

modprobe null_blk nr_devices=1 gb=1 queue_mode=2 irqmode=0
target_modules
target_port 1 127.0.0.1 4420
target_port 2 127.0.0.1 4421
target_port 3 127.0.0.1 4430
for i in $(seq $subsystems); do
	target_subsystem $nqn"$i"
	target_namespace $nqn"$i" 1 /dev/nullb0 "$(uuid_of "$i")"
	target_link 1 $nqn"$i"
	target_link 2 $nqn"$i"
done
for i in $(seq $entries); do
	target_subsystem $nqn-log"$i"
	target_link 3 $nqn-log"$i"
done
for driver in $DRIVERS; do
	case $driver in
	ours) modprobe nvmeof_tcp ;;
	intree) modprobe nvme-tcp; intree_identity ;;
	esac
done
rounds connect-all
rounds log1001

# follow CONFIGURATION: starts the daemon
follow() {
	printf '%s\n' '[limits]' 'own-addresses = true' 'paths-per-subsystem = 400' "$@" > /run/nvmeofd.toml
	nvmeofd --config /run/nvmeofd.toml --state /run/nvmeofd --lock /run/nvmeofd.lock > /run/nvmeofd.log 2>&1 &
	daemon=$!
}

unfollow() {
	kill $daemon
	wait $daemon || true
	disconnect ours
}

service() {
	printf '[[discovery]]\naddress = "127.0.0.1:%s"\n' "$1"
}

# fresh_io: a read from a disk that is not in $known has completed. Shell builtins only, which cost little.
fresh_io() {
	local disk
	for disk in /sys/block/nvmeof[0-9]*n[0-9]*; do
		[[ $known == *" $disk "* || ! -b /dev/${disk##*/} ]] && continue
		dd if="/dev/${disk##*/}" of=/dev/null bs=4k count=1 iflag=direct 2> /run/dd.out || return
		known+="$disk "
		return
	done
	false
}

change_to_path() {
	local rep begin
	target_port 4 127.0.0.1 4440
	target_link 4 ${nqn}1
	follow "$(service 4440)"
	known=' '
	wait_for 20 fresh_io
	for rep in $(seq $((5 * REPS))); do
		begin=$(now)
		target_link 4 $nqn$((1 + rep))
		until fresh_io; do sleep 0.001; done
		echo "discovery/change-to-path ours $(elapsed "$begin")" >> /results/discovery
	done
	unfollow
}

daemon_memory() {
	ulimit -n 16384 # 400 ports and four descriptors for each connection
	/nvmeof/add/nvmeof-target -a 127.0.0.1 -p 6000 -P 400 -n $nqn-many > /run/target.out &
	sleep 2
	follow "$(service 6000)" '[[defaults]]' 'nqn = "*"' 'nr-io-queues = 1'
	wait_for 300 eval '[ "$(live nvmeof)" -ge 401 ]'
	sleep 2
	awk '/^VmRSS/ { print "discovery/daemon-rss ours " $2 }' /proc/$daemon/status > /results/daemon
	awk '/^(Rss|Pss)/' /proc/$daemon/smaps_rollup
	unfollow
	kill %%
}

case " $DRIVERS " in *" ours "*)
	change_to_path
	daemon_memory
	;;
esac
