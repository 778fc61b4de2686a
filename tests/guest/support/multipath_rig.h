// SPDX-License-Identifier: LGPL-2.1-or-later
// Several paths to one subsystem from the host's side, independent of the target: operations that multipath tests share
#pragma once

#include "fio.h"
#include "host.h"
#include "probe.h"

#include <string>
#include <vector>

namespace guest {

// Each lane is a target address. The host must be destroyed before the targets, so the derived class owns it.
class MultipathRig {
public:
	explicit MultipathRig(Host &host) : host_(host) {}
	virtual ~MultipathRig() = default;
	MultipathRig(const MultipathRig &) = delete;
	MultipathRig &operator=(const MultipathRig &) = delete;

	virtual unsigned lanes() const = 0;
	virtual nvmeof::ConnectOptions options(unsigned lane) const = 0;
	virtual std::uint32_t namespaces() const { return 1; }

	std::string connect(unsigned lane); // returns the controller's name
	void connectAll();                  // in parallel
	// Name of the controller of this lane; empty: none
	std::string name(unsigned lane);
	std::string disk(std::uint32_t nsid = 1) { return host_.disk(nsid); }
	nvmeof::Path path(unsigned lane, std::uint32_t nsid = 1); // throws if there is none
	bool waitPaths(std::uint32_t usable, std::uint32_t nsid = 1, Millis timeout = 20s);
	bool allLive(Millis timeout = 20s);
	bool waitAna(unsigned lane, nvmeof::AnaState state, std::uint32_t nsid = 1, Millis timeout = 5s);

	std::string subsystemName();
	Output trySet(const std::string &values); // nvmeofctl set nvmeof0 VALUES
	void set(const std::string &values);      // fails the test if refused
	std::vector<std::string> policies();

	// Waits until a load that was started does I/O, because fio starts slowly.
	bool waitForLoad(std::uint32_t nsid = 1, Millis timeout = 10s);
	// Share of the I/Os that completed during the action, per lane, from 0 to 1
	std::vector<double> shares(const std::function<void()> &action, std::uint32_t nsid = 1);
	// Lane with the most I/O at present
	unsigned busyLane();

private:
	std::vector<std::uint64_t> counts(std::uint32_t nsid);

	Host &host_;
};

std::string percent(const std::vector<double> &shares); // "30 % 70 %"
// With verification at this depth; ends after `seconds`
FioJob verifiedJob(const std::string &disk, unsigned seconds, unsigned depth = 8);
void expectGood(FioLoad &load);
// Fails if the load ended early, so that it was running during the whole test; then ends it after reading back its
// data.
void expectGoodUntilNow(FioLoad &load);
void expectGood(Probe &probe); // stops it
void pause(Millis time);
bool kernelLogHas(const std::string &words);            // since the test case began; a basic regular expression
unsigned long kernelLogCount(const std::string &words); // number of lines since then; an extended regular expression

} // namespace guest
