# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --quiet-driver --timeout 400
# The output of `make demo-gds`: a machine with two sockets, eight switches, four network cards and 16 drives
# (qemu/topology); the paths between its GPUs and its storage; a stripe over all drives under verified load while a
# network goes silent; and the sizing of such a system. There is no GPU: cards without a driver take the place of four.
# The target half of the machine is in a network namespace: nic2 and nic3, and the drives exported by nvmet. Lines that
# begin with "demo: " are the output for the user.

# shellcheck source=qemu/demo/steps.sh
. /nvmeof/add/steps.sh

jbof=nqn.2024-01.io.example:jbof
config=/run/demo/nvmeof.toml

# Shows a command that a user might type, and its output; its exit status is in $status.
show_any() {
	say "   \$ $*"
	status=0
	"$@" > /run/shown 2>&1 || status=$?
	indent < /run/shown
}

show() {
	show_any "$@"
	[ "$status" = 0 ] || fail "'$*' failed"
}

# devices VENDOR DEVICE: PCI addresses behind the two root complexes
devices() {
	local one
	for one in /sys/bus/pci/devices/0000:[2-9a-f]*; do
		[ "$(cat "$one/vendor") $(cat "$one/device")" != "0x$1 0x$2" ] || echo "${one##*/}"
	done
}

# interface CARD: name of the interface of this card number
interface() {
	basename /sys/bus/pci/devices/"${cards[$1]}"/virtio*/net/*
}

# cable N: connects card N with card N+2, which belongs to the target's side
cable() {
	local near far
	near=$(interface "$1") far=$(interface $(($1 + 2)))
	ip link set "$far" netns target
	ip addr add "10.9$1.0.1/24" dev "$near"
	ip link set "$near" up
	ip -n target addr add "10.9$1.0.2/24" dev "$far"
	ip -n target link set "$far" up
	target_port $(($1 + 1)) "10.9$1.0.2" 4420
	for group in 1 2; do
		[ -d "$nvmet/ports/$(($1 + 1))/ana_groups/$group" ] ||
			mkdir "$nvmet/ports/$(($1 + 1))/ana_groups/$group"
		# each card is the optimized path to half of the namespaces
		[ $((group - 1)) = "$1" ] && state=optimized || state=non-optimized
		echo $state > "$nvmet/ports/$(($1 + 1))/ana_groups/$group/ana_state"
	done
}

start=$(now)
mkdir -p /run/demo
mapfile -t gpus <<< "$(devices 8086 10d3)"
mapfile -t cards <<< "$(devices 1af4 1041)"
stand_ins=()
for one in "${gpus[@]}"; do stand_ins+=(--gpu "$one"); done
say "Up: Linux $(uname -r), $(nproc) CPUs in two sockets, ${#gpus[@]} stand-ins for GPUs, ${#cards[@]} network cards."

begin_step "Target: 16 drives, as four JBOFs of four namespaces each, over two networks"
drives_up 16
modprobe -a virtio_net nvmet nvmet-tcp
wait_for 10 eval 'ls -d /sys/bus/pci/devices/"${cards[3]}"/virtio*/net/* > /dev/null'
ip netns add target
cable 0
cable 1
for n in 0 1 2 3; do
	target_subsystem $jbof$n
	for m in 1 2 3 4; do
		target_namespace $jbof$n $m "$(drive $((4 * n + m - 1)))" "00000000-0000-4000-8000-0000000000$n$m"
		echo 0 > "$nvmet/subsystems/$jbof$n/namespaces/$m/enable"
		echo $((m % 2 + 1)) > "$nvmet/subsystems/$jbof$n/namespaces/$m/ana_grpid"
		echo 1 > "$nvmet/subsystems/$jbof$n/namespaces/$m/enable"
	done
	for port in 1 2; do
		nsenter --net=/run/netns/target ln -s "$nvmet/subsystems/$jbof$n" \
			"$nvmet/ports/$port/subsystems/$jbof$n"
	done
done

begin_step "Host: the network card of each GPU, and a connection over it to each JBOF"
show modprobe nvmeof_tcp
show nvmeofctl map --gpu "${gpus[0]}" --gpu "${gpus[1]}"
for n in 0 1 2 3; do
	for rail in 0 1; do
		show nvmeofctl connect -n $jbof$n -a 10.9$rail.0.2 --rail "${gpus[rail]}" -i 1 --reconnect-delay 1s
	done
done

begin_step "Check: the paths between these GPUs and the disks"
show_any nvmeofctl gds check "${stand_ins[@]}" -d nvmeof0n1
[ "$status" = 1 ] || fail "the check has not reported that TCP cannot access a GPU"
show nvmeofctl gds config --file /run/demo/cufile.json

begin_step "Stripe: over all 16 namespaces, neighbours on different JBOFs"
show nvmeofctl stripe create scratch -n "$jbof*" --config $config
show nvmeofctl stripe show --config $config
show cat /run/demo/nvmeof.d/stripe-scratch.toml

begin_step "Load: verified random writes to the stripe while one network falls silent and recovers"
fio --name=load --filename=/dev/mapper/scratch --size=256M --rw=randwrite --bs=256k --iodepth=8 --ioengine=libaio \
	--direct=1 --time_based --runtime=3600 --verify=crc32c --verify_backlog=16 --verify_fatal=1 --eta=never \
	--thinktime=2ms --thinktime_blocks=4 --output-format=json --output=/run/load.json &
load=$!
sleep 2
modprobe sch_netem
tc qdisc add dev "$(interface 0)" root netem loss 100%
sleep 3
show nvmeofctl list-subsys
tc qdisc del dev "$(interface 0)" root
wait_for 20 eval '[ "$(nvmeofctl list-subsys | grep -c " live ")" -eq 8 ]'
sleep 2
kill -INT $load
wait $load || true
ios=$(awk -F'[:,]' '$1 ~ /"total_ios"/ { n += $2 } END { print n + 0 }' /run/load.json)
errors=$(awk -F'[:,]' '$1 ~ /"error"/ { n += $2 } END { print n + 0 }' /run/load.json)
((ios > 0)) || fail "no I/O was done"
((errors == 0)) || fail "$errors I/O errors"
say "   $ios I/Os with $errors errors, all written data read back and compared"

begin_step "Plan: requirements of a checkpoint of ten trillion parameters in 15 minutes, compared with this machine"
show_any nvmeofctl plan --parameters 10T --window 900 --namespaces 128 --compare
[ "$status" = 1 ] || fail "'plan --compare' ends with $status, although something is short"

begin_step "Cleanup: remove the stripe, disconnect and unload"
show nvmeofctl stripe stop scratch --forget --config $config
show nvmeofctl disconnect --all
show modprobe -r nvmeof_tcp nvmeof
rmdir "$nvmet"/ports/*/ana_groups/2
target_remove
for n in 2 3; do
	card=$(ip -n target -br link | awk -v mac="52:54:00:00:01:0$n" '$3 == mac { print $1 }')
	ip -n target link set "$card" netns 1
done
ip netns del target
say
say "Done in $(elapsed "$start") s."
