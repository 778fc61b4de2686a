// SPDX-License-Identifier: LGPL-2.1-or-later
#include "fuzz_socket.h"

#include "netlink_table.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

namespace guest {
namespace {

// glibc's SOL_NETLINK needs a feature macro
constexpr int solNetlink = 270;
constexpr int maxErrno = 133; // higher values are internal to the kernel

using Bytes = std::span<const std::uint8_t>;

template <class T> T at(Bytes bytes, std::size_t offset)
{
	T value;
	std::memcpy(&value, bytes.data() + offset, sizeof(T));
	return value;
}

// Calls fn(type, value) for each attribute. Returns false if their lengths are inconsistent.
template <class Fn> bool attributes(Bytes bytes, Fn &&fn)
{
	while (bytes.size() >= NLA_HDRLEN) {
		auto head = at<nlattr>(bytes, 0);
		if (head.nla_len < NLA_HDRLEN || head.nla_len > bytes.size())
			return false;
		fn(static_cast<std::uint16_t>(head.nla_type & NLA_TYPE_MASK),
		   bytes.subspan(NLA_HDRLEN, head.nla_len - NLA_HDRLEN));
		bytes = bytes.subspan(std::min<std::size_t>(NLA_ALIGN(head.nla_len), bytes.size()));
	}
	return bytes.empty();
}

std::size_t widthOf(spec::Type type)
{
	switch (type) {
	case spec::Type::u8_:
		return 1;
	case spec::Type::u16_:
		return 2;
	case spec::Type::u32_:
	case spec::Type::s32_:
		return 4;
	case spec::Type::u64_:
		return 8;
	default:
		return 0;
	}
}

std::string checkValue(const spec::Attribute &a, Bytes value)
{
	std::string name = a.name;
	if (auto width = widthOf(a.type); width && value.size() != width)
		return name + " has " + std::to_string(value.size()) + " bytes";
	if (a.type == spec::Type::flag_ && !value.empty())
		return "flag " + name + " has a value";
	if (a.type == spec::Type::string_ &&
	    (value.empty() || value.back() != 0 || std::count(value.begin(), value.end(), 0) != 1))
		return "string " + name + " does not end where it should";
	if (a.exact && value.size() != a.exact)
		return name + " is not of its length";
	return "";
}

std::string checkAttribute(const spec::Command &c, std::uint16_t type, Bytes value)
{
	if (type == NVMEOF_A_PAD)
		return "";
	auto known = std::find_if(std::begin(spec::attributes), std::end(spec::attributes),
				  [type](auto &a) { return a.id == type; });
	if (known == std::end(spec::attributes))
		return "unknown attribute " + std::to_string(type);
	bool listed = std::count(c.answers.begin(), c.answers.end(), type);
	// An event may carry the reason next to the object, which the specification does not list.
	bool reason = type == NVMEOF_A_LAST_ERROR || type == NVMEOF_A_LAST_ERRNO || type == NVMEOF_A_LAST_STATUS ||
		      type == NVMEOF_A_OLD_STATE;
	if (!listed && !(c.event && reason))
		return std::string(known->name) + " is not specified for " + c.name;
	return checkValue(*known, value);
}

std::string checkObject(Bytes message)
{
	if (message.size() < NLMSG_HDRLEN + GENL_HDRLEN)
		return "a message without its header";
	auto cmd = at<genlmsghdr>(message, NLMSG_HDRLEN).cmd;
	auto known = std::find_if(std::begin(spec::commands), std::end(spec::commands),
				  [cmd](auto &c) { return c.id == cmd; });
	if (known == std::end(spec::commands))
		return "a message with unknown command " + std::to_string(cmd);
	std::string fault;
	bool whole = attributes(message.subspan(NLMSG_HDRLEN + GENL_HDRLEN), [&](std::uint16_t type, Bytes value) {
		auto text = checkAttribute(*known, type, value);
		if (fault.empty())
			fault = text;
	});
	return whole ? fault : "attributes that do not add up";
}

// Checks the texts and offsets of an extended acknowledgement. length: that of the request
std::string checkExtAck(Bytes tlvs, std::uint32_t length, bool &hasText)
{
	std::string fault;
	bool whole = attributes(tlvs, [&](std::uint16_t type, Bytes value) {
		if (type == NLMSGERR_ATTR_MSG) {
			hasText = true;
			if (value.size() < 2 || value.back() != 0)
				fault = "a text that does not end";
		} else if (type == NLMSGERR_ATTR_OFFS) {
			if (value.size() != 4 || at<std::uint32_t>(value, 0) < NLMSG_HDRLEN ||
			    at<std::uint32_t>(value, 0) >= std::max<std::uint32_t>(length, NLMSG_HDRLEN + 1))
				fault = "an offset outside of the message";
		}
	});
	return whole ? fault : "an acknowledgement whose attributes do not add up";
}

std::string checkErrno(int error)
{
	return error > 0 || -error > maxErrno ? "errno " + std::to_string(error) : "";
}

std::string takeError(Bytes message, std::uint16_t flags, FuzzAnswer &answer)
{
	if (message.size() < NLMSG_HDRLEN + sizeof(nlmsgerr))
		return "a short acknowledgement";
	auto err = at<nlmsgerr>(message, NLMSG_HDRLEN);
	answer.error = -err.error;
	auto fault = checkErrno(err.error);
	if (!(flags & NLM_F_ACK_TLVS))
		return fault;
	auto start = NLMSG_HDRLEN + sizeof(nlmsgerr);
	if (!(flags & NLM_F_CAPPED) && err.error)
		start += NLMSG_ALIGN(err.msg.nlmsg_len) - NLMSG_HDRLEN;
	if (start > message.size())
		return "an acknowledgement shorter than it says";
	auto words = checkExtAck(message.subspan(start), err.msg.nlmsg_len, answer.hasText);
	return fault.empty() ? words : fault;
}

std::string takeDone(Bytes message, std::uint16_t flags, FuzzAnswer &answer)
{
	if (message.size() < NLMSG_HDRLEN + sizeof(int))
		return "a short end of a dump";
	auto error = at<int>(message, NLMSG_HDRLEN);
	answer.error = error < 0 ? -error : 0;
	auto fault = error < 0 ? checkErrno(error) : "";
	if (!(flags & NLM_F_ACK_TLVS))
		return fault;
	auto words = checkExtAck(message.subspan(NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(int))), ~0u, answer.hasText);
	return fault.empty() ? words : fault;
}

std::string takeOne(Bytes message, const nlmsghdr &head, FuzzReading &reading)
{
	FuzzAnswer answer{head.nlmsg_seq};
	std::string fault;
	if (head.nlmsg_type == NLMSG_ERROR)
		fault = takeError(message, head.nlmsg_flags, answer);
	else if (head.nlmsg_type == NLMSG_DONE)
		fault = takeDone(message, head.nlmsg_flags, answer);
	else if (head.nlmsg_type > GENL_ID_CTRL)
		fault = checkObject(message);
	else if (head.nlmsg_type != GENL_ID_CTRL && head.nlmsg_type != NLMSG_NOOP)
		fault = "a message of type " + std::to_string(head.nlmsg_type);
	reading.answers.push_back(answer);
	return fault;
}

void takeAll(Bytes bytes, FuzzReading &reading)
{
	while (bytes.size() >= NLMSG_HDRLEN && reading.fault.empty()) {
		auto head = at<nlmsghdr>(bytes, 0);
		if (head.nlmsg_len < NLMSG_HDRLEN || head.nlmsg_len > bytes.size()) {
			reading.fault = "message lengths that do not add up";
			return;
		}
		reading.fault = takeOne(bytes.first(head.nlmsg_len), head, reading);
		bytes = bytes.subspan(std::min<std::size_t>(NLMSG_ALIGN(head.nlmsg_len), bytes.size()));
	}
	if (!bytes.empty() && reading.fault.empty())
		reading.fault = "bytes behind the last message";
}

std::string outcomeName(int outcome)
{
	if (outcome == FuzzTable::unanswered)
		return "unanswered";
	auto *name = outcome ? ::strerrorname_np(outcome) : "accepted";
	return name ? name : std::to_string(outcome);
}

void setOption(int fd, int option)
{
	int one = 1;
	if (::setsockopt(fd, solNetlink, option, &one, sizeof(one)))
		throw std::system_error(errno, std::generic_category(), "netlink option");
}

// Asks the generic netlink controller about the family. Returns the attributes of the answer.
Octets askFamily()
{
	FuzzSocket socket(false, false);
	const char name[] = NVMEOF_GENL_NAME;
	Octets bytes(NLMSG_HDRLEN + GENL_HDRLEN + NLA_HDRLEN + NLA_ALIGN(sizeof(name)));
	nlmsghdr nl{static_cast<std::uint32_t>(bytes.size()), GENL_ID_CTRL, NLM_F_REQUEST, 1, 0};
	genlmsghdr ge{CTRL_CMD_GETFAMILY, 1, 0};
	nlattr a{NLA_HDRLEN + sizeof(name), CTRL_ATTR_FAMILY_NAME};
	std::memcpy(bytes.data(), &nl, sizeof(nl));
	std::memcpy(bytes.data() + NLMSG_HDRLEN, &ge, sizeof(ge));
	std::memcpy(bytes.data() + NLMSG_HDRLEN + GENL_HDRLEN, &a, sizeof(a));
	std::memcpy(bytes.data() + NLMSG_HDRLEN + GENL_HDRLEN + NLA_HDRLEN, name, sizeof(name));
	socket.send(bytes);
	Octets answer(8192);
	auto n = ::recv(socket.fd(), answer.data(), answer.size(), 0);
	if (n < static_cast<ssize_t>(NLMSG_HDRLEN + GENL_HDRLEN) || at<nlmsghdr>(answer, 0).nlmsg_type != GENL_ID_CTRL)
		throw std::runtime_error("the family is not registered");
	answer.resize(static_cast<std::size_t>(n));
	answer.erase(answer.begin(), answer.begin() + NLMSG_HDRLEN + GENL_HDRLEN);
	return answer;
}

} // namespace

