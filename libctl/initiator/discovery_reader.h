// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads a discovery log that may change during the read, from a controller that is not trusted: the header, the entries
 * in pieces, and the header again, as hosts do. Entries are passed on as they arrive; they belong to one generation
 * only if done() finally returns whole.
 */
#pragma once

#include "libctl/wire/discovery_log.h"
#include "session.h"

namespace initiator {

class DiscoveryReader {
public:
	using Data = Session::Data;

	class User {
	public:
		// The complete header; called for the first read and for the check
		virtual void header(Data header) = 0;
		// Bytes of the entries, from @offset on, in order
		virtual void entries(std::uint64_t offset, Data data) = 0;

	protected:
		~User() = default;
	};

	enum class Part : std::uint8_t { header, entries, check };
	enum class Outcome {
		going,
		whole,  // complete, and of one generation; an event for the log is cleared
		torn,   // the log has changed during the read
		failed, // see failure()
	};

	DiscoveryReader(Session &session, User &user) : session_(session), user_(user) {}

	// The session has to be live and not busy. @max: bytes per transfer, at least 1,024
	void start(std::uint32_t max);
	// Forward the callbacks of the session to these.
	void data(std::uint32_t offset, Data data);
	Outcome done(const nofctl::wire::Completion &completion);

	Part part() const { return part_; }
	std::uint64_t generation() const { return first_.generation; }
	std::uint64_t count() const { return first_.count; }
	const Failure &failure() const { return failure_; }

private:
	struct Header {
		std::uint64_t generation = 0, count = 0;
		std::uint16_t format = 0;

		bool operator==(const Header &) const = default;
	};

	void compare(std::uint32_t offset, Data data);
	void read(std::uint64_t offset, std::uint64_t length, bool retain);
	Outcome refused(std::uint16_t status);
	Outcome judgeHeader();
	Outcome nextPiece();
	Outcome check();
	Outcome fail(const Failure &failure);
	Outcome unusable(const char *what);

	Session &session_;
	User &user_;
	Page page_;
	Header first_, now_;
	Failure failure_;
	std::uint64_t at_ = 0, end_ = 0; // position in the log
	std::uint32_t max_ = 0;
	std::uint16_t refused_ = 0; // status of a failed piece
	std::array<std::uint8_t, 18> begin_{};
	bool same_ = false;   // the current piece has matched the start of the log so far
	bool astray_ = false; // a piece was the start of the log
	Part part_ = Part::header;
};

} // namespace initiator
