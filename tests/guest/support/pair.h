// SPDX-License-Identifier: LGPL-2.1-or-later
// A target in a machine of its own: the second guest of qemu/run --peer.
#pragma once

#include "host.h"
#include "ways.h"

#include <string>

namespace guest {

// The second guest: what it is told, and what happens to its machine (qemu/guest/peer). Cards count from 1.
class Peer {
public:
	static Output run(const std::string &text); // shell, with qemu/guest/lib.sh at hand
	static std::string must(const std::string &text);

	void pull(unsigned card); // its cable: here the carrier stays
	void plug(unsigned card);
	void freeze(); // all processors, and with them its clock
	void thaw();
	void kill(); // for good
	bool killed() const { return killed_; }

private:
	bool killed_ = false;
};

// A subsystem of its nvmet with one namespace, by both cables: lane n is card n + 1.
class Pair : public Ways {
public:
	Pair();
	~Pair() override; // whatever was done to cables and machine is over

	unsigned lanes() const override { return 2; }
	nvmeof::ConnectOptions options(unsigned lane) const override;
	static std::string card(unsigned lane) { return "card" + std::to_string(lane + 1); } // at both ends
	// netem's own words: "loss 1% delay 5ms"
	void impairToTarget(unsigned lane, const std::string &how);
	void impairToHost(unsigned lane, const std::string &how);
	void lose(unsigned lane);   // all packets, both ways, and no carrier goes at either end
	void deafen(unsigned lane); // the target gets nothing of this lane, and still sends
	void repair(unsigned lane); // all but a machine that is gone
	void repair();

	Peer peer;

private:
	// Goes after the host
	struct Target {
		explicit Target(const Peer &peer);
		~Target();
		const Peer &peer;
	};
	Target target_;

public:
	Host host;
};

} // namespace guest