FuzzSocket::FuzzSocket(bool words, bool terse) : fd_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC))
{
	if (fd_ < 0)
		throw std::system_error(errno, std::generic_category(), "netlink socket");
	if (words)
		setOption(fd_, NETLINK_EXT_ACK);
	if (terse)
		setOption(fd_, NETLINK_CAP_ACK);
}

FuzzSocket::~FuzzSocket()
{
	::close(fd_);
}

int FuzzSocket::send(const Octets &bytes) const
{
	return ::send(fd_, bytes.data(), bytes.size(), 0) < 0 ? errno : 0;
}

FuzzReading FuzzSocket::read(int timeoutMs) const
{
	FuzzReading reading;
	pollfd poll{fd_, POLLIN, 0};
	if (::poll(&poll, 1, timeoutMs) <= 0)
		return reading;
	Octets bytes(128 << 10);
	auto n = ::recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_TRUNC);
	if (n < 0)
		reading.overrun = errno == ENOBUFS;
	else if (static_cast<std::size_t>(n) > bytes.size())
		reading.fault = "an answer of " + std::to_string(n) + " bytes";
	else
		takeAll(Bytes(bytes.data(), static_cast<std::size_t>(n)), reading);
	return reading;
}

std::uint16_t FuzzSocket::family()
{
	std::uint16_t id = 0;
	attributes(askFamily(), [&id](std::uint16_t type, Bytes value) {
		if (type == CTRL_ATTR_FAMILY_ID)
			id = at<std::uint16_t>(value, 0);
	});
	return id;
}

