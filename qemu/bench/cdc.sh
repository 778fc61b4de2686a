# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --accel icount --smp 2 --memory 4G --no-checks --timeout 600
# Milliseconds until the last of 1,000 hosts of a storm has read a log of 16 entries, alternately from nvmet's discovery
# controller and from nvmeof-cdc. Both are measured with the same generator in the same guest. Writes /results/cdc: NAME
# MS...

hosts=1000
nqn=nqn.2024-01.io.example:flash
declare -A samples

# storm PEER PORT
storm() {
	local told last
	told=$(nvmeof-storm -a "127.0.0.1:$2" -n $hosts --retry 60 --same --json) || fail "storm at $1: $told"
	last=$(grep -A6 '"whole"' <<< "$told" | sed -n 's/.*"last": *\([0-9.]*\).*/\1/p')
	[ -n "$last" ] || fail "storm at $1: no time in $told"
	echo "bench: $1: $last ms"
	samples[$1]+=" $last"
}

target_modules
target_port 1 127.0.0.1 4420
for i in $(seq 16); do
	target_subsystem $nqn"$i"
	target_link 1 $nqn"$i"
	printf '[[target]]\nnqn = "%s"\ntraddr = "127.0.0.1"\n' $nqn"$i" >> /run/targets.toml
done
mkdir -p /run/cdc
{
	printf 'listen = ["127.0.0.1:8009"]\nstate = "/run/cdc"\ncontrol = "/run/cdc/control"\nweb = []\n'
	printf '[limits]\nper-address = 30000\n[store]\nfile = "/run/cdc/cdc.db"\n'
	cat /run/targets.toml
} > /run/cdc.toml
ulimit -n 16384
nvmeof-cdc --config /run/cdc.toml serve &
wait_for 20 nvmeofctl cdc status --socket /run/cdc/control > /dev/null
for round in 0 $(seq "$REPS"); do
	storm nvmet 4420
	storm nvmeof-cdc 8009
	[ "$round" -gt 0 ] || samples=() # to warm up
done
kill %%
for peer in nvmet nvmeof-cdc; do
	echo "storm1000/guest/$peer/last_ms${samples[$peer]}" >> /results/cdc
done
