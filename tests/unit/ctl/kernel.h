// SPDX-License-Identifier: LGPL-2.1-or-later
// A fake kernel for tests of the library's sockets. It keeps objects, answers requests as scripted, and sends events.
#pragma once

#include <atomic>
#include <cerrno>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unistd.h>
#include <utility>
#include <variant>
#include <vector>

#include <sys/eventfd.h>

#include <netlink/genl/genl.h>

#include "memory.h"
#include "message.h"
#include "libctl/netlink/channel.h"

class FakeKernel;

// The next result of a receive: a datagram, or an errno.
using Arrival = std::variant<std::vector<std::byte>, int>;

struct FakeQueue {
	int fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	std::deque<Arrival> arrivals{};
	bool events = false;

	FakeQueue() = default;
	FakeQueue(const FakeQueue &) = delete;
	~FakeQueue() { ::close(fd); }
	void push(Arrival arrival)
	{
		arrivals.push_back(std::move(arrival));
		::eventfd_write(fd, 1);
	}
};

// A request as the fake kernel received it.
struct Asked {
	nvmeof_cmd command = NVMEOF_CMD_UNSPEC;
	bool dump = false;
	std::uint32_t sequence = 0;
	nofctl::Attributes attributes;
	std::shared_ptr<FakeQueue> from;

	std::string text(nvmeof_attr type) const
	{
		auto payload = attributes.find(type);
		return payload ? nofctl::textOf(*payload) : "";
	}
};

class FakeKernel : public nofctl::Kernel {
public:
	static constexpr std::uint16_t family = 42;
	using Handler = std::function<void(const Asked &)>;

	FakeKernel()
	{
		nofctl::replaceChannelFactory(this);
		on(NVMEOF_CMD_VERSION_GET, [this](const Asked &asked) { version(asked); });
		for (auto command :
		     {NVMEOF_CMD_SUBSYS_GET, NVMEOF_CMD_CTRL_GET, NVMEOF_CMD_NS_GET, NVMEOF_CMD_PATH_GET})
			on(command, [this](const Asked &asked) { list(asked); });
	}
	~FakeKernel() override { nofctl::replaceChannelFactory(nullptr); }

	nvmeof::Result<std::unique_ptr<nofctl::Channel>> open(nofctl::ChannelUse use) override;

	void on(nvmeof_cmd command, Handler handler) { handlers_[command] = std::move(handler); }
	void take(Asked asked)
	{
		std::lock_guard lock(mutex_);
		asked_.push_back(asked);
		if (auto found = handlers_.find(asked.command); found != handlers_.end() && found->second)
			found->second(asked);
	}
	const std::vector<Asked> &asked() const { return asked_; }
	int openedChannels() const { return opened_; }
	// Number of channels that are open now. Jobs of a Client may outlive it, but not this object: a test that
	// leaves one waits until its channel is closed.
	int openChannels() const { return opened_ - closed_; }
	int count(nvmeof_cmd command) const
	{
		std::lock_guard lock(mutex_);
		int n = 0;
		for (const Asked &asked : asked_)
			n += asked.command == command;
		return n;
	}

	void data(const Asked &asked, nvmeof_cmd command, const Payload &payload, std::uint16_t flags = 0)
	{
		asked.from->push(netlinkMessage(family, flags, asked.sequence, bodyOf(command, payload)));
	}
	void version(const Asked &asked)
	{
		Payload version;
		version.u32(NVMEOF_A_API_VERSION, NVMEOF_API_VERSION);
		data(asked, NVMEOF_CMD_VERSION_GET, version);
		acknowledge(asked);
	}
	void acknowledge(const Asked &asked) { fail(asked, 0); }
	void fail(const Asked &asked, int sysErrno, const char *message = nullptr)
	{
		nlmsgerr error{};
		error.error = -sysErrno;
		error.msg.nlmsg_len = sizeof(nlmsghdr);
		std::vector<std::byte> body;
		append(body, error);
		Payload tlvs;
		if (message)
			tlvs.text(NLMSGERR_ATTR_MSG, message);
		std::vector<std::byte> bytes = tlvs.bytes();
		body.insert(body.end(), bytes.begin(), bytes.end());
		asked.from->push(netlinkMessage(
			NLMSG_ERROR, static_cast<std::uint16_t>(NLM_F_CAPPED | (message ? NLM_F_ACK_TLVS : 0)),
			asked.sequence, body));
	}
	void done(const Asked &asked, std::uint16_t flags = 0)
	{
		std::vector<std::byte> body;
		append(body, 0);
		asked.from->push(netlinkMessage(NLMSG_DONE, static_cast<std::uint16_t>(NLM_F_MULTI | flags),
						asked.sequence, body));
	}

	// Present objects by name. CTRL_GET and the like answer with them.
	using Objects = std::map<std::string, std::shared_ptr<Payload>>;
	Objects subsystems, controllers, namespaces, paths;

	void event(nvmeof_cmd command, nvmeof_event type, Payload &object)
	{
		object.u32(NVMEOF_A_EVENT, type).u64(NVMEOF_A_TIME, 1);
		tell(netlinkMessage(family, 0, 0, bodyOf(command, object)));
	}
	// Sends @arrival to all listeners.
	void tell(const Arrival &arrival)
	{
		std::lock_guard lock(mutex_);
		for (const std::weak_ptr<FakeQueue> &weak : queues_)
			if (auto queue = weak.lock(); queue && queue->events)
				queue->push(arrival);
	}

private:
	static std::vector<std::byte> bodyOf(nvmeof_cmd command, const Payload &payload)
	{
		genlmsghdr header{};
		header.cmd = static_cast<std::uint8_t>(command);
		std::vector<std::byte> body;
		append(body, header);
		std::vector<std::byte> bytes = payload.bytes();
		body.insert(body.end(), bytes.begin(), bytes.end());
		return body;
	}

