// SPDX-License-Identifier: LGPL-2.1-or-later
#include "log_check.h"

#include <algorithm>
#include <cstring>

namespace storm {

using namespace nofctl::wire;

namespace {

constexpr std::size_t maxNqnLength = 223;

bool zero(std::span<const std::uint8_t> bytes)
{
	return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
}

// Printable text, then padding: NULs or, with @blanks, blanks as well, as targets in use have either. @empty: the field
// may be empty
template <std::size_t room> bool isText(const char (&field)[room], bool blanks, bool empty = false)
{
	const std::string_view all(field, room);
	const auto last = all.find_last_not_of(blanks ? std::string_view("\0 ", 2) : std::string_view("\0", 1));
	if (last == all.npos)
		return empty;
	return std::ranges::all_of(all.substr(0, last + 1), [](unsigned char c) { return c > ' ' && c != 0x7f; });
}

bool knownTransport(const DiscoveryEntry &e)
{
	return e.trtype == tr_rdma || e.trtype == tr_fc || e.trtype == tr_tcp || e.trtype == tr_loop;
}

bool knownFamily(const DiscoveryEntry &e)
{
	return e.adrfam <= fam_fc || e.adrfam == fam_loop;
}

bool reserved(const DiscoveryEntry &e)
{
	if (!zero(e.reserved) || !zero(e.reserved2))
		return true;
	return e.trtype == tr_tcp && !zero(std::span(e.tsas).subspan(1));
}

} // namespace

void checkHeader(const DiscoveryHeader &header, const Complain &complain)
{
	if (!zero(header.reserved))
		complain("reserved bytes in the header of the log");
}

void checkEntry(const DiscoveryEntry &e, const Complain &complain)
{
	if (reserved(e))
		complain("reserved bytes in an entry");
	if (!knownTransport(e) || !knownFamily(e))
		complain("an entry of an unknown transport or address family");
	if (e.subtype < sub_referral || e.subtype > sub_current)
		complain("an entry that is neither a subsystem nor a service");
	if ((e.treq & treq_channel) == treq_channel || e.treq & ~(treq_channel | treq_sqflow_off))
		complain("an entry with a reserved TREQ");
	if (e.cntlid >= firstReservedCntlid && e.cntlid <= lastReservedCntlid)
		complain("an entry with a reserved controller ID");
	if (e.trtype == tr_tcp && e.sectype() > sec_tls13)
		complain("an entry with a reserved SECTYPE");
	if (!isText(e.traddr, true) || !isText(e.trsvcid, true, e.trtype == tr_fc || e.trtype == tr_loop))
		complain("an entry whose address is not text");
	if (!isText(e.subnqn, false) || text(e.subnqn).size() > maxNqnLength)
		complain("an entry with an invalid NQN");
}

void checkEntries(std::span<const std::uint8_t> entries, const Complain &complain)
{
	for (; entries.size() >= sizeof(DiscoveryEntry); entries = entries.subspan(sizeof(DiscoveryEntry)))
		checkEntry(*decode<DiscoveryEntry>(entries), complain);
}

// ---- known logs

namespace {

using Data = std::span<const std::uint8_t>;

constexpr std::uint64_t maxKept = 512u << 20; // bytes

// Compares the common length
bool agree(Data known, Data data)
{
	const auto length = std::min(known.size(), data.size());
	return !length || std::memcmp(known.data(), data.data(), length) == 0;
}

Data from(const Bytes &bytes, std::uint64_t at)
{
	return Data(bytes).subspan(std::min<std::uint64_t>(at, bytes.size()));
}

} // namespace

KnownLogs::Log *KnownLogs::add(const Log &log)
{
	if (kept_ > maxKept) {
		unkept_++;
		return nullptr;
	}
	logs_.push_back(std::make_unique<Log>(log));
	kept_ += log.entries.size() + sizeof(Log);
	return logs_.back().get();
}

void KnownLogs::begin(Reader &reader, Data header, std::uint64_t generation, std::uint64_t count)
{
	auto same = std::ranges::find_if(logs_, [&](auto &log) {
		return log->generation == generation && log->count == count && agree(log->header, header);
	});
	reader.at_ = 0;
	reader.log_ =
		same != logs_.end() ? same->get() : add({generation, count, Bytes(header.begin(), header.end()), {}});
}

// Finds a log that is equal up to @at and continues with @data, or adds one.
KnownLogs::Log *KnownLogs::other(const Log &than, std::uint64_t at, Data data)
{
	for (auto &log : logs_)
		if (log->generation == than.generation && log->header == than.header && log->entries.size() >= at &&
		    agree(log->entries, Data(than.entries).first(at)) && agree(from(log->entries, at), data))
			return log.get();
	Log fresh{than.generation, than.count, than.header, {}};
	fresh.entries.assign(than.entries.begin(), than.entries.begin() + static_cast<std::ptrdiff_t>(at));
	return add(fresh);
}

void KnownLogs::take(Reader &reader, Data data)
{
	if (!reader.log_)
		return;
	if (!agree(from(reader.log_->entries, reader.at_), data))
		reader.log_ = other(*reader.log_, reader.at_, data);
	if (!reader.log_)
		return;
	Bytes &known = reader.log_->entries;
	const Data fresh = data.subspan(std::min<std::size_t>(data.size(), known.size() - reader.at_));
	if (known.capacity() < known.size() + fresh.size())
		known.reserve(std::max<std::size_t>(known.size() + fresh.size(), 2 * known.size()));
	append(known, fresh);
	kept_ += fresh.size();
	reader.at_ += data.size();
}

void KnownLogs::end(Reader &reader)
{
	if (reader.log_)
		reader.log_->hosts++;
	reader = {};
}

void KnownLogs::merge(const KnownLogs &other)
{
	for (const auto &log : other.logs_) {
		auto same = std::ranges::find_if(logs_, [&](auto &mine) {
			return mine->generation == log->generation && mine->header == log->header &&
			       mine->entries == log->entries;
		});
		if (same != logs_.end())
			(*same)->hosts += log->hosts;
		else
			add(*log);
	}
	unkept_ += other.unkept_;
}

} // namespace storm
