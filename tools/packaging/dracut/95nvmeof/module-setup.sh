#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Connecting before the root file system is looked for; dracut sources it. boot.sh is that of tools/packaging/initramfs.

# Where it was asked for (--add nvmeof), or where what is mounted at boot is on a disk of ours
check() {
	require_binaries nvmeofctl || return 1
	# shellcheck disable=SC2154 # dracut sets them
	[[ $hostonly || $mount_needs ]] && for_each_host_dev_and_slaves disk_is_ours && return 0
	return 255
}

# disk_is_ours MAJOR:MINOR
disk_is_ours() {
	[[ $(readlink -f "/sys/dev/block/$1") == */nvmeof+([0-9])n+([0-9])* ]]
}

depends() {
	echo network rootfs-block
}

installkernel() {
	# they are loaded for no device that this machine has
	hostonly='' instmods -c -s nvmeof nvmeof_tcp ||
		dwarn "nvmeof: no module nvmeof_tcp for this kernel: its initramfs cannot connect"
	hostonly='' instmods nvmeof_rdma
	# for TLS, see install()
	hostonly='' instmods tls nvme-keyring gcm ghash-generic ghash-clmulni-intel aesni-intel
}

install() {
	local file
	inst_multiple cat ip mkdir modprobe nvmeofctl sleep
	# who this host is, and how it connects
	inst_multiple -o /etc/nvme/hostnqn /etc/nvme/hostid /etc/nvmeof/nvmeof.toml "/etc/nvmeof/nvmeof.d/*.toml" \
		/etc/nvmeof/policy.conf
	# shellcheck disable=SC1091,SC2154
	. "$moddir/boot.sh"
	# shellcheck disable=SC2154
	if [[ $(nvmeof_copy_keys "$initdir") == *tls-key* ]]; then
		inst_multiple grep kill sleep nvmeof-tlsd ||
			dwarn "nvmeof: a subsystem of the boot needs TLS: install the package nvmeof-tlsd"
	fi
	for file in "$initdir"/etc/nvmeof/nvmeof.toml "$initdir"/etc/nvmeof/nvmeof.d/*.toml; do
		[[ ! -e $file ]] || nvmeof_without_keys "$file" "$initdir" >&2
	done
	inst_rules 61-nvmeof-links.rules 90-nvmeof-policy.rules
	# shellcheck disable=SC2154
	inst_simple "$moddir/boot.sh" /lib/nvmeof/boot.sh
	inst_script "$moddir/nvmeof-boot.sh" /sbin/nvmeof-boot
	inst_hook cmdline 20 "$moddir/parse-nvmeof.sh"
	inst_hook pre-pivot 20 "$moddir/keep-network.sh"
	dracut_need_initqueue
}
