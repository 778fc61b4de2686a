// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The logs of discovery services, kept across reboots: the daemon connects by them at once and corrects the result when
 * the services have answered. The file has a header line with format, version and checksum, followed by JSON.
 */
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nvmeof/address.h>
#include <nvmeof/discovery_plan.h>
#include <nvmeof/result.h>

#include "file_writer.h"
#include "mdns_services.h"

namespace nvmeofd {

// Addresses of host names, by the text in the configuration and the port: "target.example 8009"
using KnownAddresses = std::map<std::string, std::vector<nvmeof::Address>, std::less<>>;

struct LastKnown {
	nvmeof::KnownServices services;
	KnownAddresses addresses;
	std::vector<MdnsService> found;
	bool displaced = false; // services found by mDNS are missing, see MdnsServices::displaced()
};

inline constexpr std::size_t maxLastKnown = 64 << 20; // bytes; a larger file is refused

// Usable entries only. If the text would have more than @max bytes, the largest logs are omitted.
std::string formatLastKnown(const LastKnown &known, std::size_t max = maxLastKnown);
// The header line followed by @json
std::string sealLastKnown(std::string_view json);
// Error invalid: another format or version, or damaged
nvmeof::Result<LastKnown> parseLastKnown(std::string_view text);

// Error noSuchObject: there is no file
nvmeof::Result<LastKnown> readLastKnown(const std::filesystem::path &file);
// @text: from formatLastKnown(). The replacement is atomic, also if the machine stops.
nvmeof::Result<void> writeLastKnown(const std::filesystem::path &file, std::string_view text);

// The file, formatted and written in a separate thread. A state that waits for its write is replaced by a newer one.
class LastKnownFile {
public:
	using Write = std::function<nvmeof::Result<void>(const std::filesystem::path &file, std::string_view text)>;

	// @write: a parameter for tests
	explicit LastKnownFile(std::filesystem::path file, Write write = writeLastKnown);

	const std::filesystem::path &path() const { return file_; }
	// To be written by the next write(), if it differs from what the file has
	void put(LastKnown known) { newest_ = std::move(known); }
	// Whether a state is unwritten or being written
	bool pending() const { return newest_ || writer_.running(); }
	// Starts to write unless a write is running. Returns the error of the previous write; the next call tries
	// again.
	nvmeof::Result<void> write();
	// Number of consecutive failures
	unsigned failedWrites() const { return writer_.failures(); }
	// Time until the next write() while a write is pending; grows with each failure.
	std::chrono::milliseconds delay() const { return writer_.delay(); }
	// Writes, and waits at most @patience for the result.
	nvmeof::Result<void> writeAndWait(std::chrono::milliseconds patience);

private:
	std::filesystem::path file_;
	Write write_;
	std::optional<LastKnown> newest_;
	std::shared_ptr<const LastKnown> current_; // being written
	std::shared_ptr<std::string> saved_ =
		std::make_shared<std::string>(); // last written text, of the writing thread
	FileWriter writer_;
};

} // namespace nvmeofd
