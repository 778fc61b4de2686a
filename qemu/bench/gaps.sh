# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --accel icount --shift 0 --smp 2 --memory 2G --no-checks --timeout 1800
# The longest interval between completions of a load with one I/O at a time, when its path fails or changes. Two paths,
# the default policy and default timeouts, except for the stack "tuned". The clock counts instructions, so other load on
# the host does not lengthen a gap.
# Rounds alternate between reads and writes; round 0 is a warm-up. Case "none" has no event and shows the noise of the
# measurement. Writes /results/gaps: CASE STACK LONGEST_MS ERRORS ROUND.
# shellcheck source=qemu/bench/stack.sh
. /nvmeof/add/stack.sh

direction() {
	if ((round % 2)); then echo read; else echo write; fi
}

# Waits until both paths are live and the target has freed the queues of the lost one.
settle() {
	patiently 90 live "$1" 2
	sleep 0.5
}

no_event() {
	iogap "${device[$1]}" "$2" 0.1 > /run/gap
	record none "$1" "${2}s"
}

ana_change() {
	local path
	path=$(busy_path "$1")
	iogap -w "$(ana_file "$1" "$path")=inaccessible" "${device[$1]}" "$2" 0.1 > /run/gap
	record ana "$1" "${2}s on path $path"
	echo optimized > "$(ana_file "$1" "$path")"
	settle "$1"
}

port_removed() {
	local path
	path=$(busy_path "$1")
	iogap -u "$(shown "$1" "$path")" "${device[$1]}" "$2" 0.1 > /run/gap
	record removed "$1" "${2}s on path $path"
	show_port "$1" "$path"
	settle "$1"
}

# silent CASE STACK DIRECTION BEGIN END: an interval of 100 ms or more is the gap. Reads and writes are separate: an
# outstanding read is retried at once, a write only when the target must have ended the association (fencing=auto, the
# default).
silent() {
	local path
	path=$(busy_path "$2")
	iogap -t 500 -e 100 "${device[$2]}" "$3" 60 > /run/gap &
	sleep 0.05
	"$4" "$2" "$path"
	wait $!
	record "$1-$3" "$2" "${3}s on path $path"
	"$5" "$2" "$path"
	settle "$2"
}

# Only the carrier of the near end goes down; TCP is not notified.
link_down() {
	ip -n "$1$2" link set far down
}

link_up() {
	ip -n "$1$2" link set far up
}

# Drops packets in both directions.
lose_all() {
	tc qdisc add dev "$1$2" root netem loss 100%
	tc -n "$1$2" qdisc add dev far root netem loss 100%
}

lose_none() {
	tc qdisc del dev "$1$2" root
	tc -n "$1$2" qdisc del dev far root
}

# Drops packets in one direction: those that arrive at the target's end. The target's own packets still get out.
deafen() {
	tc -n "$1$2" qdisc add dev far ingress
	tc -n "$1$2" filter add dev far parent ffff: matchall action drop
}

undeafen() {
	tc -n "$1$2" qdisc del dev far ingress
}

# Stops the target's process: its TCP stack acknowledges data, but no command completes, Keep Alive included. nvmet
# cannot be stopped, so a relay in front of it is.
freeze() {
	ip netns pids "$1$2" | xargs kill -STOP
}

thaw() {
	ip netns pids "$1$2" | xargs kill -CONT
}

connect_by_relays() {
	local path
	disconnect_stack "$1"
	for path in 1 2; do
		ip -n "$1$path" link set lo up
		far "$1" "$path" busybox nc -ll -p 4421 -e busybox nc "$(address_of "$1" "$path")" 4420 &
	done
	sleep 0.1
	service=4421
	connect_stack "$1" 2
}

# blip MS STACK DIRECTION: all packets are lost for this time. TCP then retransmits.
blip() {
	local path
	path=$(busy_path "$2")
	iogap -t 500 "${device[$2]}" "$3" 5 > /run/gap &
	sleep 0.05
	lose_all "$2" "$path"
	wait_ms "$1"
	lose_none "$2" "$path"
	wait $!
	record "blip-${1}ms-$3" "$2" "${3}s on path $path"
	settle "$2"
}

modprobe null_blk nr_devices=3 gb=1 bs=4096 queue_mode=2 irqmode=0 completion_nsec=0 submit_queues=1 hw_queue_depth=256
modprobe -a veth sch_netem sch_ingress cls_matchall act_gact
target_modules
stacks=$DRIVERS
case " $DRIVERS " in *' intree '*) stacks+=' tuned' ;; esac
for stack in $stacks; do
	make_target "$stack" 2 "/dev/nullb$(($(index "$stack") - 1))"
	connect_stack "$stack" 2
done
# Messages on the emulated serial line would take time.
dmesg -n 1
for round in $(seq 0 "$GAP_REPS"); do
	for stack in $DRIVERS; do
		no_event "$stack" "$(direction)"
		ana_change "$stack" "$(direction)"
		port_removed "$stack" "$(direction)"
	done
done
for round in $(seq "$GAP_REPS"); do
	for stack in $stacks; do
		silent silent-down "$stack" "$(direction)" link_down link_up
		silent silent-loss "$stack" "$(direction)" lose_all lose_none
		silent silent-oneway "$stack" "$(direction)" deafen undeafen
	done
	for stack in $DRIVERS; do
		for ms in 200 600 1500; do blip "$ms" "$stack" "$(direction)"; done
	done
done
for stack in $DRIVERS; do connect_by_relays "$stack"; done
for round in $(seq "$GAP_REPS"); do
	for stack in $DRIVERS; do silent frozen "$stack" "$(direction)" freeze thaw; done
done
