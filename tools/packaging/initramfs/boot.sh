# SPDX-License-Identifier: LGPL-2.1-or-later
# Connecting before there is a root file system, for the scripts of an initramfs; sourced, by any POSIX shell.
#
# Kernel arguments, each as often as needed:
#   nvmeof=NQN,ADDR[:PORT][,ADDR[:PORT]]...[,OPTION=VALUE]...   (or rd.nvmeof=)
#   nvmeof.timeout=SECONDS    how long to wait for the first path of each; 60 without it
# OPTION is one of `nvmeofctl connect`, without its dashes.

# The functions up to nvmeof_without_keys are for when an initramfs is made.

# nvmeof_boot_nqns: the subsystems that a boot connects, as the kernel arguments of this boot and of the next ones, and
# the firmware's tables name them
nvmeof_boot_nqns() {
	local word
	# shellcheck disable=SC2013,SC2046,SC2086 # words and file names are what is wanted
	for word in $(cat ${NVMEOF_CMDLINE:-/proc/cmdline /etc/kernel/cmdline /etc/default/grub} 2> /dev/null |
		tr "\"'" '  '); do
		case $word in
		nvmeof=*,* | rd.nvmeof=*,*)
			word=${word#*nvmeof=}
			echo "${word%%,*}"
			;;
		esac
	done
	nvmeofctl nbft --json 2> /dev/null | grep -o '"nqn": *"[^"]*"' | cut -d '"' -f 4
}

# nvmeof_boot_keys: the keys that the configuration sets for these subsystems, a line of setting and source each
nvmeof_boot_keys() {
	# shellcheck disable=SC2046 # NQNs have no blanks
	set -- $(nvmeof_boot_nqns | sort -u | sed 's/^/--nqn=/')
	[ $# -eq 0 ] || nvmeofctl config keys "$@"
}

# nvmeof_copy_keys ROOT: copies the files with keys that the configuration sets for these subsystems, readable for root
# only, unless the initramfs itself will be readable for others. Writes the names of their settings; messages are on
# stderr.
nvmeof_copy_keys() {
	local root=$1 setting source
	nvmeof_boot_keys | while read -r setting source; do
		case $source in
		/*) ;;
		*)
			echo "nvmeof: $setting: $source does not exist in an initramfs: name a file instead" >&2
			continue
			;;
		esac
		case $(umask) in
		*77) ;;
		*)
			echo "nvmeof: $setting: the key $source is not copied into an initramfs that others may" \
				"read: set UMASK=0077 in initramfs.conf(5)" >&2
			continue
			;;
		esac
		install -D -m 600 "$source" "$root$source" || continue
		echo "nvmeof: the initramfs contains a secret, the key $source: keep its mode 0600" >&2
		echo "$setting"
	done
}

# nvmeof_without_keys FILE [ROOT]: leaves out keys for authentication whose file is not in ROOT, because a connect with
# them would fail, whether the target needs them or not. Those for TLS stay: without the key, there is no connection.
# If the boot demands a proof of a controller, its keys stay, too: it must not do without that, and one key without the
# other is an error of the configuration.
nvmeof_without_keys() {
	local line source quote="[\"']" dropped='' keep
	keep=$(nvmeof_boot_keys)
	case $keep in
	*dhchap-ctrl-key*) ;;
	*) keep= ;;
	esac
	local key="^[[:space:]]*$quote\{0,1\}dhchap-\(ctrl-\)\{0,1\}key$quote\{0,1\}[[:space:]]*="
	grep -q '^[^#]*dhchap-.*key' "$1" || return 0
	cp "$1" "$1.whole"
	while IFS= read -r line || [ -n "$line" ]; do
		source=$(printf '%s\n' "$line" | sed -n "s/$key[[:space:]]*$quote\([^\"']*\)$quote.*/\2/p")
		if printf '%s\n' "$line" | grep -q "$key" && ! { [ -n "${2:-}" ] && [ -f "$2$source" ]; }; then
			if [ -n "$source" ] && printf '%s\n' "$keep" | sed 's/^[^ ]* //' | grep -qxF -- "$source"; then
				echo "nvmeof: ${1##*/}: the key $source is not in the initramfs: the boot does not" \
					"connect to its subsystem" >&2
				printf '%s\n' "$line"
			else
				dropped=1
			fi
		else
			printf '%s\n' "$line"
		fi
	done < "$1.whole" > "$1"
	rm "$1.whole"
	[ -z "$dropped" ] ||
		echo "nvmeof: ${1##*/}: dhchap-key and dhchap-ctrl-key are left out where the initramfs has no such key"
	! grep '^[^#]*dhchap-.*key' "$1" | grep -qv "$key" ||
		echo "nvmeof: ${1##*/}: dhchap-key is not at the beginning of a line: the initramfs may fail to connect"
}

# nvmeof_start_tls: runs the agent for TLS, if it is installed, until nvmeof_stop_tls or the end of the initramfs. Waits
# until it is ready: a connect without an agent fails, and is retried only after the reconnect delay.
nvmeof_start_tls() {
	local tries=50
	command -v nvmeof-tlsd > /dev/null || return 0
	modprobe -a tls nvme-keyring || return 0
	nvmeof-tlsd &
	echo $! > "${NVMEOF_RUN:-/run}/nvmeof-tlsd.pid"
	until nvmeof-tlsd --check | grep -q 'an agent is running'; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || break
		sleep 0.1
	done
}

# The agent of the system takes over.
nvmeof_stop_tls() {
	local pid=${NVMEOF_RUN:-/run}/nvmeof-tlsd.pid
	[ -e "$pid" ] || return 0
	kill "$(cat "$pid")"
	rm "$pid"
}

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

nvmeof_load() {
	local out
	out=$(modprobe "$1" 2>&1) || { echo "nvmeof: $1 cannot be loaded: $out"; return 1; }
}

# nvmeof_connect NQN,... TIMEOUT: one path is enough, and what is not there yet is tried for on and on
nvmeof_connect() {
	local out
	nvmeof_load "$(nvmeof_transport "$1")" || return 1
	# shellcheck disable=SC2046 # words of NQNs and addresses, which have no blanks
	if ! out=$(nvmeofctl connect $(nvmeof_options "$1") --idempotent --keep-trying=-1 --ctrl-loss-tmo=-1 \
		--timeout="$2" 2>&1); then
		echo "nvmeof: ${1%%,*}: no path within $2 s: $out"
		return 1
	fi
	echo "nvmeof: $out"
}

# nvmeof_await_address SECONDS: waits until an interface has a global address, whichever program configures it. A
# connect without an address fails, and the delay grows with each retry.
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

# The functions below read the NVMe Boot Firmware Table, which firmware leaves after it has booted over NVMe/TCP itself:
#   nvmeof.nbft[=1|=0]        connect to what it names, or not; without it: where there is one, and no nvmeof=
# DHCP is asked by a function nvmeof_dhcp INTERFACE, which the script has to have that reads this file.

nvmeof_nbft_wanted() {
	local word wanted=''
	# shellcheck disable=SC2013
	for word in $(cat "${NVMEOF_CMDLINE:-/proc/cmdline}"); do
		case ${word#rd.} in
		nvmeof.nbft | nvmeof.nbft=1) wanted=1 ;;
		nvmeof.nbft=0) wanted=0 ;;
		esac
	done
	[ -z "$wanted" ] || { [ "$wanted" = 1 ]; return; }
	[ -z "$(nvmeof_arguments 2> /dev/null)" ] || return 1
	for word in "${NVMEOF_SYS:-/sys}"/firmware/acpi/tables/NBFT*; do
		[ ! -e "$word" ] || return 0
	done
	return 1
}

