// SPDX-License-Identifier: LGPL-2.1-or-later
#include "discovery_reader.h"

#include <algorithm>

namespace initiator {

using namespace nofctl::wire;

void DiscoveryReader::start(std::uint32_t max)
{
	max_ = static_cast<std::uint32_t>(session_.info().maxTransfer(max) / discoveryBlock * discoveryBlock);
	part_ = Part::header;
	refused_ = 0;
	astray_ = false;
	read(0, discoveryBlock, true);
}

void DiscoveryReader::read(std::uint64_t offset, std::uint64_t length, bool retain)
{
	const auto bytes = static_cast<std::uint32_t>(length);
	session_.run(getLog(log_discovery, offset, bytes, retain), bytes);
}

// Detects a controller that ignores the offset and returns the start of the log: an entry has an NQN where the header
// has zeros.
void DiscoveryReader::compare(std::uint32_t offset, Data data)
{
	constexpr std::size_t name = offsetof(DiscoveryEntry, subnqn);
	if (!at_ || offset > name)
		return;
	same_ = same_ || !offset;
	for (std::size_t i = offset; i < begin_.size() && i - offset < data.size(); i++)
		same_ = same_ && data[i - offset] == begin_[i];
	if (name - offset < data.size())
		astray_ = astray_ || (same_ && !data[name - offset]);
}

void DiscoveryReader::data(std::uint32_t offset, Data data)
{
	if (part_ == Part::entries) {
		compare(offset, data);
		const std::uint64_t at = at_ + offset;
		if (at < discoveryBlock) // skip the header, if offsets are not supported
			data = data.subspan(std::min<std::size_t>(data.size(), discoveryBlock - at));
		if (!data.empty())
			user_.entries(std::max<std::uint64_t>(at, discoveryBlock) - discoveryBlock, data);
		return;
	}
	const Data all = page_.take(offset, data, discoveryBlock);
	if (all.empty())
		return;
	const auto header = *decode<DiscoveryHeader>(all);
	std::ranges::copy(all.first(begin_.size()), begin_.begin());
	now_ = {header.genctr, header.numrec, header.recfmt};
	user_.header(all);
	page_.clear();
}

DiscoveryReader::Outcome DiscoveryReader::fail(const Failure &failure)
{
	failure_ = failure;
	failure_.step = Step::live;
	return Outcome::failed;
}

DiscoveryReader::Outcome DiscoveryReader::unusable(const char *what)
{
	return fail({Reason::unusable, Step::live, 0, what});
}

// A read beyond the end of a log that has become shorter fails; the header is read again to find out.
DiscoveryReader::Outcome DiscoveryReader::refused(std::uint16_t status)
{
	if ((status & st_type_and_code) == st_discover_restart)
		return Outcome::torn;
	if (part_ != Part::entries)
		return fail(failureOfStatus(status, "the discovery log"));
	refused_ = status;
	part_ = Part::check;
	read(0, discoveryBlock, true);
	return Outcome::going;
}

DiscoveryReader::Outcome DiscoveryReader::done(const Completion &completion)
{
	if (const auto status = static_cast<std::uint16_t>(completion.status >> 1))
		return refused(status);
	switch (part_) {
	case Part::header:
		return judgeHeader();
	case Part::entries:
		at_ += std::min<std::uint64_t>(max_, end_ - at_);
		return nextPiece();
	case Part::check:
		return check();
	}
	return Outcome::going;
}

DiscoveryReader::Outcome DiscoveryReader::judgeHeader()
{
	first_ = now_;
	if (first_.format)
		return unusable("the discovery log has an unknown format");
	if (first_.count > maxDiscoveryEntries)
		return unusable("the discovery log has more entries than the limit");
	const bool offsets = session_.info().offsets();
	end_ = (first_.count + 1) * discoveryBlock;
	at_ = offsets ? discoveryBlock : 0;
	if (!offsets && end_ > max_)
		return unusable("the discovery log is longer than the controller allows to read");
	if (!first_.count)
		at_ = end_;
	part_ = Part::entries;
	return nextPiece();
}

DiscoveryReader::Outcome DiscoveryReader::nextPiece()
{
	if (at_ < end_) {
		read(at_, std::min<std::uint64_t>(max_, end_ - at_), true);
		return Outcome::going;
	}
	part_ = Part::check;
	read(0, discoveryBlock, false);
	return Outcome::going;
}

DiscoveryReader::Outcome DiscoveryReader::check()
{
	if (now_ != first_)
		return Outcome::torn;
	if (astray_)
		return unusable("reads at an offset of the discovery log return its beginning");
	return refused_ ? fail(failureOfStatus(refused_, "a part of the discovery log")) : Outcome::whole;
}

} // namespace initiator
