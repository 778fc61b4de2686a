# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# What every script of the harness on the host side shares; sourced, never run.

# All are for the scripts that source this file.
# shellcheck disable=SC2034
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$top" && realpath -m "${BUILD:-build}")
# What takes long to make and belongs to no checkout: the debug kernel
cache=${NVMEOF_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/nvmeof}

PATH=$PATH:/usr/sbin:/sbin

# With set -e a command that fails says nothing by itself.
set -E
trap 'echo "${0##*/}: line $LINENO: \"$BASH_COMMAND\" failed" >&2' ERR

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# Print the full version of a kernel: "6.12" names the newest installed 6.12.*, "debug" and "plain" those of qemu/debug,
# a full version itself.
kernel_version() {
	local dir version
	case $1 in
	debug) "$top/qemu/debug/build" --path || die "no debug kernel; 'make debug-kernel' builds it"; return ;;
	plain) "$top/qemu/debug/build" --path plain || die "no such kernel; 'make plain-kernel' builds it"; return ;;
	*-nvmeof-debug | *-nvmeof-plain) echo "$1"; return ;;
	esac
	version=$(for dir in /lib/modules/*; do
		case ${dir##*/} in "$1" | "$1".* | "$1"-*) echo "${dir##*/}" ;; esac
	done | sort -V | tail -n 1)
	[ -n "$version" ] || die "no kernel $1 below /lib/modules; 'make deps' installs Debian's"
	echo "$version"
}

# Print the directory that has boot/ and lib/modules/ of a kernel: nothing for an installed one.
kernel_root() {
	case $1 in
	*-nvmeof-debug | *-nvmeof-plain) echo "$cache/kernels/$1" ;;
	esac
}
