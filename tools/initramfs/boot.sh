# SPDX-License-Identifier: LGPL-2.1-or-later
# Connecting before there is a root file system, for the scripts of an initramfs; sourced, by any POSIX shell.
#
# Kernel arguments, each as often as needed:
#   nvmeof=NQN,ADDR[:PORT][,ADDR[:PORT]]...[,OPTION=VALUE]...   (or rd.nvmeof=)
#   nvmeof.timeout=SECONDS    how long to wait for the first path of each; 60 without it
# OPTION is one of `nvmeofctl connect`, without its dashes.

nvmeof_arguments() {
	local word
	# shellcheck disable=SC2013 # words are what is wanted
	for word in $(cat "${NVMEOF_CMDLINE:-/proc/cmdline}"); do
		case $word in
		nvmeof=*,* | rd.nvmeof=*,*) echo "${word#*nvmeof=}" ;;
		nvmeof=* | rd.nvmeof=*) echo "nvmeof: $word names no address" >&2 ;;
		esac
	done
}

nvmeof_timeout() {
	local word timeout=60
	# shellcheck disable=SC2013
	for word in $(cat "${NVMEOF_CMDLINE:-/proc/cmdline}"); do
		case $word in nvmeof.timeout=* | rd.nvmeof.timeout=*) timeout=${word#*=} ;; esac
	done
	echo "$timeout"
}

# nvmeof_options NQN,...: the command line of `nvmeofctl connect`, a word a line
nvmeof_options() {
	local rest="${1#*,}," part
	printf '%s\n' -n "${1%%,*}"
	while [ -n "$rest" ]; do
		part=${rest%%,*}
		rest=${rest#*,}
		case $part in
		'') ;;
		[a-z]*=*) printf '%s\n' "--$part" ;;
		*) printf '%s\n' -a "$part" ;;
		esac
	done
}

nvmeof_transport() {
	case $1 in *,transport=rdma*) echo nvmeof_rdma ;; *) echo nvmeof_tcp ;; esac
}

# nvmeof_connect NQN,... TIMEOUT: one path is enough, and what is not there yet is tried for on and on
nvmeof_connect() {
	local module out
	module=$(nvmeof_transport "$1")
	if ! out=$(modprobe "$module" 2>&1); then
		echo "nvmeof: $module cannot be loaded: $out"
		return 1
	fi
	# shellcheck disable=SC2046 # words of NQNs and addresses, which have no blanks
	if ! out=$(nvmeofctl connect $(nvmeof_options "$1") --idempotent --keep-trying=-1 --ctrl-loss-tmo=-1 \
		--timeout="$2" 2>&1); then
		echo "nvmeof: ${1%%,*}: no path within $2 s: $out"
		return 1
	fi
	echo "nvmeof: $out"
}

# nvmeof_await_address SECONDS: whoever sets up the network. Without one, first attempts are in vain, and each further
# one comes later.
nvmeof_await_address() {
	local tries=$(($1 * 5))
	while [ -z "$(ip -o address show up scope global)" ]; do
		[ "$tries" -gt 0 ] || return 1
		tries=$((tries - 1))
		sleep 0.2
	done
}

# The interfaces that ip= has set up, by what initramfs-tools notes of them
nvmeof_configured() {
	local conf
	for conf in "${NVMEOF_RUN:-/run}"/net-*.conf; do
		[ -e "$conf" ] || continue
		conf=${conf##*/net-}
		echo "${conf%.conf}"
	done
}

# nvmeof_keep_network INTERFACE...: systemd-networkd removes addresses that it has not configured. With them the root
# file system is out of reach, and it cannot read what it needs to go on. A file of the same name below /etc takes this
# one's place.
nvmeof_keep_network() {
	local name dir=${NVMEOF_RUN:-/run}/systemd/network
	for name; do
		mkdir -p "$dir"
		{
			printf '[Match]\nName=%s\n\n[Network]\n' "$name"
			printf '%s\n' KeepConfiguration=yes LinkLocalAddressing=no IPv6AcceptRA=no
		} > "$dir/00-nvmeof-$name.network"
	done
}

nvmeof_connect_all() {
	local one status=0
	for one in $(nvmeof_arguments); do
		nvmeof_connect "$one" "$(nvmeof_timeout)" || status=1
	done
	return $status
}
