# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Building cpio images for guests; sourced after common.sh.

images=$build/image

# Path of a host file in a guest: Debian's merged /usr, and libraries of the build tree next to the system's.
guest_path() {
	case $1 in
	"$build"/*) echo "/usr/lib/x86_64-linux-gnu/${1##*/}" ;;
	/lib/* | /lib64/* | /bin/* | /sbin/*) echo "/usr$1" ;;
	*) echo "$1" ;;
	esac
}

# Prints nothing for a static program. The "FILE:" lines that ldd prints for several files are left out.
libraries_of() {
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
