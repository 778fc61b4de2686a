# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Sourced before every job in a guest: nvmet through configfs, and functions that find devices.

nvmet=/sys/kernel/config/nvmet

fail() {
	echo "guest: $*" >&2
	exit 1
}

# drive N: the device node of the emulated NVMe drive number N (from 0) of qemu/run.
drive() {
	local ctrl
	for ctrl in /sys/class/nvme/nvme*; do
		[ "$(xargs < "$ctrl/serial")" = "drive$1" ] || continue
		echo "/dev/$(basename "$(echo "$ctrl"/nvme*n1)" | sed 's/c[0-9]*n/n/')"
		return
	done
	return 1
}

# wait_for SECONDS COMMAND...: repeats the command until it succeeds, with a pause of $pause seconds.
wait_for() {
	local until=$((SECONDS + $1))
	shift
	until "$@"; do
		((SECONDS < until)) || fail "timed out waiting for: $*"
		sleep "${pause:-0.05}"
	done
}

drives_up() {
	modprobe nvme
	local n
	for n in $(seq 0 $(($1 - 1))); do
		wait_for 10 drive "$n" > /dev/null
		wait_for 10 test -b "$(drive "$n")"
	done
}

start_udev() {
	/usr/lib/systemd/systemd-udevd --daemon --resolve-names=never
	udevadm trigger --action=add
	udevadm settle
}

# target_subsystem NQN: a subsystem that allows every host.
target_subsystem() {
	mkdir "$nvmet/subsystems/$1"
	echo 1 > "$nvmet/subsystems/$1/attr_allow_any_host"
}

# target_namespace NQN NSID DEVICE UUID
target_namespace() {
	local ns=$nvmet/subsystems/$1/namespaces/$2
	mkdir "$ns"
	echo "$3" > "$ns/device_path"
	echo "$4" > "$ns/device_uuid"
	echo 1 > "$ns/enable"
}

# target_port ID ADDRESS PORT [TRANSPORT]: TCP by default; IPv6 if the address has a colon.
target_port() {
	local port=$nvmet/ports/$1 family=ipv4
	case $2 in *:*) family=ipv6 ;; esac
	mkdir "$port"
	echo "${4:-tcp}" > "$port/addr_trtype"
	echo $family > "$port/addr_adrfam"
	echo "$2" > "$port/addr_traddr"
	echo "$3" > "$port/addr_trsvcid"
}

# target_link PORT NQN: exports the subsystem on the port; hosts can connect now.
target_link() {
	ln -s "$nvmet/subsystems/$2" "$nvmet/ports/$1/subsystems/$2"
}

target_unlink() {
	rm "$nvmet/ports/$1/subsystems/$2"
}

target_modules() {
	modprobe nvmet
	modprobe nvmet-tcp
}

# A software RDMA device at 10.60.0.1; its MTU has room for pages of 4 KiB and headers
rdma_card() {
	modprobe -a rdma_rxe dummy
	ip link add rdma0 type dummy
	ip link set rdma0 mtu 4300 up
	ip addr add 10.60.0.1/24 dev rdma0
	rdma link add rxe0 type rxe netdev rdma0
}

# For qemu/run --peer: the device node of the virtio port with this name.
line_named() {
	local entry
	modprobe virtio_console
	for entry in /sys/class/virtio-ports/*; do
		[ "$(cat "$entry/name" 2> /dev/null)" = "$1" ] || continue
		echo "/dev/${entry##*/}"
		return
	done
	return 1
}

# cards_up [rdma]: for qemu/run --peer: sets up card1 and card2, with 10.70.1.1 and 10.70.2.1 in the host and .2 in the
# peer, and RDMA devices of the same names. The MTU has room for pages of 4 KiB and headers.
cards_up() {
	local entry mac name
	modprobe virtio_net
	for entry in /sys/class/net/*; do
		read -r mac < "$entry/address"
		case $mac in 52:54:00:00:0[12]:0?) ;; *) continue ;; esac
		name=card${mac:16}
		ip link set "${entry##*/}" name "$name" mtu 4300 up
		ip addr add "10.70.${mac:16}.${mac:13:1}/24" dev "$name"
		[ "$*" != rdma ] || { modprobe rdma_rxe && rdma link add "$name" type rxe netdev "$name"; }
	done
}

# kernel_memory: KiB that neither processes nor the page cache use
kernel_memory() {
	sync
	echo 3 > /proc/sys/vm/drop_caches
	sleep 2
	awk '/^(MemTotal|MemFree|Buffers|Cached|AnonPages):/ { v[$1] = $2 }
		END {
			free = v["MemFree:"] + v["Buffers:"] + v["Cached:"]
			print v["MemTotal:"] - free - v["AnonPages:"]
		}' /proc/meminfo
}

# Removes the whole target, in the order that configfs requires.
target_remove() {
	local item
	for item in "$nvmet"/ports/*/subsystems/*; do [ ! -L "$item" ] || rm "$item"; done
	for item in "$nvmet"/ports/*; do [ ! -d "$item" ] || rmdir "$item"; done
	for item in "$nvmet"/subsystems/*/namespaces/*; do
		[ -d "$item" ] || continue
		echo 0 > "$item/enable"
		rmdir "$item"
	done
	for item in "$nvmet"/subsystems/*/allowed_hosts/*; do [ ! -L "$item" ] || rm "$item"; done
	for item in "$nvmet"/subsystems/* "$nvmet"/hosts/*; do [ ! -d "$item" ] || rmdir "$item"; done
}

# by_uuid UUID [PREFIX]: the block device with this namespace UUID; PREFIX is nvmeof (default), or nvme for the in-tree
# driver.
by_uuid() {
	local disk
	for disk in /sys/block/"${2:-nvmeof}"[0-9]*n*; do
		[ "$(cat "$disk/wwid" 2>/dev/null)" = "uuid.$1" ] || continue
		[ -b "/dev/${disk##*/}" ] || continue
		echo "/dev/${disk##*/}"
		return
	done
	return 1
}

# generic_of DISK: its generic node, of either driver.
generic_of() {
	case $1 in /dev/nvmeof*) echo "/dev/ng${1#/dev/}" ;; *) echo "/dev/ng${1#/dev/nvme}" ;; esac
}

# Wall clock of the guest in seconds, with fractions.
now() {
	echo "$EPOCHREALTIME"
}

# elapsed SINCE: seconds since a value of now(), two digits.
elapsed() {
	awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.2f", b - a }'
}

# The identity that nvme-cli uses for the in-tree driver, which refuses a host ID with two host NQNs, and two host IDs
# for one NQN.
intree_identity() {
	local id
	id=$(cat /proc/sys/kernel/random/uuid)
	mkdir -p /etc/nvme
	echo "$id" > /etc/nvme/hostid
	echo "nqn.2014-08.org.nvmexpress:uuid:$id" > /etc/nvme/hostnqn
}
