# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --drive 1G --drive 1G --quiet-driver --timeout 300
# The output of `make demo`: two emulated drives over four paths in two networks of different speed, under verified
# load. The preferred path loses its ANA state, then its network goes silent, then both recover; RDMA devices are added;
# a target is found through a discovery service; another one demands proof of identity and encryption. Lines that begin
# with "demo: " are the output for the user; everything else is in the log. A command that fails ends the job (set -e).

# shellcheck source=qemu/demo/steps.sh
. /nvmeof/add/steps.sh

nqn=nqn.2024-01.io.example:demo
uuid1=00000000-0000-4000-8000-000000000001
uuid2=00000000-0000-4000-8000-000000000002
uuid3=00000000-0000-4000-8000-000000000003
uuid4=00000000-0000-4000-8000-000000000004

# Shows a command that a user might type, runs it, and shows its output.
show() {
	say "   \$ $*"
	"$@" > /run/shown 2>&1 || { cat /run/shown; fail "'$*' failed"; }
	indent < /run/shown
}

# The same for a command that must fail
refused() {
	say "   \$ $*"
	! "$@" > /run/shown 2>&1 || fail "'$*' was not refused"
	indent < /run/shown
}

# network N DELAY: network namespace netN at the far end of a link, with 10.N.0.1 here and 10.N.0.2 there; DELAY in each
# direction
network() {
	ip netns add "net$1"
	ip link add "net$1" type veth peer name far netns "net$1"
	ip addr add "10.$1.0.1/24" dev "net$1"
	ip link set "net$1" up
	ip -n "net$1" addr add "10.$1.0.2/24" dev far
	ip -n "net$1" link set far up
	impair "$1" "delay $2"
}

# impair N HOW: parameters of netem, for both directions
impair() {
	# shellcheck disable=SC2086
	tc qdisc replace dev "net$1" root netem limit 20000 $2
	# shellcheck disable=SC2086
	tc -n "net$1" qdisc replace dev far root netem limit 20000 $2
}

# port ID NETWORK SERVICE: a port of the target that listens in that network
port() {
	target_port "$1" "10.$2.0.2" "$3"
	nsenter --net="/run/netns/net$2" ln -s "$nvmet/subsystems/$nqn" "$nvmet/ports/$1/subsystems/$nqn"
}

# card ID N: a software RDMA device (RoCE) with 10.3.N.1, and a port of the target there. rxe loops traffic on one host
# back, so it needs no far end.
card() {
	ip link add "card$2" type dummy
	ip link set "card$2" mtu 4300 up
	ip addr add "10.3.$2.1/24" dev "card$2"
	rdma link add "rxe$2" type rxe netdev "card$2"
	target_port "$1" "10.3.$2.1" 4420 rdma
	target_link "$1" $nqn
}

# ana ID STATE: the ANA state that the port reports for both namespaces
ana() {
	echo "$2" > "$nvmet/ports/$1/ana_groups/1/ana_state"
}

# Two verified loads, one for each drive: random writes that are read back and compared soon afterwards. Each I/O is
# logged.
load_start() {
	local n disk
	for n in 1 2; do
		disk=$(by_uuid "$([ $n = 1 ] && echo $uuid1 || echo $uuid2)")
		fio --name="load$n" --filename="$disk" --size=64M --rw=randwrite --bs=4k --iodepth=8 --ioengine=libaio \
		    --direct=1 --time_based --runtime=3600 --verify=crc32c --verify_backlog=64 --verify_fatal=1 \
		    --thinktime=8ms --thinktime_blocks=8 --eta=never \
		    --write_lat_log="/run/load$n" --log_unix_epoch=1 --disable_slat=1 --disable_clat=1 \
		    --output-format=json \
		    --output="/run/load$n.json" &
		loads+=($!)
	done
}

load_stop() {
	kill -INT "${loads[@]}"
	# the exit status only shows the interruption; the errors are in fio's report
	wait "${loads[@]}" || true
}

# event TEXT: gaps of the loads count for this event from now on
event() {
	events+=("${EPOCHREALTIME/./} $*")
}

