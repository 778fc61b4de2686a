# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Output of the demos for the user: lines that begin with "demo: ", and numbered steps.

step=0

say() {
	echo "demo: $*"
}

begin_step() {
	step=$((step + 1))
	say
	say "$step. $*"
}

indent() {
	sed 's/^/demo:      /'
}
