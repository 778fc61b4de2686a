#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Connect to what nvmeof= names, in the background: an interface that a path needs may be the initqueue's next
# job. Messages go to the console.
# shellcheck disable=SC1091
. /lib/nvmeof/boot.sh
export NVMEOF_CMDLINE=/tmp/nvmeof.cmdline

{
	timeout=$(nvmeof_timeout)
	nvmeof_await_address "$timeout" || echo "nvmeof: no address within $timeout s; see ip= in dracut.cmdline(7)"
	nvmeof_start_tls
	nvmeof_connect_all || echo "nvmeof: see nvmeof-dracut(7); dracut keeps waiting for the root file system"
	: > /tmp/nvmeof.tried
} >&2 &
