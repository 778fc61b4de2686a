# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --accel icount --smp 4 --memory 4G --no-checks --timeout 900
# Seconds until all disks of 50 subsystems with two ports each are there: nvmeofctl connect-all with the discovery
# services of both ports, and `nvme connect-all` with one after the other. Then seconds that a log of 1,001 entries
# takes to be read and printed. Writes /results/discovery: CASE DRIVER SECONDS.

subsystems=50
entries=1000
nqn=nqn.2024-01.io.example:disk

# uuid_of N
uuid_of() {
	printf '00000000-0000-4000-8000-%012d' "$1"
}

# disks PREFIX: of the driver whose disks are called so, hidden ones of single paths not counted
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
