// SPDX-License-Identifier: LGPL-2.1-or-later
// Queue pair of an RDMA connection with its buffers, memory regions and completion queue. Independent of NVMe.
#pragma once

#include "wire.h"

#include <rdma/rdma_cma.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace target {

// Memory of the peer
struct Remote {
	std::uint64_t addr = 0;
	std::uint32_t key = 0;
};

// Deleter that calls a libibverbs function
template <auto free> struct Deleter {
	template <class T> void operator()(T *object) const { free(object); }
};
using Domain = std::unique_ptr<ibv_pd, Deleter<ibv_dealloc_pd>>;
using Channel = std::unique_ptr<ibv_comp_channel, Deleter<ibv_destroy_comp_channel>>;
using Completions = std::unique_ptr<ibv_cq, Deleter<ibv_destroy_cq>>;
using Region = std::unique_ptr<ibv_mr, Deleter<ibv_dereg_mr>>;

class QueuePair {
public:
	// `receives` receive buffers of `bytes` bytes. The connection must outlive the queue pair. Throws if the device
	// has no resources left.
	QueuePair(rdma_cm_id *id, unsigned receives, std::size_t bytes);
	~QueuePair();
	QueuePair(const QueuePair &) = delete;
	QueuePair &operator=(const QueuePair &) = delete;

	int fd() const; // readable when poll() has work
	// Processes completions.
	void poll();
	// Next message of the peer, in order; its buffer has been posted again. Empty: none.
	std::optional<Bytes> received();
	// Null, or why the queue pair has failed.
	const char *error() const { return error_; }

	using Done = std::function<void()>;
	using Read = std::function<void(Bytes)>;
	// Work requests execute in the order of the calls. A call may wait in poll() for a free entry.
	void send(std::span<const std::uint8_t> bytes, std::optional<std::uint32_t> invalidate = {}, Done done = {});
	void write(const Remote &to, Bytes data);
	void read(const Remote &from, std::size_t length, Read then);
	void fail(); // moves it into the error state

private:
	struct Work {
		Bytes data;
		Region region = {};
		Read then = {};
		Done done = {};
	};

	Region share(Bytes &data, int access);
	void arm();
	void receive(std::size_t slot);
	void complete(const ibv_wc &wc);
	void post(ibv_send_wr &wr, Work work);

	rdma_cm_id *id_;
	std::size_t bytes_;
	unsigned room_; // maximum of outstanding work requests
	Bytes buffers_;
	Domain domain_;
	Channel channel_;
	Completions completions_;
	Region region_;
	std::deque<Bytes> arrived_;
	std::map<std::uint64_t, Work> posted_;
	std::uint64_t last_ = 0;
	const char *error_ = nullptr;
};

} // namespace target
