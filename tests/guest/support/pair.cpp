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

Output PeerMachine::run(const std::string &text)
{
	return guest::run(peerCommand + "run " + quoted(text));
}

std::string PeerMachine::must(const std::string &text)
{
	auto out = run(text);
	if (out.status)
		throw std::runtime_error("peer: " + text + ": status " + std::to_string(out.status) + ": " + out.text);
	return out.text;
}

void PeerMachine::pull(unsigned card)
{
	guest::must(peerCommand + "pull " + std::to_string(card));
}

void PeerMachine::plug(unsigned card)
{
	guest::must(peerCommand + "plug " + std::to_string(card));
}

void PeerMachine::freeze()
{
	guest::must(peerCommand + "stop");
}

void PeerMachine::thaw()
{
	guest::must(peerCommand + "cont");
}

void PeerMachine::kill()
{
	guest::must(peerCommand + "kill");
	killed_ = true;
}

TwoMachines::Target::Target(const PeerMachine &p) : peer(p)
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
	PeerMachine::must(text);
}

TwoMachines::Target::~Target()
{
	if (!peer.killed() && PeerMachine::run("target_remove").status)
		std::perror("the peer's target stays");
}

TwoMachines::TwoMachines() : MultipathRig(host), target_(peer) {}

TwoMachines::~TwoMachines()
{
	repair();
}

nvmeof::ConnectOptions TwoMachines::options(unsigned lane) const
{
	auto o = Host::options(address(lane), "4420");
	o.ctrlLoss = scaled(90s); // ends a test that fails
	return o;
}

static std::string netem(unsigned lane, const std::string &how)
{
	return "modprobe sch_netem && tc qdisc replace dev " + TwoMachines::card(lane) + " root netem limit 20000 " +
	       how;
}

void TwoMachines::impairToTarget(unsigned lane, const std::string &how)
{
	guest::must(netem(lane, how));
}

void TwoMachines::impairToHost(unsigned lane, const std::string &how)
{
	PeerMachine::must(netem(lane, how));
}

static std::string deaf(unsigned lane)
{
	return "modprobe -a sch_ingress cls_matchall act_gact && tc qdisc replace dev " + TwoMachines::card(lane) +
	       " ingress && tc filter add dev " + TwoMachines::card(lane) + " ingress matchall action drop";
}

void TwoMachines::lose(unsigned lane)
{
	guest::must(deaf(lane) + " && " + netem(lane, "loss 100%"));
}

void TwoMachines::deafen(unsigned lane)
{
	PeerMachine::must(deaf(lane));
}

void TwoMachines::repair(unsigned lane)
{
	// the fast part first: a short loss may have to end within a fraction of a second
	guest::run("tc qdisc del dev " + card(lane) + " root; tc qdisc del dev " + card(lane) + " ingress");
	peer.plug(lane + 1);
	PeerMachine::run("tc qdisc del dev " + card(lane) + " root || true; tc qdisc del dev " + card(lane) +
			 " ingress");
	guest::must("ip link set " + card(lane) + " up");
}

void TwoMachines::repair()
{
	if (peer.killed())
		return;
	peer.thaw();
	for (unsigned lane = 0; lane < lanes(); lane++)
		repair(lane);
}

} // namespace guest
