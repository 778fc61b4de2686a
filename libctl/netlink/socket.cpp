// SPDX-License-Identifier: LGPL-2.1-or-later
#include "socket.h"

#include <algorithm>
#include <cerrno>
#include <exception>
#include <string>

#include <netlink/msg.h>

#include "libctl/base/make_error.h"

namespace nofctl {

using nvmeof::Error;
using nvmeof::ErrorCode;
using nvmeof::Result;

namespace {

constexpr int dumpTries = 4; // attempts to get a consistent list
constexpr int readAtOnce = 64;

Error replyError(const Reply &reply, const Request &request)
{
	// The module sets a message with every error, so ENOENT without one comes from generic netlink.
	if (reply.sysErrno == ENOENT && reply.message.empty())
		return noFamily();
	if (std::optional<Error> range = rangeError(reply, request))
		return *range;
	Error error = nvmeof::errorFromErrno(reply.sysErrno, reply.message);
	error.object = nvmeof::ErrorObject::named(reply.cookie);
	if (reply.sysErrno == EOPNOTSUPP && reply.message.empty()) {
		error.code = ErrorCode::noModule;
		error.sysErrno = 0; // the module is loaded
		error.message = "the loaded module does not know this command: it is older than this program";
	}
	return error;
}

} // namespace

Result<Socket> Socket::open()
{
	Result<std::unique_ptr<Channel>> channel = openChannel(ChannelUse::requests);
	if (!channel)
		return channel.error();
	return Socket(*std::move(channel));
}

Socket::Id Socket::start(Request request, bool dump)
{
	Id id = ++lastId_;
	if (!id)
		id = ++lastId_;
	Exchange &exchange = exchanges_.emplace(id, Exchange{std::move(request), dump}).first->second;
	try {
		if (dump)
			dumps_.push_back(id);
		if (!dump || dumps_.size() == 1)
			send(id, exchange);
	} catch (const std::exception &) { // no memory: undo the request
		std::erase_if(sent_, [id](const auto &sent) { return sent.second == id; });
		std::erase(dumps_, id);
		exchanges_.erase(id);
		throw;
	}
	return id;
}

void Socket::send(Id id, Exchange &exchange)
{
	std::optional<Error> error;
	if (exchange.request.whole()) {
		nlmsghdr *header = nlmsg_hdr(exchange.request.get());
		header->nlmsg_type = channel_->family();
		header->nlmsg_flags =
			static_cast<std::uint16_t>(NLM_F_REQUEST | (exchange.dump ? NLM_F_DUMP : NLM_F_ACK));
		header->nlmsg_seq = ++sequence_;
		header->nlmsg_pid = 0; // set by the kernel
		exchange.tries++;
		sent_[sequence_] = id;
		Result<void> sent = channel_->send({reinterpret_cast<const std::byte *>(header), header->nlmsg_len});
		if (sent)
			return;
		sent_.erase(sequence_);
		error = sent.error();
	} else {
		error = nvmeof::errorFromErrno(EMSGSIZE);
	}
	exchange.error = *error;
	end(id, exchange);
}

void Socket::nextDump()
{
	dumps_.erase(dumps_.begin());
	if (!dumps_.empty())
		send(dumps_.front(), exchanges_.at(dumps_.front()));
}

// The answer is complete.
void Socket::end(Id id, Exchange &exchange)
{
	// An interrupted dump has each object that stayed exactly once, and may have some that were added or removed.
	// So the last attempt is used even if it was interrupted.
	if (exchange.dump && exchange.interrupted && !exchange.error && !exchange.forgotten &&
	    exchange.tries < dumpTries) {
		exchange.messages.clear();
		exchange.interrupted = false;
		send(id, exchange);
		return;
	}
	exchange.finished = true;
	bool first = exchange.dump && !dumps_.empty() && dumps_.front() == id;
	if (exchange.forgotten)
		exchanges_.erase(id);
	if (first)
		nextDump();
}

void Socket::take(const Reply &reply)
{
	auto sent = sent_.find(reply.sequence);
	if (sent == sent_.end())
		return; // late answer to a forgotten request
	Id id = sent->second;
	Exchange &exchange = exchanges_.at(id);
	take(reply, exchange);
	bool whole =
		reply.kind == Reply::Kind::error || reply.kind == Reply::Kind::ack || reply.kind == Reply::Kind::done;
	if (!whole)
		return;
	sent_.erase(sent);
	end(id, exchange);
}

void Socket::take(const Reply &reply, Exchange &exchange)
{
	exchange.interrupted |= reply.interrupted;
	if (reply.kind == Reply::Kind::error)
		exchange.error = replyError(reply, exchange.request);
	if (reply.kind != Reply::Kind::data)
		return;
	Result<Attributes> attributes = Attributes::parse(reply.attributes);
	if (attributes)
		exchange.messages.push_back(*std::move(attributes));
	else if (!exchange.error)
		exchange.error = attributes.error();
}

// Fails all requests under way: after a loss or a malformed datagram, it is unknown which of them were answered.
void Socket::failAll(const Error &error)
{
	sent_.clear();
	dumps_.clear();
	std::erase_if(exchanges_, [](const auto &one) { return one.second.forgotten && !one.second.finished; });
	for (auto &[id, exchange] : exchanges_) {
		if (exchange.finished)
			continue;
		exchange.finished = true;
		exchange.error = error;
	}
}

bool Socket::receive(int max)
{
	for (int i = 0; i < max; i++) {
		Result<std::vector<std::byte>> datagram = channel_->receive();
		if (!datagram && datagram.error().sysErrno == EAGAIN)
			return false;
		if (!datagram) {
			failAll(datagram.error());
			return true;
		}
		try {
			Result<std::vector<Reply>> replies = splitReplies(*datagram, channel_->family());
			if (!replies) {
				failAll(replies.error());
				return true;
			}
			for (const Reply &reply : *replies)
				take(reply);
		} catch (const std::exception &) { // the datagram's content is lost
			Error error;               // a short message, so that copies need no allocation
			error.sysErrno = ENOMEM;
			error.message = "out of memory";
			failAll(error);
			return true;
		}
	}
	return true;
}

std::optional<Messages> Socket::finished(Id id)
{
	auto found = exchanges_.find(id);
	if (found == exchanges_.end() || !found->second.finished)
		return std::nullopt;
	Exchange exchange = std::move(found->second);
	exchanges_.erase(found);
	if (!exchange.error)
		return Messages(std::move(exchange.messages));
	Error error = *std::move(exchange.error);
	if (error.object.none() && !exchange.messages.empty())
		if (auto name = exchange.messages.front().find(NVMEOF_A_CTRL_NAME))
			error.object = nvmeof::ErrorObject::named(textOf(*name));
	return Messages(std::move(error));
}

void Socket::forget(Id id)
{
	auto found = exchanges_.find(id);
	if (found == exchanges_.end())
		return;
	Exchange &exchange = found->second;
	bool reading = exchange.dump && !exchange.finished && !dumps_.empty() && dumps_.front() == id;
	if (reading) { // the dump must be read to its end before the next one
		exchange.forgotten = true;
		return;
	}
	std::erase_if(sent_, [id](const auto &sent) { return sent.second == id; });
	std::erase(dumps_, id);
	exchanges_.erase(found);
}

Messages Socket::wait(Id id, Clock::time_point deadline)
{
	for (bool late = false;;) { // other datagrams may keep the socket readable for ever
		if (std::optional<Messages> messages = finished(id))
			return *std::move(messages);
		Result<bool> readable = late ? Result<bool>(false) : waitReadable(fd(), deadline);
		late = Clock::now() >= deadline;
		if (!readable || !*readable) {
			forget(id);
			return readable ? nvmeof::errorFromErrno(ETIMEDOUT, "no answer from the kernel in time")
					: readable.error();
		}
		receive(readAtOnce);
	}
}

// ---- numbers out of range

namespace {

// Name of an attribute, with the kernel's unit. Settings have the names that "set" uses.
std::string describeAttribute(nvmeof_attr type)
{
	switch (type) {
	case NVMEOF_A_NR_IO_QUEUES:
		return "number of I/O queues";
	case NVMEOF_A_NR_POLL_QUEUES:
		return "number of polled queues";
	case NVMEOF_A_QUEUE_SIZE:
		return "queue size";
	case NVMEOF_A_TAGS:
		return "tags";
	case NVMEOF_A_KATO:
		return "keep-alive time in ms";
	case NVMEOF_A_RECONNECT_DELAY:
		return "reconnect-delay in ms";
	case NVMEOF_A_CONNECT_TMO:
		return "connect timeout in ms";
	case NVMEOF_A_STALL_TMO:
		return "stall-tmo in ms";
	case NVMEOF_A_ACK_TMO:
		return "ack-tmo in ms";
	case NVMEOF_A_RETRY_COUNT:
		return "retry-count";
	case NVMEOF_A_SPILL_US:
		return "spill-us";
	case NVMEOF_A_SPILL_DEPTH:
		return "spill-depth";
	case NVMEOF_A_DEGRADE:
		return "degrade";
	case NVMEOF_A_FENCING:
		return "fencing";
	case NVMEOF_A_DELAYED_REMOVAL:
		return "delayed-removal-secs";
	case NVMEOF_A_QUIESCE_TMO:
		return "quiesce-tmo";
	default:
		return "attribute " + std::to_string(type);
	}
}

} // namespace

std::optional<nvmeof::Error> rangeError(const Reply &reply, const Request &request)
{
	std::optional<nvmeof_attr> type = reply.offset ? request.attributeAt(*reply.offset) : std::nullopt;
	if (reply.sysErrno != ERANGE || !type)
		return std::nullopt;
	nvmeof::Error error = invalidError(describeAttribute(*type) + " is out of range");
	error.sysErrno = ERANGE;
	if (reply.allowed)
		error.message += ": " + std::to_string(reply.allowed->min) + " to " +
				 std::to_string(reply.allowed->max) + " is allowed";
	return error;
}

} // namespace nofctl
