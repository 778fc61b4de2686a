# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --accel icount --smp 2 --memory 2G --no-checks --timeout 4800
# Late writes ("ghosts") as in tests/guest/paths/fencing.cpp and ghost_intree.cpp: one path is lost while its controller
# holds a write. The controller executes it after newer data were written over the other path, unless fencing prevents
# that. fencing=safe runs GHOST_ROUNDS rounds: ten without Cross-Controller Reset, by default 20 after silence, and half
# of GHOST_ROUNDS with a backend that hangs while its connections stay up. fencing=immediate runs 20. The in-tree
# driver, which has no such setting, runs 20 of each kind of loss. Writes /results/ghost, a line for each case: FENCING
# DRIVER OVERWRITTEN ROUNDS.

export NVMEOF_FENCING_RECORD=/results/ghost
export NVMEOF_FENCING_CCR=$((GHOST_ROUNDS - 10)) NVMEOF_FENCING_BOUND=10 NVMEOF_FENCING_IMMEDIATE=20
export NVMEOF_FENCING_AUTO=20 NVMEOF_FENCING_SLOW=$((GHOST_ROUNDS / 2))

# ghosts RECORDS PROGRAM [SELECTION]: an overwrite fails the test, but counts as a result here. A case that broke off
# leaves no record.
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
