// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A discovery controller: executes the commands of one host (NVMe Base 2.0, 3.1.2.3 and 5). It uses neither sockets nor
 * threads.
 */
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "libctl/wire/fabrics.h"
#include "libctl/wire/identify.h"
#include "libctl/wire/registration.h"
#include "views.h"

namespace cdc {

// How an instance identifies itself to hosts
struct Identity {
	std::string id;     // UUID, kept across restarts
	std::string nqn;    // of its discovery subsystem, in addition to the well-known NQN
	std::string serial; // at most 20 characters
	std::string version;
};

constexpr std::uint32_t queueEntries = 128;             // maximum of the admin queue
constexpr std::uint32_t maxKato = 600000;               // ms; upper limit of KATO
constexpr std::uint32_t maxRegistrationSize = 1u << 20; // bytes

struct Answer {
	std::uint16_t status = nofctl::wire::st_ok;
	std::uint64_t result = 0;
	nofctl::wire::Bytes data = {};
	// After the data: @length bytes of the page's entries from @offset on, then @zeros zero bytes
	std::shared_ptr<const Page> page = {};
	std::uint64_t offset = 0, length = 0, zeros = 0;

	std::uint64_t dataLength() const { return data.size() + length + zeros; }
};

// Completed later: an Asynchronous Event Request or a registration
struct Later {};
using Outcome = std::optional<Answer>; // absent: completed later

class Controller {
public:
	Controller(const Identity &identity, std::uint16_t cntlid, const nofctl::wire::Connect &connect,
		   std::shared_ptr<const Views> views);

	// Checks a Connect command and its data. Returns its status; @result: dword 0 and 1 of the completion
	static std::uint16_t check(const nofctl::wire::Command &cmd, std::span<const std::uint8_t> data,
				   const Identity &identity, nofctl::wire::Connect &connect, std::uint64_t &result);

	// Executes any command except Connect and DIM
	Outcome handle(const nofctl::wire::Command &cmd);
	// Decodes the data of a DIM command. Absent: this host may not send it; @status has the reason.
	std::optional<nofctl::wire::Registration>
	registration(const nofctl::wire::Command &cmd, std::span<const std::uint8_t> data, std::uint16_t &status);
	// Adds an entry to the error log
	void failed(const nofctl::wire::Command &cmd, std::uint16_t status);

	// Replaces the views; event() reports whether the host's log has changed.
	void tell(std::shared_ptr<const Views> views);
	// The next completion of an Asynchronous Event Request, if one is due
	struct Event {
		std::uint16_t cid;
		std::uint16_t status;
		std::uint32_t result;
	};
	std::optional<Event> event();

	std::uint16_t cntlid() const { return cntlid_; }
	const std::string &hostnqn() const { return hostnqn_; }
	const std::array<std::uint8_t, 16> &hostid() const { return hostid_; }
	std::uint32_t kato() const { return kato_; } // ms; 0: none
	const ZoneSet &zones() const { return *zones_; }
	bool wantsEvents() const { return events_ && requests_ > 0; }
	bool hasRead() const { return generation_ != 0; }        // the discovery log
	std::uint64_t generation() const { return generation_; } // of the log that the host has read; 0: none yet
	bool current() const { return hasRead() && views_->of(zones_) == page_; }

private:
	Outcome fabrics(const nofctl::wire::Command &cmd);
	Answer propertyGet(const nofctl::wire::Command &cmd) const;
	Answer propertySet(const nofctl::wire::Command &cmd);
	Answer identify(const nofctl::wire::Command &cmd) const;
	Answer logPage(const nofctl::wire::Command &cmd);
	Answer discoveryLog(std::uint64_t offset, std::uint64_t length, bool retain);
	Answer setFeatures(const nofctl::wire::Command &cmd);
	Answer getFeatures(const nofctl::wire::Command &cmd) const;
	Outcome requestEvent(const nofctl::wire::Command &cmd);
	Answer abort(const nofctl::wire::Command &cmd);
	void reset();

	static constexpr std::size_t maxRequests = 4; // AERL + 1
	static constexpr std::size_t maxErrors = 4;   // ELPE + 1

	const Identity &identity_;
	std::string hostnqn_;
	std::array<std::uint8_t, 16> hostid_;
	std::uint16_t cntlid_;
	bool byOwnNqn_; // Connect named the NQN of this service, not the well-known one
	bool events_ = false;
	bool eventSent_ = false; // an event was sent, and the log was not read since
	std::uint8_t requests_ = 0;
	std::array<std::uint16_t, maxRequests> cids_{};
	std::optional<std::uint16_t> aborted_; // aborted request whose completion is pending
	std::uint32_t kato_;
	std::uint32_t cc_ = 0, csts_ = 0;
	std::shared_ptr<const Views> views_;
	std::shared_ptr<const void> inUse_; // see ZoneTable::use()
	const ZoneSet *zones_;
	std::shared_ptr<const Page> page_;             // last read from offset 0
	std::uint64_t generation_ = 0;                 // reported with page_
	std::vector<nofctl::wire::ErrorEntry> errors_; // newest first
	std::uint64_t errorCount_ = 0;
};

} // namespace cdc
