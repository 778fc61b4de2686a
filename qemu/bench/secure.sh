# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --accel icount --shift 0 --smp 4 --memory 20G --no-checks --timeout 1800
# With authentication and TLS, on a network that delays each packet by 5 ms: seconds until 16 controllers with 4 I/O
# queues each are live, and the longest time without a completed read while the host's key is changed. One call of
# nvmeofctl makes all connections of this driver; those of the in-tree driver are written to /dev/nvme-fabrics one after
# the other, as nvme-cli does. An instruction takes 1 ns. With this memory, the target lets 50 handshakes wait. Writes
# /results/connect: CASE DRIVER SECONDS, and /results/gaps: CASE DRIVER MS.

# shellcheck source=qemu/bench/stack.sh
. /nvmeof/add/stack.sh

controllers=16

# connect_ours OPTION...
connect_ours() {
	local i list=()
	for i in $(seq $controllers); do list+=(-a "10.8.0.2:$((base + i))"); done
	nvmeofctl connect -n "$(nqn_of ours)" "${list[@]}" --nr-io-queues 4 --keep-alive-tmo 30 --wait=ctrl "$@" \
		2>&1 > /run/connect.out
}

# connect_intree TEXT: further options of the in-tree driver
connect_intree() {
	local i
	for i in $(seq $controllers); do
		printf 'nqn=%s,transport=tcp,traddr=10.8.0.2,trsvcid=%s,hostnqn=%s,hostid=%s%s' "$(nqn_of intree)" \
			$((base + i)) "$host" "$hostid" ",nr_io_queues=4,keep_alive_tmo=30$1" > /dev/nvme-fabrics
	done
}

# timed CASE PORT "OPTIONS OF OURS" "OPTIONS OF IN-TREE": ports from PORT + 1 on
timed() {
	local case=$1 base=$2 rep driver begin seconds
	for rep in $(seq 0 "$REPS"); do
		for driver in $DRIVERS; do
			begin=$(now)
			# shellcheck disable=SC2086 # words
			case $driver in
			ours) connect_ours $3 ;;
			intree) connect_intree "$4" ;;
			esac
			seconds=$(elapsed "$begin")
			live "$driver" $controllers || fail "$case: not all controllers of $driver are live"
			echo "bench: $case, round $rep: $driver $seconds s"
			# round 0 also loads modules
			[ "$rep" = 0 ] || echo "$case $driver $seconds" >> /results/connect
			disconnect_stack "$driver"
			sleep 3
		done
	done
}

# rotate DRIVER FILE: gives the host's new key to the driver, whose controller authenticates again
rotate() {
	local entry nqn
	case $1 in
	ours) nvmeofctl set "$(basename "${device[ours]}" | sed 's/n1$/c1/')" "dhchap-key=$2" > /run/set.out ;;
	intree)
		for entry in /sys/class/nvme/nvme*; do
			read -r nqn < "$entry/subsysnqn"
			if [ "$nqn" = "$(nqn_of intree)" ]; then cat "$2" > "$entry/dhchap_secret"; fi
		done
		;;
	esac
}

# rotation DRIVER: reads while the key changes, on one controller
rotation() {
	local gap key=/run/next-$1.key base=5000 controllers=1 background
	case $1 in
	ours) connect_ours --dhchap-key /run/host.key ;;
	intree) connect_intree ",dhchap_secret=$(cat /run/host.key)" ;;
	esac
	find_disk "$1"
	iogap "${device[$1]}" read 6 > /run/gap &
	background=$!
	sleep 2
	nvmeofctl key generate --output "$key" > /run/key.out
	cat "$key" > "$nvmet/hosts/$host/dhchap_key"
	rotate "$1" "$key"
	wait $background
	read -r gap _ errors < /run/gap
	[ "$errors" = 0 ] || fail "$1: $errors I/O errors"
	echo "auth/rotation-gap $1 $gap" >> /results/gaps
	disconnect_stack "$1"
	rm "$key"
	cat /run/host.key > "$nvmet/hosts/$host/dhchap_key"
	sleep 2
}

modprobe null_blk nr_devices=2 gb=1 bs=4096 queue_mode=2 irqmode=0
modprobe -a tls nvme-keyring nvmeof_tcp nvme-tcp
target_modules
intree_identity
host=$(cat /etc/nvme/hostnqn)
hostid=$(cat /etc/nvme/hostid)
nvmeofctl key generate --output /run/host.key > /run/key.out
nvmeofctl key generate --tls --output /run/tls.key > /run/key.out
# the target, with an agent of its own, is in a network namespace
ip netns add target
ip link add near type veth peer name far netns target
ip addr add 10.8.0.1/24 dev near
ip link set near up
ip -n target addr add 10.8.0.2/24 dev far
ip -n target link set far up
nvmeof-tlsd 2> /run/tlsd.log &
ip netns exec target nvmeof-tlsd 2> /run/target-tlsd.log &
sleep 1
mkdir "$nvmet/hosts/$host"
cat /run/host.key > "$nvmet/hosts/$host/dhchap_key"
echo 'hmac(sha256)' > "$nvmet/hosts/$host/dhchap_hash"
n=0
for driver in $DRIVERS; do
	nqn=$(nqn_of "$driver")
	target_subsystem "$nqn"
	target_namespace "$nqn" 1 "/dev/nullb$n" "$(uuid_of "$driver")"
	n=$((n + 1))
done
# plain ports from 5001, and ports with TLS from 6001
for i in $(seq $controllers); do
	target_port "$i" 10.8.0.2 $((5000 + i))
	target_port $((100 + i)) 10.8.0.2 $((6000 + i))
	echo tls1.3 > "$nvmet/ports/$((100 + i))/addr_tsas"
	for driver in $DRIVERS; do
		nqn=$(nqn_of "$driver")
		for n in "$i" $((100 + i)); do
			nsenter --net=/run/netns/target ln -s "$nvmet/subsystems/$nqn" "$nvmet/ports/$n/subsystems/$nqn"
		done
	done
done
nvmeofctl key insert /run/tls.key -q "$host" -n "$(nqn_of intree)" --json > /run/key.json
key=$(sed -n 's/.*"serial": *\([0-9]*\).*/\1/p' /run/key.json)
tc qdisc add dev near root netem delay 5ms limit 100000
tc -n target qdisc add dev far root netem delay 5ms limit 100000

timed connect/16 5000 "" ""
timed tls/connect/16 6000 "--tls-key /run/tls.key" ",tls,tls_key=$key"
for driver in $DRIVERS; do
	nqn=$(nqn_of "$driver")
	echo 0 > "$nvmet/subsystems/$nqn/attr_allow_any_host"
	ln -s "$nvmet/hosts/$host" "$nvmet/subsystems/$nqn/allowed_hosts/$host"
done
secret=$(cat /run/host.key)
# The groups of Diffie-Hellman only add work of the CPUs, which all run on one here.
echo null > "$nvmet/hosts/$host/dhchap_dhgroup"
timed auth/connect/16 5000 "--dhchap-key /run/host.key" ",dhchap_secret=$secret"
timed tls-auth/connect/16 6000 "--tls-key /run/tls.key --dhchap-key /run/host.key" \
	",tls,tls_key=$key,dhchap_secret=$secret"
for round in $(seq "$REPS"); do
	echo "bench: rotation, round $round"
	for driver in $DRIVERS; do rotation "$driver"; done
done
