#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Where there is a nvmeof=, the initqueue begins to connect, and does not end before that has been tried.
# shellcheck disable=SC1091
. /lib/nvmeof/boot.sh

# with what dracut's kernel_cmdline= has put into the initramfs
getcmdline > /tmp/nvmeof.cmdline
if [ -n "$(NVMEOF_CMDLINE=/tmp/nvmeof.cmdline nvmeof_arguments)" ]; then
	echo rd.neednet=1 > /etc/cmdline.d/nvmeof.conf
	# shellcheck disable=SC2154 # dracut sets it
	echo '[ -e /tmp/nvmeof.tried ]' > "$hookdir/initqueue/finished/nvmeof.sh"
	/sbin/initqueue --settled --onetime --unique --name nvmeof /sbin/nvmeof-boot
fi
