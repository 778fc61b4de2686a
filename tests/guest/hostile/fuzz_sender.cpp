// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fuzz_sender.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/nvmeof.h>

namespace guest {
namespace {

constexpr auto patience = std::chrono::seconds(120); // a CTRL_DEL or CTRL_RESCAN may wait for a connect to end

// True if the reply comes when the request is done, possibly after replies to later ones
bool takesTime(const FuzzMessage &m)
{
	nlmsghdr nl{};
	if (!m.intact || m.bytes.size() < sizeof(nl))
		return false;
	std::memcpy(&nl, m.bytes.data(), sizeof(nl));
	return (nl.nlmsg_flags & NLM_F_ACK) && (m.cmd == NVMEOF_CMD_CTRL_DEL || m.cmd == NVMEOF_CMD_CTRL_RESCAN);
}

bool anyTakesTime(const std::map<std::uint32_t, FuzzMessage> &waiting)
{
	return std::ranges::any_of(waiting, [](auto &entry) { return takesTime(entry.second); });
}

} // namespace

FuzzSender::FuzzSender(std::uint64_t seed, std::uint64_t number, FuzzRules rules)
	: family_(FuzzSocket::family()), rules_(std::move(rules)),
	  where_("seed " + std::to_string(seed) + ", sender " + std::to_string(number)),
	  messages_(family_, target::Random{seed, number}, rules_.taboo)
{
	renew();
}

void FuzzSender::fail(const std::string &what)
{
	if (faults_.size() < 20)
		faults_.push_back(where_ + ", after " + std::to_string(sent_) + " messages: " + what);
}

// Opens a new socket. Outstanding replies and dumps end with the old one.
void FuzzSender::renew()
{
	words_ = !messages_.random().oneIn(4);
	socket_ = std::make_unique<FuzzSocket>(words_, messages_.random().oneIn(3));
}

// Sends a request that is always answered, after all earlier ones but dumps and deferred replies. Returns its sequence
// number, or 0.
std::uint32_t FuzzSender::sendMarker() const
{
	Octets bytes(NLMSG_HDRLEN + GENL_HDRLEN);
	nlmsghdr nl{static_cast<std::uint32_t>(bytes.size()), family_, NLM_F_REQUEST | NLM_F_ACK, ++seq_, 0};
	genlmsghdr ge{NVMEOF_CMD_VERSION_GET, NVMEOF_GENL_VERSION, 0};
	std::memcpy(bytes.data(), &nl, sizeof(nl));
	std::memcpy(bytes.data() + NLMSG_HDRLEN, &ge, sizeof(ge));
	return socket_->send(bytes) ? 0 : nl.nlmsg_seq;
}

void FuzzSender::judge(const FuzzMessage &m, const FuzzAnswer &answer)
{
	table_.add(m.cmd, *answer.error);
	if (*answer.error && words_ && !answer.hasText && *answer.error != EPERM)
		table_.withoutText[*answer.error]++;
	if (rules_.mayChange || !m.mutator)
		return;
	if (*answer.error == 0)
		fail(std::string(commandName(m.cmd)) + " was accepted");
	else if (m.intact && !m.dump && *answer.error != EPERM)
		fail(std::string(commandName(m.cmd)) + " was refused with " + std::strerror(*answer.error));
}

void FuzzSender::take(const FuzzReading &reading, Waiting &waiting)
{
	if (!reading.fault.empty())
		fail(reading.fault);
	for (auto &answer : reading.answers) {
		auto at = waiting.find(answer.seq);
		if (at == waiting.end() || !answer.error)
			continue;
		judge(at->second, answer);
		waiting.erase(at);
	}
}

// Reads until the last request is answered, then all that is still outstanding. Returns false if no answer comes.
bool FuzzSender::settle(Waiting &waiting)
{
	auto end = std::chrono::steady_clock::now() + patience;
	auto last = sendMarker();
	bool answered = false, lost = false;
	while (!answered && std::chrono::steady_clock::now() < end) {
		auto reading = socket_->read(1000);
		take(reading, waiting);
		for (auto &a : reading.answers)
			answered = answered || (a.seq == last && a.error);
		lost = lost || reading.overrun;
		if (reading.overrun || !last)
			last = sendMarker();
	}
	while (answered && !lost && anyTakesTime(waiting) && std::chrono::steady_clock::now() < end) {
		auto reading = socket_->read(1000);
		take(reading, waiting);
		lost = reading.overrun;
	}
	if (!lost && anyTakesTime(waiting)) {
		fail("no answer to a disconnect or a rescan");
		return true;
	}
	// The rest of dumps.
	for (FuzzReading reading; answered && (reading = socket_->read(0), !reading.answers.empty());)
		take(reading, waiting);
	return answered;
}

void FuzzSender::burst()
{
	auto &random = messages_.random();
	Waiting waiting;
	Octets together;
	bool whole = true; // nothing damaged so far in this datagram
	for (auto n = 1 + random.below(6); n > 0; n--) {
		auto m = messages_.next(++seq_);
		m.intact = whole = whole && m.intact; // messages behind a damaged one are not found
		together.insert(together.end(), m.bytes.begin(), m.bytes.end());
		together.resize(NLMSG_ALIGN(together.size()));
		waiting.emplace(m.seq, std::move(m));
		sent_++;
		if (n > 1 && random.oneIn(8)) // the next one goes into the same datagram
			continue;
		socket_->send(together);
		together.clear();
		whole = true;
	}
	if (!random.oneIn(40) && !settle(waiting))
		fail("no answer any more");
	for (auto &[seq, m] : waiting)
		table_.add(m.cmd, FuzzTable::unanswered);
	if (random.oneIn(30) || !waiting.empty()) // late answers would match no request
		renew();
}

void FuzzSender::run(std::uint64_t messages)
{
	for (auto end = sent_ + messages; sent_ < end && faults_.size() < 20;)
		burst();
}

} // namespace guest