# nvmeof_nbft_link MAC: name of the card; what is made on top of it may have the same address
nvmeof_nbft_link() {
	local one
	for one in "${NVMEOF_SYS:-/sys}"/class/net/*; do
		[ "$(cat "$one/address" 2> /dev/null)" = "$1" ] || continue
		if ! grep -qE '^DEVTYPE=(vlan|bond|bridge)' "$one/uevent"; then
			echo "${one##*/}"
			return
		fi
	done
}

# nvmeof_nbft_vlan CARD ID: name of the interface, which is made where it is not there
nvmeof_nbft_vlan() {
	local name=$1.$2
	while [ ${#name} -gt 15 ]; do name=${name#?}; done
	if [ ! -e "${NVMEOF_SYS:-/sys}/class/net/$name" ]; then
		modprobe 8021q
		ip link add link "$1" name "$name" type vlan id "$2" || return 1
	fi >&2
	echo "$name"
}

# nvmeof_nbft_address INTERFACE ADDRESS/PREFIX GATEWAY METRIC: the file is that of ipconfig, by which others know
nvmeof_nbft_address() {
	local family=4 quick='' metric=''
	case $2 in *:*) family=6 quick=nodad ;; esac
	# shellcheck disable=SC2086 # no word, or one
	ip -$family addr add "$2" dev "$1" $quick || return 1
	[ "$4" = - ] || metric="metric $4"
	# shellcheck disable=SC2086
	[ "$3" = - ] || ip -$family route append default via "$3" dev "$1" $metric ||
		echo "nvmeof: $1: no route through gateway $3"
	printf "DEVICE='%s'\nPROTO='none'\nIPV${family}ADDR='%s'\n" "$1" "${2%/*}" > "${NVMEOF_RUN:-/run}/net-$1.conf"
}

# nvmeof_nbft_interface MAC VLAN ADDRESS/PREFIX GATEWAY METRIC HOW, a line of `nvmeofctl nbft --network`: as the
# firmware had it, where it has no address yet
nvmeof_nbft_interface() {
	local name family=-4
	name=$(nvmeof_nbft_link "$1")
	if [ -z "$name" ]; then
		echo "nvmeof: no network card with address $1, which the firmware used"
		return 1
	fi
	ip link set dev "$name" up
	if [ "$2" != - ]; then
		name=$(nvmeof_nbft_vlan "$name" "$2") || return 1
		ip link set dev "$name" up
	fi
	case $3 in
	[Ff][Ee]80:*) return 0 ;; # the kernel has made it
	*:*) family=-6 ;;
	esac
	[ -z "$(ip -o $family addr show dev "$name" scope global)" ] || return 0
	if [ "$6" = dhcp ]; then
		nvmeof_dhcp "$name"
	elif [ "$3" != - ]; then
		nvmeof_nbft_address "$name" "$3" "$4" "$5"
	fi
}

# An interface that cannot be set up is reported; another one may be enough.
nvmeof_nbft_network() {
	local mac vlan address gateway metric how
	nvmeofctl nbft --network | while read -r mac vlan address gateway metric how; do
		nvmeof_nbft_interface "$mac" "$vlan" "$address" "$gateway" "$metric" "$how" || continue
	done
}

nvmeof_nbft_connect() {
	local out
	nvmeof_load nvmeof_tcp || return 1
	if ! out=$(nvmeofctl connect-nbft --timeout="$(nvmeof_timeout)" 2>&1); then
		echo "nvmeof: not all subsystems of the NVMe Boot Firmware Table are connected: $out"
		return 1
	fi
	echo "nvmeof: $out"
}
