// SPDX-License-Identifier: LGPL-2.1-or-later
// A queue pair of an RDMA connection with all that belongs to it: buffers, registrations, completions. It knows nothing
// of NVMe.
#pragma once

#include "wire.h"

#include <rdma/rdma_cma.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>

namespace target {

// The peer's memory
struct Remote {
	std::uint64_t addr = 0;
	std::uint32_t key = 0;
};

// What libibverbs wants back by a function of its own
template <auto free> struct Freed {
	template <class T> void operator()(T *object) const { free(object); }
};
using Domain = std::unique_ptr<ibv_pd, Freed<ibv_dealloc_pd>>;
using Channel = std::unique_ptr<ibv_comp_channel, Freed<ibv_destroy_comp_channel>>;
using Completions = std::unique_ptr<ibv_cq, Freed<ibv_destroy_cq>>;
using Region = std::unique_ptr<ibv_mr, Freed<ibv_dereg_mr>>;

class QueuePair {
public:
	// For that connection, which has to outlive it: so many receives of so many bytes. Throws where the device has
	// no more.
	QueuePair(rdma_cm_id *id, unsigned receives, std::size_t bytes);
	~QueuePair();
	QueuePair(const QueuePair &) = delete;
	QueuePair &operator=(const QueuePair &) = delete;

	int fd() const; // readable when poll() may have something
	// Takes what was completed.
	void poll();
	// What the peer has sent, in its order; its buffer is free again. Nothing: there is none.
	std::optional<Bytes> received();
	// Why nothing goes on any more; null: it does.
	const char *error() const { return error_; }

	using Done = std::function<void()>;
	using Read = std::function<void(Bytes)>;
	// What is posted is done in the order of the calls, and may wait in poll() for room.
	void send(std::span<const std::uint8_t> bytes, std::optional<std::uint32_t> invalidate = {}, Done done = {});
	void write(const Remote &to, Bytes data);
	void read(const Remote &from, std::size_t length, Read then);
	void fail(); // into the error state

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
	unsigned room_; // work requests that may be under way
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