	void list(const Asked &asked)
	{
		auto [objects, key] = [&]() -> std::pair<Objects &, nvmeof_attr> {
			switch (asked.command) {
			case NVMEOF_CMD_SUBSYS_GET:
				return {subsystems, NVMEOF_A_SUBSYS_NAME};
			case NVMEOF_CMD_CTRL_GET:
				return {controllers, NVMEOF_A_CTRL_NAME};
			case NVMEOF_CMD_NS_GET:
				return {namespaces, NVMEOF_A_NS_NAME};
			default:
				return {paths, NVMEOF_A_PATH_NAME};
			}
		}();
		if (asked.dump) {
			for (const auto &[name, object] : objects)
				data(asked, asked.command, *object, NLM_F_MULTI);
			return done(asked);
		}
		auto found = objects.find(asked.text(key));
		if (found == objects.end())
			return fail(asked, ENODEV, "no such object");
		data(asked, asked.command, *found->second);
		acknowledge(asked);
	}

	mutable std::recursive_mutex mutex_; // jobs of a Client use this object in other threads; handlers call back
	std::map<nvmeof_cmd, Handler> handlers_;
	std::vector<Asked> asked_;
	std::vector<std::weak_ptr<FakeQueue>> queues_;
	std::atomic<int> opened_ = 0, closed_ = 0;

	friend class FakeChannel;
};

class FakeChannel : public nofctl::Channel {
public:
	FakeChannel(FakeKernel &kernel, std::shared_ptr<FakeQueue> queue) : kernel_(kernel), queue_(std::move(queue))
	{
		kernel_.opened_++;
	}
	~FakeChannel() override { kernel_.closed_++; }

	int fd() const override { return queue_->fd; }
	std::uint16_t family() const override { return FakeKernel::family; }
	nvmeof::Result<void> send(std::span<const std::byte> message) override
	{
		MemoryFault::NoFaultScope spared;
		nlmsghdr header;
		genlmsghdr genl;
		std::memcpy(&header, message.data(), sizeof(header));
		std::memcpy(&genl, message.data() + sizeof(header), sizeof(genl));
		auto attributes = nofctl::Attributes::parse(message.subspan(
			sizeof(header) + sizeof(genl), header.nlmsg_len - sizeof(header) - sizeof(genl)));
		kernel_.take({static_cast<nvmeof_cmd>(genl.cmd), (header.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP,
			      header.nlmsg_seq, *attributes, queue_});
		return {};
	}
	nvmeof::Result<std::vector<std::byte>> receive() override
	{
		MemoryFault::NoFaultScope spared;
		if (queue_->arrivals.empty())
			return nvmeof::errorFromErrno(EAGAIN);
		Arrival next = std::move(queue_->arrivals.front());
		queue_->arrivals.pop_front();
		eventfd_t count;
		if (queue_->arrivals.empty())
			::eventfd_read(queue_->fd, &count);
		if (const int *sysErrno = std::get_if<int>(&next))
			return nvmeof::errorFromErrno(*sysErrno);
		return std::get<std::vector<std::byte>>(std::move(next));
	}
	nvmeof::Result<void> joinEnd() override { return {}; }
	nvmeof::Result<void> joinEvents() override
	{
		queue_->events = true;
		return {};
	}

private:
	FakeKernel &kernel_;
	std::shared_ptr<FakeQueue> queue_;
};

inline nvmeof::Result<std::unique_ptr<nofctl::Channel>> FakeKernel::open(nofctl::ChannelUse)
{
	MemoryFault::NoFaultScope spared;
	auto queue = std::make_shared<FakeQueue>();
	std::lock_guard lock(mutex_);
	queues_.push_back(queue);
	return std::unique_ptr<nofctl::Channel>(std::make_unique<FakeChannel>(*this, queue));
}

// Objects with their mandatory attributes
inline std::shared_ptr<Payload> controllerOf(const char *name, nvmeof_ctrl_state state)
{
	auto c = std::make_shared<Payload>();
	c->u32(NVMEOF_A_SUBSYS_ID, 0).u32(NVMEOF_A_CTRL_ID, 1).text(NVMEOF_A_CTRL_NAME, name);
	c->text(NVMEOF_A_SUBSYSNQN, "nqn.test").text(NVMEOF_A_TRANSPORT, "tcp").text(NVMEOF_A_TRADDR, "10.0.0.1");
	c->u32(NVMEOF_A_CTRL_STATE, state);
	return c;
}

inline std::shared_ptr<Payload> subsystemOf(const char *name)
{
	auto s = std::make_shared<Payload>();
	s->u32(NVMEOF_A_SUBSYS_ID, 0).text(NVMEOF_A_SUBSYS_NAME, name).text(NVMEOF_A_SUBSYSNQN, "nqn.test");
	return s;
}

inline std::shared_ptr<Payload> namespaceOf(const char *name, std::uint32_t nsid)
{
	auto n = std::make_shared<Payload>();
	n->u32(NVMEOF_A_SUBSYS_ID, 0).text(NVMEOF_A_NS_NAME, name).u32(NVMEOF_A_NSID, nsid);
	return n;
}

inline std::shared_ptr<Payload> pathOf(const char *name, const char *controller, const char *ns, std::uint32_t nsid)
{
	auto p = std::make_shared<Payload>();
	p->text(NVMEOF_A_PATH_NAME, name).text(NVMEOF_A_NS_NAME, ns).text(NVMEOF_A_CTRL_NAME, controller);
	p->u32(NVMEOF_A_NSID, nsid);
	return p;
}
