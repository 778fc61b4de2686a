// SPDX-License-Identifier: LGPL-2.1-or-later
// A target on a separate machine: the second guest of qemu/run --peer
#pragma once

#include "host.h"
#include "multipath_rig.h"

#include <string>

namespace guest {

// Runs commands on the second guest and controls its machine (qemu/guest/peer). Network cards count from 1.
class PeerMachine {
public:
	static Output run(const std::string &text); // a shell command; qemu/guest/lib.sh is loaded
	static std::string must(const std::string &text);

	void pull(unsigned card); // unplugs its cable; the carrier on this side stays
	void plug(unsigned card);
	void freeze(); // stops all processors and the clock
	void thaw();
	void kill(); // permanently
	bool killed() const { return killed_; }

private:
	bool killed_ = false;
};

// A subsystem of the peer's nvmet with one namespace, over both cables: lane n is card n + 1.
class TwoMachines : public MultipathRig {
public:
	TwoMachines();
	~TwoMachines() override; // reverts all impairments

	unsigned lanes() const override { return 2; }
	nvmeof::ConnectOptions options(unsigned lane) const override;
	static std::string card(unsigned lane) { return "card" + std::to_string(lane + 1); } // at both ends
	// netem options: "loss 1% delay 5ms"
	void impairToTarget(unsigned lane, const std::string &how);
	void impairToHost(unsigned lane, const std::string &how);
	void lose(unsigned lane);   // drops all packets in both directions; the carrier stays at both ends
	void deafen(unsigned lane); // the target receives nothing on this lane, but still sends
	void repair(unsigned lane); // everything except a killed machine
	void repair();

	PeerMachine peer;

private:
	// Destroyed after the host
	struct Target {
		explicit Target(const PeerMachine &peer);
		~Target();
		const PeerMachine &peer;
	};
	Target target_;

public:
	Host host;
};

} // namespace guest
