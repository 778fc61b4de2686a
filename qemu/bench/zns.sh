# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --accel icount --shift 0 --smp 2 --memory 2G --no-checks --timeout 900
#guest: --allow blk_zone_write_plug --allow cut.here --allow Call.Trace
# Latency of an I/O at a queue depth of 16, in guest time: sequential writes of 4 KiB to a zoned drive and to a
# conventional one, and zone appends by passthrough. The drives need 20 us for each. Then the same drives over two
# paths, which are cut alternately while fio writes to zones and verifies the data: how many of 20 cuts succeed. The
# kernel warns about unexpected zone states after the in-tree driver has lost a write. Writes /results/zns:
# CASE/PERCENTILE STACK MICROSECONDS, and /results/changes: CASE STACK CUTS.
# shellcheck source=qemu/bench/stack.sh
. /nvmeof/add/stack.sh

count=2000
zone_mib=64
cuts=20
nullb=/sys/kernel/config/nullb

# make_drive NAME ZONED: creates a null_blk and prints its device
make_drive() {
	local drive=$nullb/$1 device
	mkdir "$drive"
	echo 1024 > "$drive/size"
	echo 4096 > "$drive/blocksize"
	echo 2 > "$drive/irqmode"
	echo 20000 > "$drive/completion_nsec"
	echo "$2" > "$drive/zoned"
	echo $zone_mib > "$drive/zone_size"
	echo 1 > "$drive/power"
	device=/dev/$1 # or by its number, up to 6.1
	[ -b "$device" ] || device=/dev/nullb$(cat "$drive/index")
	patiently 10 test -b "$device"
	echo "$device"
}

zoned_uuid_of() {
	echo "00000000-0000-4000-8000-00000000030$(index "$1")"
}

# note CASE STACK "P50 P99 P99.9"
note() {
	local case=$1 stack=$2 name
	set -- $3
	for name in p50 p99 p99.9; do
		echo "$case/$name $stack $1" >> /results/zns
		shift
	done
}

measure() {
	local stack=$1 zoned=${zoned[$1]}
	blkzone reset "$zoned"
	note zns/write/4k/qd16 "$stack" "$(iocount "$zoned" write 4096 16 $count sequential batch latency | tail -n 1)"
	note conventional/write/4k/qd16 "$stack" \
		"$(iocount "${device[$stack]}" write 4096 16 $count sequential batch latency | tail -n 1)"
	blkzone reset "$zoned"
	note zns/append/qd16 "$stack" \
		"$(cmdcount "$(generic_of "$zoned")" 2 4096 append 4096 16 $count $((zone_mib * 256)) | tail -n 1)"
}

# cut STACK PATH: closes its connections; the host reconnects
cut() {
	far "$1" "$2" ss -K sport = :4420 > /run/cut
	patiently 60 live "$1" 2
	sleep 0.2
}

write_zones() {
	blkzone reset "$1"
	fio --thread --name=zones --filename="$1" --allow_file_create=0 --rw=write --bs=4k --iodepth=8 \
		--ioengine=libaio --direct=1 --zonemode=zbd --size=768m --rate_iops=200 --time_based --runtime=600 \
		--verify=crc32c --verify_fatal=1 --output=/run/fio
}

survive() {
	local done=0 pid
	write_zones "${zoned[$1]}" &
	pid=$!
	sleep 1
	while [ $done -lt $cuts ] && kill -0 $pid 2> /run/gone; do
		cut "$1" $((done % 2 + 1))
		done=$((done + 1))
	done
	if kill $pid 2> /run/gone; then echo "bench: $1 survived $done cuts"; else cat /run/fio; fi
	wait $pid || true
	echo "zns/path-changes $1 $done" >> /results/changes
}

modprobe null_blk nr_devices=0
modprobe veth
target_modules
declare -A zoned
for stack in $DRIVERS; do
	make_target "$stack" 2 "$(make_drive "plain-$stack" 0)"
	target_namespace "$(nqn_of "$stack")" 2 "$(make_drive "zoned-$stack" 1)" "$(zoned_uuid_of "$stack")"
	connect_stack "$stack" 1
	patiently 30 by_uuid "$(zoned_uuid_of "$stack")" "$(prefix_of "$stack")" > /run/found
	zoned[$stack]=$(by_uuid "$(zoned_uuid_of "$stack")" "$(prefix_of "$stack")")
	[ "$stack" = ours ] || no_scheduler "$stack"
done
for round in $(seq "$REPS"); do
	echo "bench: round $round"
	for stack in $DRIVERS; do measure "$stack"; done
done
for stack in $DRIVERS; do
	connect_stack "$stack" 2
	survive "$stack"
done
