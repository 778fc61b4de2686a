# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --kernel 6.1 --smp 4 --kargs possible_cpus=256 --memory 4G --no-checks --timeout 900
# Kernel memory of a subsystem's requests by the number of requested queues, up to one for each possible CPU. Kernels
# before 6.9 take the number of possible CPUs from the command line. One controller, which gets at most 64 queues, and
# one namespace. The target is a userspace process, whose sockets are included.
#
#   qemu/run --job qemu/bench/requests.sh --add build/user/tests/target/nvmeof-target

nqn=nqn.2024-01.io.example:mem

# used QUEUES [OPTION...]: KiB of kernel memory that the connection uses
used() {
	local before after queues=$1
	shift
	before=$(kernel_memory)
	nvmeofctl connect -n $nqn -a 127.0.0.1 -s 5000 -i "$queues" -k 60 --connect-tmo 60 "$@" > /run/connect.out
	nvmeofctl list-subsys --json > /run/subsys.json
	sleep 2
	after=$(kernel_memory)
	nvmeofctl disconnect --all > /run/disconnect.out
	sleep 5
	echo $((after - before))
}

tags() {
	grep -o '"tags": *[0-9]*' /run/subsys.json | grep -o '[0-9]*$' | head -n 1
}

modprobe nvmeof_tcp
IFS=- read -r _ last < /sys/devices/system/cpu/possible
/nvmeof/add/nvmeof-target -a 127.0.0.1 -p 5000 -n $nqn > /run/target.out &
sleep 1
for queues in 64 $((last + 1)); do
	used "$queues" > /run/warm
	default=$(used "$queues")
	nr=$(tags)
	least=$(used "$queues" --tags 64)
	most=$(used "$queues" --tags 1024)
	each=$(((most - least) * 1024 / (1024 - 64) / queues))
	echo "requests: $queues queues, $nr tags each by default: $default KiB in all;" \
		"--tags 64: $least, 1024: $most KiB;" \
		"so a request: $each bytes, all by default: $((each * nr * queues / 1024)) KiB" |
		tee -a /results/requests
done
kill %%
wait
