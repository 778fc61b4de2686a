// SPDX-License-Identifier: LGPL-2.1-or-later
// Input: a discovery log and the behaviour of the target at each read: the log may change, fail or be wrong. Afterwards
// "discover" prints the log.
#include "shown.h"

#include <endian.h>

#include "discover.h"
#include "libctl/discovery/discovery_log.h"
#include "nvmeof/address.h"

using namespace nvmeof;

namespace {

constexpr std::size_t block = nofctl::wire::discoveryBlock;
constexpr std::size_t maxPieces = nofctl::wire::maxDiscoveryEntries; // bound of reads of one entry each
constexpr std::size_t maxShown = 64;                                 // more entries would test nothing new

// Behaviour of the target at one read
enum Turn : std::uint8_t { good, changes, fails, restarts, lies, turns };

class Target : public nofctl::LogSource {
public:
	explicit Target(Input in)
		: max_((1 + in.take<std::uint8_t>() % 8) * block - in.take<std::uint8_t>() % 2),
		  offsets_(in.take<std::uint8_t>() % 2 == 0), turns_(in.cut(in.take<std::uint8_t>() % 32)),
		  log_(in.rest().begin(), in.rest().end())
	{
		max_ = std::max(max_, block);
	}

	Result<void> read(std::uint64_t offset, std::span<std::byte> to, bool) override
	{
		expect(to.size() <= max_ && !to.empty() && to.size() % 4 == 0, "a read is as long as it may be");
		expect(offset == 0 || (offsets_ && offset % 4 == 0), "and begins where it may");
		expect(++reads_ <= (maxPieces + 3) * nofctl::discoveryTries, "and there is an end to it");
		const Turn turn = turnOf(reads_);
		if (turn == fails || turn == restarts)
			return refusal(turn == fails ? 0x6 : 0x190);
		copy(turn == lies ? 0 : offset, to);
		if (offset == 0)
			header_.assign(to.begin(), to.begin() + block);
		if (turn == changes && !log_.empty())
			log_[0]++;
		return {};
	}
	std::size_t max() const override { return max_; }
	bool offsets() const override { return offsets_; }
	bool again(int tries) override
	{
		expect(tries == ++again_ && tries < nofctl::discoveryTries, "tries are counted");
		return true;
	}

	// A field of the header as of its last read
	std::uint64_t number(std::size_t offset) const
	{
		std::uint64_t value = 0;
		std::memcpy(&value, header_.data() + offset, sizeof(value));
		return le64toh(value);
	}

private:
	void copy(std::uint64_t offset, std::span<std::byte> to) const
	{
		const auto there = std::as_bytes(Bytes(log_)).subspan(std::min<std::uint64_t>(offset, log_.size()));
		const auto length = std::min(there.size(), to.size());
		std::ranges::copy(there.first(length), to.begin());
		std::ranges::fill(to.subspan(length), std::byte());
	}
	Turn turnOf(std::size_t read) const
	{
		return read <= turns_.size() ? static_cast<Turn>(turns_[read - 1] % turns) : good;
	}
	static Error refusal(std::uint16_t status)
	{
		Error error;
		error.code = ErrorCode::refused;
		error.message = "refused";
		error.nvmeStatus = status;
		return error;
	}

	std::size_t max_;
	bool offsets_;
	Bytes turns_;
	std::vector<std::uint8_t> log_;
	std::vector<std::byte> header_ = std::vector<std::byte>(block);
	std::size_t reads_ = 0;
	int again_ = 0;
};

void checkEntry(const DiscoveryEntry &entry)
{
	expect(entry.subsysnqn.size() <= 256 && entry.traddr.size() <= 256 && entry.trsvcid.size() <= 32,
	       "texts are as long as their fields at most");
	expect(entry.subsysnqn.find('\0') == std::string::npos, "and end at a NUL");
	if (!entry.defect.empty())
		return;
	expect(checkNqn(entry.subsysnqn).ok(), "a usable entry has an NQN");
	expect(entry.kind != EntryKind::unknown, "and a kind");
	if (entry.transport != "tcp")
		return;
	const std::string typed = Address{entry.traddr, entry.trsvcid}.toString();
	const Result<Address> address = parseAddress(typed);
	expect(address && address->traddr == entry.traddr, "and an address, which can be typed");
}

} // namespace

void fuzz(Input in)
{
	Target target(in);
	const Result<DiscoveryLog> log = nofctl::readDiscoveryLog(target);
	if (!log) {
		expect(!log.error().message.empty(), "an error has words");
		return;
	}
	expect(log->generation == target.number(0), "the log is of the generation that was read last");
	expect(log->entries.size() == target.number(8), "and whole");
	for (const DiscoveryEntry &entry : log->entries)
		checkEntry(entry);
	if (log->entries.size() > maxShown)
		return;
	expectPlain(formatLog(*log));
	expectJson(toJson(*log));
	expectPlain(dump(toJson(*log), 2));
}
