# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Functions of tools/packaging/deb and the programs in tools/packaging/rpm; sourced, never run. These have set $top and
# $build: the tree, and where `make tool` has built it.

# Time of the last commit. Packed files get it, so that the same build makes the same bytes.
time_of_tree() {
	git -C "$top" log -1 --format=%ct 2> /dev/null || stat -c %Y "$top/VERSION"
}

tracked() {
	if git -C "$top" rev-parse > /dev/null 2>&1; then
		git -C "$top" ls-files -z -co --exclude-standard
	else
		find . -path ./build -prune -o ! -type d -printf '%P\0'
	fi | while read -rd '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done
}

# copy_tree DIR TIME
copy_tree() {
	mkdir -p "$1"
	(cd "$top" && tracked | LC_ALL=C sort -z | xargs -0 cp -a --parents -t "$1")
	# what a checkout's umask and this moment left in them is no part of a package
	chmod -R u=rwX,go=rX "$1"
	find "$1" -exec touch -hd "@$2" {} +
}

# stage DIR LIBDIR: what `cmake --install` takes, where it is with PREFIX=/usr and libraries in /usr/LIBDIR; paths in
# texts likewise. The component is what all of it is of, and gives the list of files a name of its own.
stage() {
	local prefix part from=$1.from cmake=$1/usr/$2/cmake/nvmeofctl
	prefix=$(sed -n 's/^CMAKE_INSTALL_PREFIX:PATH=//p' "$build/user/CMakeCache.txt")
	DESTDIR=$from cmake --install "$build/user" --component Unspecified > "$1.log" || die "$(< "$1.log")"
	mkdir -p "$1/usr/$2" "$1/usr/share/dbus-1"
	cp -a "$from$prefix/." "$1/usr/"
	[ ! -e "$from/etc/dbus-1/system.d" ] || mv "$from/etc/dbus-1/system.d" "$1/usr/share/dbus-1/"
	for part in cmake pkgconfig "$1"/usr/lib/libnvmeofctl.so*; do
		[ ! -e "$1/usr/lib/${part##*/}" ] || mv "$1/usr/lib/${part##*/}" "$1/usr/$2/"
	done
	grep -rIlF "$prefix/" "$1/usr" | xargs -r sed -i "s,$prefix/,/usr/,g"
	sed -i "s,^prefix=.*,prefix=/usr,; s,\${prefix}/lib\$,\${prefix}/$2," "$1/usr/$2/pkgconfig/libnvmeofctl.pc"
	sed -i "s,_IMPORT_PREFIX}/lib/lib,_IMPORT_PREFIX}/$2/lib," "$cmake"/nvmeofctlTargets-*.cmake
	# where that file is tells it the prefix; in a folder of an architecture it is one step more
	case $2 in
	*/*) sed -i '0,/^.*"\${_IMPORT_PREFIX}" PATH)$/s//&\n&/' "$cmake/nvmeofctlTargets.cmake" ;;
	esac
}

# stage_modules KVER DIR [KEY CERTIFICATE]: the modules that `make modules` has built for that kernel, signed if there
# is a key
stage_modules() {
	local module dest sign
	compgen -G "$build/kmod-$1/*.ko" > /dev/null || die "no modules for $1: make modules KVER=$1"
	sign=${KDIR:-/lib/modules/$1/build}/scripts/sign-file
	mkdir -p "$2"
	for module in "$build/kmod-$1"/*.ko; do
		dest=$2/${module##*/}
		strip -g -o "$dest" "$module"
		chmod 644 "$dest"
		[ -z "${3:-}" ] || "$sign" sha256 "$3" "$4" "$dest"
	done
}
