# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Building cpio images for guests; sourced after common.sh.

images=$build/image

# for_kernel VERSION: where the programs of its guests come from: a root directory, empty for this machine's; the folder
# of this tree's; the directory of libraries, and the prefix of compiler and binutils
# shellcheck disable=SC2034
for_kernel() {
	sysroot='' user=$build/user triplet=x86_64-linux-gnu cross=''
	[ "$(kernel_arch "$1")" = arm64 ] || return 0
	sysroot=$arm64 user=$build/user-arm64 triplet=aarch64-linux-gnu cross=aarch64-linux-gnu-
}

# Path of a host file in a guest: Debian's merged /usr, and libraries of the build tree next to the system's.
guest_path() {
	local path=${1#"$sysroot"}
	case $path in
	"$build"/*) echo "/usr/lib/$triplet/${path##*/}" ;;
	/lib/* | /lib64/* | /bin/* | /sbin/*) echo "/usr$path" ;;
	*) echo "$path" ;;
	esac
}

# The libraries that a program of another architecture names, and those that these name; ldd would have to start it
foreign_libraries_of() {
	local left=("$@") file name dir
	local -A seen=()
	while [ ${#left[@]} -gt 0 ]; do
		file=${left[0]} left=("${left[@]:1}")
		while read -r name; do
			[ -z "${seen[$name]:-}" ] || continue
			seen[$name]=1
			for dir in ${LD_LIBRARY_PATH:-} "$user/libctl" "$sysroot/usr/lib/$triplet" \
				"$sysroot/usr/lib/$triplet/systemd" "$sysroot"; do
				[ -e "$dir/$name" ] || continue
				echo "$dir/$name"
				left+=("$dir/$name")
				break
			done
		done < <({ readelf -W -d -l "$file" 2>/dev/null || true; } |
			sed -nE 's,.*\(NEEDED\).*\[(.*)\].*,\1,p; s,.*program interpreter: /(.*)\].*,\1,p')
	done | sort -u
}

# Prints nothing for a static program. The "FILE:" lines that ldd prints for several files are left out.
libraries_of() {
	[ -z "$sysroot" ] || { foreign_libraries_of "$@"; return; }
	{ ldd "$@" 2>/dev/null || true; } | sed -nE '/:$/!s,^[^/]*(/[^ ]+).*,\1,p' | sort -u
}

# stage_libraries ROOT HAVE BINARY...: copies the shared libraries, except those that the file HAVE lists.
stage_libraries() {
	local root=$1 have=$2 lib dest
	shift 2
	libraries_of "$@" | while read -r lib; do
		dest=$(guest_path "$lib")
		grep -qxF -- "$dest" "$have" && continue
		mkdir -p "$root${dest%/*}"
		[ -e "$root$dest" ] || cp -L "$lib" "$root$dest"
	done
}

# fresh IMAGE KEY: whether IMAGE exists and was made from the inputs in KEY.
fresh() {
	[ -e "$1" ] && [ "$(cat "$1.key" 2>/dev/null)" = "$2" ]
}

# seal ROOT IMAGE KEY: packs ROOT. The old key is removed first, so that an interrupted run never leaves a stale image
# valid.
seal() {
	rm -f "$2.key"
	(cd "$1" && find . | LC_ALL=C sort | cpio -o -H newc --quiet -R 0:0) > "$2.new"
	mv "$2.new" "$2"
	echo "$3" > "$2.key"
}

# Describe files by name, size and time, for a key.
describe() {
	stat -L -c '%n %s %Y' -- "$@" 2>&1
}

# lock NAME: one builder at a time; the lock is released when the process ends.
lock_images() {
	mkdir -p "$images"
	exec 9> "$images/$1.lock"
	flock 9
}
