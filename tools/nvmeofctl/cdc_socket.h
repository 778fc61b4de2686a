// SPDX-License-Identifier: LGPL-2.1-or-later
// The control socket of nvmeof-cdc: a JSON object a line, there and back.
#pragma once

#include <chrono>
#include <string>

#include <nvmeof/result.h>

#include "json.h"

class CdcSocket {
public:
	// Errors: noSuchObject where nobody serves, notPermitted
	static nvmeof::Result<CdcSocket> open(const std::string &path);
	CdcSocket(CdcSocket &&other) noexcept;
	~CdcSocket();
	CdcSocket &operator=(CdcSocket &&) = delete;

	nvmeof::Result<void> send(const Json &request);
	// The next line; a negative @time: however long it takes. What the service refuses is the error.
	nvmeof::Result<Json> receive(std::chrono::milliseconds time);

private:
	explicit CdcSocket(int fd) : fd_(fd) {}
	nvmeof::Result<void> fill(std::chrono::milliseconds time);

	int fd_;
	std::string read_;
};
