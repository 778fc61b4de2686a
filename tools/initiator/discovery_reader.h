// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads a discovery log that may change while it is read, over a session with a controller that may tell anything: its
 * header, its entries in pieces, and the header once more, as hosts do. Entries are handed on as they come, and are of
 * one generation only if that is what done() says in the end.
 */
#pragma once

#include "libctl/wire/discovery_log.h"
#include "session.h"

namespace initiator {

constexpr std::uint64_t most_entries = 16384; // 16 MiB: more than any fabric has ports

class DiscoveryReader {
public:
	using Data = Session::Data;

	class User {
	public:
		// All of it; first, and again when it is read once more
		virtual void header(Data header) = 0;
		// Of the entries, from byte @offset of the first one on; in order
		virtual void entries(std::uint64_t offset, Data data) = 0;

	protected:
		~User() = default;
	};

	enum class Part : std::uint8_t { header, entries, check };
	enum class Outcome {
		going,
		whole,  // read, and of one generation; an event that told of it is cleared
		torn,   // it has changed meanwhile
		failed, // failure() says why
	};

	DiscoveryReader(Session &session, User &user) : session_(session), user_(user) {}

	// The session is live and not busy. @most: bytes of one transfer, 1,024 at least
	void start(std::uint32_t most);
	// What the session tells its user meanwhile
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
	std::uint64_t at_ = 0, end_ = 0; // in the log
	std::uint32_t most_ = 0;
	std::uint16_t refused_ = 0; // status of a piece
	std::array<std::uint8_t, 18> begin_{};
	bool same_ = false;   // so far a piece from the middle is the beginning
	bool astray_ = false; // one was
	Part part_ = Part::header;
};

} // namespace initiator
