// SPDX-License-Identifier: LGPL-2.1-or-later
// Several ways to one subsystem, by the host's end: what tests of multipath ask and do, whatever is at the other end.
#pragma once

#include "fio.h"
#include "host.h"
#include "probe.h"

#include <string>
#include <vector>

namespace guest {

// Each way, or lane, is an address. The host has to go before the targets do: it is a member of who derives.
class Ways {
public:
	explicit Ways(Host &host) : host_(host) {}
	virtual ~Ways() = default;
	Ways(const Ways &) = delete;
	Ways &operator=(const Ways &) = delete;

	virtual unsigned lanes() const = 0;
	virtual nvmeof::ConnectOptions options(unsigned lane) const = 0;
	virtual std::uint32_t namespaces() const { return 1; }

	std::string connect(unsigned lane); // the controller's name
	void connectAll();                  // at once
	// Of the controller at this lane; empty: there is none.
	std::string name(unsigned lane);
	std::string disk(std::uint32_t nsid = 1) { return host_.disk(nsid); }
	nvmeof::Path path(unsigned lane, std::uint32_t nsid = 1); // throws when there is none
	bool waitPaths(std::uint32_t usable, std::uint32_t nsid = 1, Millis timeout = 20s);
	bool allLive(Millis timeout = 20s);
	bool waitAna(unsigned lane, nvmeof::AnaState state, std::uint32_t nsid = 1, Millis timeout = 5s);

	std::string subsystemName();
	Output trySet(const std::string &values); // nvmeofctl set nvmeof0 VALUES
	void set(const std::string &values);      // has to be accepted
	std::vector<std::string> policies();

	// A load that was started has reached the disk: fio takes its time.
	bool flowing(std::uint32_t nsid = 1, Millis timeout = 10s);
	// Share of the completed I/Os, per lane and from 0 to 1, while the action ran.
	std::vector<double> shares(const std::function<void()> &action, std::uint32_t nsid = 1);
	// The one that takes most of what goes on now
	unsigned busyLane();

private:
	std::vector<std::uint64_t> counts(std::uint32_t nsid);

	Host &host_;
};

std::string percent(const std::vector<double> &shares); // "30 % 70 %"
// Verified, at depth; ends after so many seconds.
FioJob verifiedJob(const std::string &disk, unsigned seconds, unsigned depth = 8);
void expectGood(FioLoad &load);
// The load is still at it, so it has met all that the test did; what it wrote meanwhile is read back, and it ends.
void expectGoodUntilNow(FioLoad &load);
void expectGood(Probe &probe); // stops it
void pause(Millis time);
bool kernelSaid(const std::string &words);           // since the test case began; a regular expression
unsigned long kernelLines(const std::string &words); // how many, likewise; an extended one

} // namespace guest
