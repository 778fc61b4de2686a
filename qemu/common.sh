# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Shared by all scripts of the harness on the host side; sourced only.

# The scripts that source this file use all of these.
# shellcheck disable=SC2034
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$(cd "$top" && realpath -m "${BUILD:-build}")
# Cache outside of the checkouts for results that take long to build, such as the debug kernel
cache=${NVMEOF_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/nvmeof}
# Debian for arm64: kernels, headers, libraries, programs of guests
arm64=$cache/arm64

PATH=$PATH:/usr/sbin:/sbin

# With set -e alone, a failed command prints nothing.
set -E
trap 'echo "${0##*/}: line $LINENO: \"$BASH_COMMAND\" failed" >&2' ERR

die() {
	echo "${0##*/}: $*" >&2
	exit 1
}

# Print the full version of a kernel: "6.12" is the newest installed 6.12.*, "debug" and "plain" are those of
# qemu/debug, "newest" that of qemu/newest, "arm64" and "arm64-16k" those of qemu/arm64, and a full version is printed
# unchanged.
kernel_version() {
	local dir version
	case $1 in
	debug) "$top/qemu/debug/build" --path || die "no debug kernel; 'make debug-kernel' builds it"; return ;;
	plain) "$top/qemu/debug/build" --path plain || die "no such kernel; 'make plain-kernel' builds it"; return ;;
	newest) "$top/qemu/newest/build" --path || die "no newest kernel; 'make newest-kernel' fetches it"; return ;;
	arm64 | arm64-16k)
		"$top/qemu/arm64/build" --path "$1" || die "no kernel for arm64; 'make arm64-kernel' fetches it"
		return
		;;
	esac
	if [ -n "$(kernel_root "$1")" ]; then echo "$1"; return; fi
	version=$(for dir in /lib/modules/*; do
		case ${dir##*/} in "$1" | "$1".* | "$1"-*) echo "${dir##*/}" ;; esac
	done | sort -V | tail -n 1)
	[ -n "$version" ] || die "no kernel $1 below /lib/modules; 'make deps' installs Debian's"
	echo "$version"
}

# Print the directory with boot/ and lib/modules/ of a kernel; empty for an installed kernel.
kernel_root() {
	local dir
	for dir in "$cache/kernels/$1" "$arm64"; do
		[ ! -d "$dir/lib/modules/$1" ] || { echo "$dir"; return; }
	done
}

# Print the architecture of a kernel as Debian names it.
kernel_arch() {
	case $1 in *-arm64*) echo arm64 ;; *) echo amd64 ;; esac
}

# Print the mirror of Debian that this machine uses
debian_mirror() {
	local uri
	# shellcheck disable=SC2016 # apt expands it
	uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Label: Debian' 2>/dev/null)
	echo "${uri:-http://deb.debian.org/debian}" | head -n 1
}