std::uint32_t FuzzSocket::events()
{
	std::uint32_t id = 0;
	auto take = [&id](std::uint16_t type, Bytes value) {
		if (type == CTRL_ATTR_MCAST_GRP_ID)
			id = at<std::uint32_t>(value, 0);
	};
	attributes(askFamily(), [&take](std::uint16_t type, Bytes groups) {
		if (type == CTRL_ATTR_MCAST_GROUPS)
			attributes(groups, [&take](std::uint16_t, Bytes group) { attributes(group, take); });
	});
	return id;
}

void FuzzTable::add(const FuzzTable &other)
{
	for (auto &[cmd, outcomes] : other.counts_)
		for (auto &[outcome, n] : outcomes)
			counts_[cmd][outcome] += n;
	for (auto &[error, n] : other.withoutText)
		withoutText[error] += n;
}

std::uint64_t FuzzTable::count(std::uint8_t cmd, int outcome) const
{
	auto row = counts_.find(cmd);
	if (row == counts_.end())
		return 0;
	auto cell = row->second.find(outcome);
	return cell == row->second.end() ? 0 : cell->second;
}

std::uint64_t FuzzTable::total() const
{
	std::uint64_t sum = 0;
	for (auto &[cmd, outcomes] : counts_)
		for (auto &[outcome, n] : outcomes)
			sum += n;
	return sum;
}

void FuzzTable::print(const char *title) const
{
	std::map<std::string, std::map<int, std::uint64_t>> rows;
	for (auto &[cmd, outcomes] : counts_)
		for (auto &[outcome, n] : outcomes)
			rows[commandName(cmd)][outcome] += n;
	std::printf("figure: %s: %lu messages\n", title, total());
	for (auto &[name, outcomes] : rows) {
		std::uint64_t sum = 0;
		std::string text;
		for (auto &[outcome, n] : outcomes) {
			sum += n;
			text += " " + outcomeName(outcome) + " " + std::to_string(n);
		}
		std::printf("  %-12s %7lu:%s\n", name.c_str(), sum, text.c_str());
	}
	std::printf("  refusals without a text:");
	for (auto &[error, n] : withoutText)
		std::printf(" %s %lu", outcomeName(error).c_str(), n);
	std::printf("\n");
	std::fflush(stdout);
}

} // namespace guest
