# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#guest: --accel icount --shift 0 --smp 1 --memory 2G --no-checks --timeout 1500
# As cost.sh, over TLS: AES-128-GCM with one key for each driver, with handshakes by nvmeof-tlsd.

# shellcheck source=qemu/bench/stack.sh
. /nvmeof/add/stack.sh

connect_ours() {
	load_driver ours
	nvmeofctl connect -n "$(nqn_of ours)" -a 127.0.0.1:4420 --tls-key /run/tls.key --wait=ns > /run/connect.out
}

# connect_with_tls STACK OPTIONS: the in-tree driver, whose command of Debian 12 has no option for a key's number
connect_with_tls() {
	local host id key
	load_driver "$1"
	host=$(cat /etc/nvme/hostnqn)
	id=$(cat /etc/nvme/hostid)
	nvmeofctl key insert /run/tls.key -q "$host" -n "$(nqn_of "$1")" --json > /run/key.json
	key=$(sed -n 's/.*"serial": *\([0-9]*\).*/\1/p' /run/key.json)
	printf 'nqn=%s,transport=tcp,traddr=127.0.0.1,trsvcid=4420,hostnqn=%s,hostid=%s,tls,tls_key=%s%s' \
		"$(nqn_of "$1")" "$host" "$id" "$key" "$2" > /dev/nvme-fabrics
}

connect_intree() {
	connect_with_tls intree ""
}

connect_tuned() {
	connect_with_tls tuned ,disable_sqflow
	find_disk tuned
	no_scheduler tuned
}

drivers=$(with_tuned)
modprobe null_blk nr_devices=3 gb=4 bs=4096 queue_mode=2 irqmode=0 completion_nsec=0 submit_queues=1 hw_queue_depth=256
modprobe -a tls nvme-keyring
target_modules
nvmeofctl key generate --tls --output /run/tls.key
nvmeof-tlsd 2> /run/tlsd.log &
sleep 2
target_port 1 127.0.0.1 4420
echo tls1.3 > "$nvmet/ports/1/addr_tsas"
# shellcheck disable=SC2086 # words
share_port $drivers
sleep 1
for round in $(seq 0 "$REPS"); do
	echo "bench: round $round"
	sample tls/randread/4k/qd1 read 4096 1 1000 random batch
	sample tls/randwrite/4k/qd1 write 4096 1 1000 random batch
	sample tls/randread/4k/qd16 read 4096 16 1000 random batch
	sample tls/randwrite/4k/qd16 write 4096 16 1000 random batch
	sample tls/read/128k/qd1 read 131072 1 50 sequential batch
	sample tls/read/128k/qd4 read 131072 4 100 sequential batch
	sample tls/write/128k/qd4 write 131072 4 100 sequential batch
done
end_samples
