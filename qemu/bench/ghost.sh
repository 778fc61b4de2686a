# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --accel icount --smp 2 --memory 2G --no-checks --timeout 4800
# Ghost writes, by the cases of tests/guest/fencing.cpp and ghost_intree.cpp: one path is lost while its controller
# holds a write, which it executes when the other path has already written something newer there, unless it is kept
# from it. With fencing=safe GHOST_ROUNDS rounds, ten of them without Cross-Controller Reset; by default 20 after
# silence, and half of GHOST_ROUNDS with a backend that hangs while its connections stand; 20 with fencing=immediate.
# 20 of each kind of loss with the in-tree driver, which has no choice. Writes /results/ghost, a line for each case:
# FENCING DRIVER OVERWRITTEN ROUNDS.

export NVMEOF_FENCING_RECORD=/results/ghost
export NVMEOF_FENCING_CCR=$((GHOST_ROUNDS - 10)) NVMEOF_FENCING_BOUND=10 NVMEOF_FENCING_IMMEDIATE=20
export NVMEOF_FENCING_AUTO=20 NVMEOF_FENCING_SLOW=$((GHOST_ROUNDS / 2))

# ghosts RECORDS PROGRAM [SELECTION]: a ghost fails the test, but is a figure here; a case that broke off has left none.
ghosts() {
	local before after
	touch /results/ghost
	before=$(wc -l < /results/ghost)
	"/nvmeof/tests/${@:2}" || echo "bench: a check failed in ${*:2}"
	after=$(wc -l < /results/ghost)
	[ $((after - before)) = "$1" ] || fail "$((after - before)) cases of ${*:2} came to their end, not $1"
}

for driver in $DRIVERS; do
	case $driver in
	ours) ghosts 5 fencing 'fencing=*' ;;
	intree)
		modprobe nvme-tcp
		intree_identity
		ghosts 2 ghost_intree
		;;
	esac
done
