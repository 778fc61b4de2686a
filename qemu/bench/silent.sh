# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --peer --smp 1 --memory 1G --no-checks --timeout 1500
# The longest interval between completions of 4 KiB reads, one at a time, when the link in use goes silent: two links to
# a target in another guest, default policy and timeouts, except for the stack "tuned" (stack.sh). The cable is pulled
# at the target's end, so that the host sees no change of carrier; other cases lose all packets for a while. One stack
# is connected at a time, over TCP and over RDMA. The clock is that of the machine, so other load affects the result.
# Writes /results/gaps: TRANSPORT STACK LONGEST_MS ERRORS ROUND.
# shellcheck source=qemu/bench/stack.sh
. /nvmeof/add/stack.sh

peer=/nvmeof/guest/peer

# Every stack has a subsystem, which is exported by the ports of both transports on both cards.
make_there() {
	local stack number transport
	$peer run 'cards_up rdma; modprobe -a nvmet-tcp nvmet-rdma; modprobe null_blk nr_devices=3 gb=1 bs=4096'
	for stack in $stacks; do
		number=$(index "$stack")
		$peer run "target_subsystem $(nqn_of "$stack")
			target_namespace $(nqn_of "$stack") 1 /dev/nullb$((number - 1)) $(uuid_of "$stack")"
	done
	number=0
	for transport in tcp rdma; do
		for path in 1 2; do
			number=$((number + 1))
			$peer run "target_port $number 10.70.$path.2 4420 $transport"
			for stack in $stacks; do $peer run "target_link $number $(nqn_of "$stack")"; done
		done
	done
}

# connect_there STACK TRANSPORT
connect_there() {
	local path
	for path in 1 2; do connect_to "$1" "$2" "10.70.$path.2"; done
	patiently 30 live "$1" 2
	patiently 30 by_uuid "$(uuid_of "$1")" "$(prefix_of "$1")" > /run/found
	disk=$(by_uuid "$(uuid_of "$1")" "$(prefix_of "$1")")
}

# busy_card: the card that the current reads use
busy_card() {
	local before1 before2
	before1=$(sent_on card 1) before2=$(sent_on card 2)
	sleep 0.2
	if (($(sent_on card 1) - before1 > $(sent_on card 2) - before2)); then echo 1; else echo 2; fi
}

# silence STACK TRANSPORT: an interval of 150 ms or more is the gap.
silence() {
	local card
	iogap -t 500 -e 150 "$disk" read 60 > /run/gap &
	sleep 0.3
	card=$(busy_card)
	$peer pull "$card"
	wait $!
	$peer plug "$card"
	record_card "$2" "$1" "$card"
}

# record_card CASE STACK CARD; then waits for both paths
record_card() {
	record "$1" "$2" "card $3"
	patiently 90 live "$2" 2
	sleep 0.5
}

# The qdisc exists from the beginning: sending fails while one is exchanged, which puts rxe's queue pairs into the error
# state for good, the connection manager's included. The carrier stays up, too: without it a target forgets its
# neighbours, and may need a second to resolve them again.
may_lose() {
	tc qdisc add dev "card$1" root netem loss 0%
}

# lose_all CARD: drops packets in both directions
lose_all() {
	tc qdisc change dev "card$1" root netem loss 100%
	tc qdisc add dev "card$1" ingress
	tc filter add dev "card$1" ingress matchall action drop
}

lose_none() {
	tc qdisc del dev "card$1" ingress
	tc qdisc change dev "card$1" root netem loss 0%
}

# blip MS DIRECTION STACK TRANSPORT: all packets are lost for this time
blip() {
	local card
	iogap -t 500 "$disk" "$2" 6 > /run/gap &
	sleep 0.3
	card=$(busy_card)
	lose_all "$card"
	wait_ms "$1"
	lose_none "$card"
	wait $!
	record_card "$4-blip-${1}ms-$2" "$3" "$card"
}

# removal DIRECTION STACK: removes the RDMA device in use; the link and the other device stay
removal() {
	local card
	iogap -t 500 "$disk" "$1" 3 > /run/gap &
	sleep 0.3
	card=$(busy_card)
	rdma link delete "card$card"
	wait $!
	rdma link add "card$card" type rxe netdev "card$card"
	# the in-tree driver deletes the controller
	[ "$2" = ours ] || connect_to "$2" rdma "10.70.$card.2"
	record_card "rdma-removal-$1" "$2" "$card"
}

cards_up rdma
modprobe -a sch_netem sch_ingress cls_matchall act_gact
for card in 1 2; do may_lose "$card"; done
stacks=$DRIVERS
case " $DRIVERS " in *' intree '*) stacks+=' tuned' ;; esac
make_there
modprobe -a nvmeof_tcp nvmeof_rdma
case " $DRIVERS " in
*' intree '*)
	modprobe -a nvme-tcp nvme-rdma
	intree_identity
	;;
esac
dmesg -n 1
for stack in $stacks; do
	for transport in tcp rdma; do
		connect_there "$stack" "$transport"
		for round in $(seq "$GAP_REPS"); do silence "$stack" "$transport"; done
		[ "$stack" = tuned ] || for round in $(seq $(((GAP_REPS + 1) / 2))); do
			for way in read write; do
				for ms in 200 600 1500; do blip "$ms" "$way" "$stack" "$transport"; done
				[ "$transport" = tcp ] || removal "$way" "$stack"
			done
		done
		disconnect_stack "$stack"
	done
done
