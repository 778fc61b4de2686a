#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# The interfaces that the root file system is reached by have to stay as they are: after this, all that have an address.
# The agent for TLS is that of the system from now on.
# shellcheck disable=SC1091
. /lib/nvmeof/boot.sh

if [ -e /tmp/nvmeof.tried ]; then
	ip -o address show up scope global | while read -r _ name _; do nvmeof_keep_network "$name"; done
	# those of DHCP would end with their lease, which nobody renews any more
	ip -o address show up scope global dynamic | while read -r _ name _ address _; do
		ip address change "$address" dev "$name" valid_lft forever preferred_lft forever
	done
fi
nvmeof_stop_tls
