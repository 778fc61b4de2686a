// SPDX-License-Identifier: LGPL-2.1-or-later
// Client of the control socket of nvmeof-cdc, and its answers as text. Requests and answers are JSON objects, one per
// line.
#pragma once

#include <chrono>
#include <string>

#include <nvmeof/result.h>

#include "json.h"
#include "libctl/base/epoll.h"

class CdcSocket {
public:
	// @time limits the connect and each send. Errors: noSuchObject if no service listens on @path, notPermitted,
	// timedOut
	static nvmeof::Result<CdcSocket> open(const std::string &path, std::chrono::milliseconds time);

	nvmeof::Result<void> send(const Json &request);
	// The next line. Waits at most @time for its end, without limit if negative. A refusal by the service is
	// returned as its error.
	nvmeof::Result<Json> receive(std::chrono::milliseconds time);

private:
	explicit CdcSocket(int fd) : fd_(fd) {}
	nvmeof::Result<void> fill(std::chrono::milliseconds time);

	nofctl::OwnedFd fd_;
	std::string read_;
};

inline constexpr const char *usualCdcSocket = "/run/nvmeof-cdc/control";

// Text output of the answers of nvmeof-cdc. The service may be of another version, so any member may be absent.
std::string cdcStatusText(const Json &status);
std::string cdcHostsText(const Json &document);
std::string cdcTargetsText(const Json &document);
std::string cdcZonesText(const Json &document);
std::string cdcInstancesText(const Json &document);
std::string cdcChangeText(const Json &change); // one or more lines