# For each event, the longest time without a completion in one of the loads. fio's log has ms, our events have us.
gaps() {
	local i from text to
	for i in "${!events[@]}"; do
		from=${events[i]%% *} text=${events[i]#* }
		to=$([ $((i + 1)) -lt ${#events[@]} ] && echo "${events[i + 1]%% *}" || echo 9999999999999999)
		awk -F, -v from="$((from / 1000))" -v to="$((to / 1000))" -v text="$text" '
			FNR == 1 { last = 0 }
			{ if (last && $1 >= from && $1 < to && $1 - last > gap) gap = $1 - last; last = $1 }
			END { printf "%-60s %5d ms\n", text, gap }' /run/load1_lat.1.log /run/load2_lat.1.log
	done
}

# sum KEY FILE...: sum of all "KEY" : NUMBER in fio's JSON
sum() {
	local key=$1
	shift
	awk -F'[:,]' -v key="\"$key\"" '$1 ~ key { n += $2 } END { print n + 0 }' "$@"
}

start=$(now)
loads=() events=()
say "Up: Linux $(uname -r), $(nproc) CPUs."

begin_step "Target: two emulated NVMe drives, exported by nvmet on four ports in two networks"
start_udev
drives_up 2
target_modules
modprobe -a veth sch_netem
network 1 0.2ms
network 2 3ms
target_subsystem $nqn
target_namespace $nqn 1 "$(drive 0)" $uuid1
target_namespace $nqn 2 "$(drive 1)" $uuid2
port 1 1 4420
port 2 1 4421
port 3 2 4420
port 4 2 4421
ana 2 non-optimized
ana 4 non-optimized
say "   ports 1 and 2 at 10.1.0.2 (0.2 ms away), 3 and 4 at 10.2.0.2 (3 ms away); 2 and 4 are non-optimized"

begin_step "Host: load the module, connect all four ports, select the policy latency"
show modprobe nvmeof_tcp
for address in 10.1.0.2 10.2.0.2; do
	for service in 4420 4421; do
		show nvmeofctl connect -t tcp -n $nqn -a $address -s $service --reconnect-delay 1s --wait=ns
	done
done
wait_for 10 by_uuid $uuid1 > /run/found
wait_for 10 by_uuid $uuid2 > /run/found
show nvmeofctl set nvmeof0 iopolicy=latency
show nvmeofctl list-subsys

begin_step "Load: verified random writes on both drives, which continue until step 7"
nvmeofctl monitor > /run/monitor 2>&1 &
monitor=$!
load_start
sleep 3
event "nothing happens"
sleep 4
show nvmeofctl top --batch -n 1

begin_step "ANA: port 1, which carries most of the load, becomes inaccessible; after 4 s it is optimized again"
event "port 1 becomes inaccessible, load moves to port 3"
ana 1 inaccessible
sleep 4
event "port 1 is optimized again, load comes back"
ana 1 optimized
sleep 3

begin_step "Silence: network 1 drops every packet, without closing a connection"
event "network 1 falls silent"
impair 1 "loss 100%"
sleep 5
show nvmeofctl top --batch -n 1

begin_step "Recovery: network 1 forwards packets again"
event "network 1 is back"
impair 1 "delay 0.2ms"
wait_for 20 eval '[ "$(nvmeofctl list-subsys | grep -c " live ")" -eq 4 ]'
sleep 3
show nvmeofctl top --batch -n 1

begin_step "RDMA: two paths over RoCE next to one over TCP, to the same disks; then a network card is removed"
modprobe -a rdma_rxe dummy nvmet-rdma
card 5 1
card 6 2
for n in 1 2; do
	show nvmeofctl connect -t rdma -n $nqn -a 10.3.$n.1 --reconnect-delay 1s --wait=ns
done
show nvmeofctl disconnect nvmeof0c1 nvmeof0c2 nvmeof0c4
show nvmeofctl set nvmeof0 iopolicy=round-robin
sleep 2
show nvmeofctl top --batch -n 1
event "a network card is removed"
show rdma link delete rxe1
sleep 4
show nvmeofctl list-subsys
load_stop
kill $monitor
wait $monitor || true
say "   Events from nvmeofctl monitor:"
grep -E 'failed over|non-opt|inacc|optimized|recovering|live' /run/monitor | head -50 | indent

begin_step "Discovery: nvmeofd follows a discovery service, and connects a new target"
printf '[[discovery]]\naddress = "10.2.0.2:4420"\n' > /run/demo.toml
show cat /run/demo.toml
nvmeofd --config /run/demo.toml --state /run/nvmeofd --lock /run/nvmeofd.lock > /run/nvmeofd.log 2>&1 &
daemon=$!
wait_for 10 eval 'grep -q "entries, generation" /run/nvmeofd.log'
truncate -s 64M /run/new.img
target_subsystem $nqn-new
target_namespace $nqn-new 1 /run/new.img $uuid3
say "   a new target appears in the log of the service"
target_link 3 $nqn-new
wait_for 10 by_uuid $uuid3 > /run/found
show fio --name=new --filename="$(by_uuid $uuid3)" --rw=randwrite --bs=4k --size=16M --iodepth=16 \
	--ioengine=libaio --direct=1 --verify=crc32c --minimal --output=/run/new.fio
say "   16 MiB written and read back; messages of the daemon:"
indent < /run/nvmeofd.log
show nvmeofctl list
kill $daemon
wait $daemon || true

begin_step "Security: a target that admits only hosts that prove their identity, over TLS 1.3"
if modprobe -a tls nvme-keyring 2> /run/modprobe.err; then
	host=$(nvmeofctl show-hostnqn)
	show nvmeofctl key generate --output /run/host.key
	show nvmeofctl key generate --tls --output /run/tls.key
	truncate -s 64M /run/secure.img
	target_subsystem $nqn-secure
	target_namespace $nqn-secure 1 /run/secure.img $uuid4
	echo 0 > $nvmet/subsystems/$nqn-secure/attr_allow_any_host
	mkdir "$nvmet/hosts/$host"
	cat /run/host.key > "$nvmet/hosts/$host/dhchap_key"
	echo 'hmac(sha256)' > "$nvmet/hosts/$host/dhchap_hash"
	echo ffdhe2048 > "$nvmet/hosts/$host/dhchap_dhgroup"
	ln -s "$nvmet/hosts/$host" "$nvmet/subsystems/$nqn-secure/allowed_hosts/$host"
	# agent of both sides: the kernel's target uses it, too
	nvmeof-tlsd 2> /run/tlsd.log &
	agent=$!
	wait_for 10 eval 'nvmeof-tlsd --check | grep -q "an agent is running"'
	target_port 7 127.0.0.1 4430
	echo tls1.3 > $nvmet/ports/7/addr_tsas
	target_link 7 $nqn-secure
	secure=(nvmeofctl connect -n $nqn-secure -a 127.0.0.1:4430 --tls-key /run/tls.key --wait=ns)
	say "   with the TLS key, but without the host's key:"
	refused "${secure[@]}"
	say "   with both keys:"
	show "${secure[@]}" --dhchap-key /run/host.key
	wait_for 10 by_uuid $uuid4 > /run/found
	controller=$(nvmeofctl list-subsys | grep 4430 | grep -o 'nvmeof[0-9]*c[0-9]*')
	nvmeofctl show "$controller" > /run/shown
	say "   \$ nvmeofctl show $controller | grep -E 'authenticated|tls'"
	grep -E '^(authenticated|tls) ' /run/shown | indent
	show fio --name=secure --filename="$(by_uuid $uuid4)" --rw=randwrite --bs=4k --size=16M --iodepth=16 \
		--ioengine=libaio --direct=1 --verify=crc32c --minimal --output=/run/secure.fio
	say "   16 MiB written and read back"
else
	say "   left out: it needs Linux 6.7 or later, with CONFIG_TLS and CONFIG_NVME_KEYRING"
	agent=
fi

begin_step "Cleanup: disconnect and unload"
show nvmeofctl disconnect --all
[ -z "$agent" ] || kill "$agent"
show modprobe -r nvmeof_rdma nvmeof_tcp nvmeof
! grep -q '^nvmeof' /proc/modules || fail "a module is still loaded"
! ls /dev/nvmeof* > /dev/null 2>&1 || fail "a device node is still there"
say "   no device node and no module remains"
target_remove
rdma link delete rxe2
ip netns del net1
ip netns del net2
ios=$(sum total_ios /run/load?.json) errors=$(sum error /run/load?.json)
((ios > 0)) || fail "no I/O was done"
((errors == 0)) || fail "$errors I/O errors"
say
say "Longest time without a completed I/O, of either load:"
gaps | indent
say
say "Done: $ios I/Os with $errors errors, all written data read back and compared, in $(elapsed "$start") s."
