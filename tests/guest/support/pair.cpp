// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pair.h"

#include "nvmet.h"
#include "transport.h"

namespace guest {
namespace {

const std::string peerCommand = "/nvmeof/guest/peer ";

std::string address(unsigned lane)
{
	return "10.70." + std::to_string(lane + 1) + ".2";
}

// Sets up the cards once at both ends
const char *const cardsUp = "[ -e /sys/class/net/card1 ] || cards_up rdma";

} // namespace

Output Peer::run(const std::string &text)
{
	return guest::run(peerCommand + "run " + quoted(text));
}

std::string Peer::must(const std::string &text)
{
	auto out = run(text);
	if (out.status)
		throw std::runtime_error("peer: " + text + ": status " + std::to_string(out.status) + ": " + out.text);
	return out.text;
}

void Peer::pull(unsigned card)
{
	guest::must(peerCommand + "pull " + std::to_string(card));
}

void Peer::plug(unsigned card)
{
	guest::must(peerCommand + "plug " + std::to_string(card));
}

void Peer::freeze()
{
	guest::must(peerCommand + "stop");
}

void Peer::thaw()
{
	guest::must(peerCommand + "cont");
}

void Peer::kill()
{
	guest::must(peerCommand + "kill");
	killed_ = true;
}

Pair::Target::Target(const Peer &p) : peer(p)
{
	guest::must(std::string(". /nvmeof/guest/lib.sh; ") + cardsUp);
	auto nqn = std::string(testNqn);
	std::string text = cardsUp;
	text += "\nmodprobe brd rd_nr=1 rd_size=65536 && modprobe -a nvmet-tcp nvmet-rdma\ntarget_subsystem " + nqn;
	text += "\ntarget_namespace " + nqn + " 1 /dev/ram0 " + nvmet::Subsystem::uuidFor(1);
	for (unsigned lane = 0; lane < 2; lane++) {
		auto id = std::to_string(lane + 1);
		text += "\ntarget_port " + id + " " + address(lane) + " 4420 " + transport();
		text += "\ntarget_link " + id + " " + nqn;
	}
	Peer::must(text);
}

Pair::Target::~Target()
{
	if (!peer.killed() && Peer::run("target_remove").status)
		std::perror("the peer's target stays");
}

Pair::Pair() : Ways(host), target_(peer) {}

Pair::~Pair()
{
	repair();
}

nvmeof::ConnectOptions Pair::options(unsigned lane) const
{
	auto o = Host::options(address(lane), "4420");
	o.ctrlLoss = slowly(90s); // ends a test that fails
	return o;
}

static std::string netem(unsigned lane, const std::string &how)
{
	return "modprobe sch_netem && tc qdisc replace dev " + Pair::card(lane) + " root netem limit 20000 " + how;
}

void Pair::impairToTarget(unsigned lane, const std::string &how)
{
	guest::must(netem(lane, how));
}

void Pair::impairToHost(unsigned lane, const std::string &how)
{
	Peer::must(netem(lane, how));
}

static std::string deaf(unsigned lane)
{
	return "modprobe -a sch_ingress cls_matchall act_gact && tc qdisc replace dev " + Pair::card(lane) +
	       " ingress && tc filter add dev " + Pair::card(lane) + " ingress matchall action drop";
}

void Pair::lose(unsigned lane)
{
	guest::must(deaf(lane) + " && " + netem(lane, "loss 100%"));
}

void Pair::deafen(unsigned lane)
{
	Peer::must(deaf(lane));
}

void Pair::repair(unsigned lane)
{
	// the fast part first: a short loss may have to end within a fraction of a second
	guest::run("tc qdisc del dev " + card(lane) + " root; tc qdisc del dev " + card(lane) + " ingress");
	peer.plug(lane + 1);
	Peer::run("tc qdisc del dev " + card(lane) + " root || true; tc qdisc del dev " + card(lane) + " ingress");
	guest::must("ip link set " + card(lane) + " up");
}

void Pair::repair()
{
	if (peer.killed())
		return;
	peer.thaw();
	for (unsigned lane = 0; lane < lanes(); lane++)
		repair(lane);
}

} // namespace guest
