// SPDX-License-Identifier: LGPL-2.1-or-later
#include "queue_pair.h"

#include <fcntl.h>

#include <system_error>
#include <thread>

namespace target {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t receiveFlag = 1ull << 63; // flag in a work request ID; the other bits are the slot
constexpr std::uint32_t maxInline = 64;           // bytes; shorter messages are sent inline, without registration

template <class T> T *must(T *object, const char *what)
{
	if (!object)
		throw std::system_error(errno, std::generic_category(), what);
	return object;
}

} // namespace

QueuePair::QueuePair(rdma_cm_id *id, unsigned receives, std::size_t bytes)
	: id_(id), bytes_(bytes), room_(receives * 4), buffers_(receives * bytes),
	  domain_(must(::ibv_alloc_pd(id->verbs), "ibv_alloc_pd")),
	  channel_(must(::ibv_create_comp_channel(id->verbs), "ibv_create_comp_channel")),
	  completions_(must(::ibv_create_cq(id->verbs, static_cast<int>(receives + room_), nullptr, channel_.get(), 0),
			    "ibv_create_cq"))
{
	::fcntl(channel_->fd, F_SETFL, O_NONBLOCK);
	region_ = share(buffers_, IBV_ACCESS_LOCAL_WRITE);
	ibv_qp_init_attr attributes{};
	attributes.send_cq = attributes.recv_cq = completions_.get();
	attributes.qp_type = IBV_QPT_RC;
	attributes.cap = {room_, receives, 1, 1, maxInline};
	attributes.sq_sig_all = 1;
	if (::rdma_create_qp(id, domain_.get(), &attributes))
		throw std::system_error(errno, std::generic_category(), "rdma_create_qp");
	arm();
	for (std::size_t slot = 0; slot < receives; slot++)
		receive(slot);
}

// The memory regions are freed after the queue pair, when no work request can access them.
QueuePair::~QueuePair()
{
	::rdma_destroy_qp(id_);
}

Region QueuePair::share(Bytes &data, int access)
{
	return Region(must(::ibv_reg_mr(domain_.get(), data.data(), data.size(), access), "ibv_reg_mr"));
}

int QueuePair::fd() const
{
	return channel_->fd;
}

void QueuePair::arm()
{
	if (::ibv_req_notify_cq(completions_.get(), 0))
		error_ = "completions cannot be asked for";
}

void QueuePair::receive(std::size_t slot)
{
	ibv_sge at{reinterpret_cast<std::uintptr_t>(&buffers_[slot * bytes_]), static_cast<std::uint32_t>(bytes_),
		   region_->lkey};
	ibv_recv_wr wr{}, *bad = nullptr;
	wr.wr_id = receiveFlag | slot;
	wr.sg_list = &at;
	wr.num_sge = 1;
	if (::ibv_post_recv(id_->qp, &wr, &bad))
		error_ = "a receive cannot be posted";
}

// Re-arms the notification before polling, so that no completion is missed.
void QueuePair::poll()
{
	ibv_cq *cq = nullptr;
	void *context = nullptr;
	while (::ibv_get_cq_event(channel_.get(), &cq, &context) == 0) {
		::ibv_ack_cq_events(cq, 1);
		arm();
	}
	ibv_wc wc[16];
	for (int n; (n = ::ibv_poll_cq(completions_.get(), 16, wc)) > 0;)
		for (int i = 0; i < n; i++)
			complete(wc[i]);
}

void QueuePair::complete(const ibv_wc &wc)
{
	if (wc.wr_id & receiveFlag) {
		if (wc.status != IBV_WC_SUCCESS) {
			error_ = ::ibv_wc_status_str(wc.status);
			return;
		}
		auto slot = wc.wr_id & ~receiveFlag;
		auto from = buffers_.begin() + static_cast<std::ptrdiff_t>(slot * bytes_);
		arrived_.emplace_back(from, from + wc.byte_len);
		receive(slot);
		return;
	}
	auto at = posted_.find(wc.wr_id);
	if (at == posted_.end())
		return;
	auto work = std::move(at->second);
	posted_.erase(at);
	work.region.reset();
	if (wc.status != IBV_WC_SUCCESS) {
		error_ = ::ibv_wc_status_str(wc.status);
		return;
	}
	if (work.then)
		work.then(std::move(work.data));
	if (work.done)
		work.done();
}

std::optional<Bytes> QueuePair::received()
{
	if (arrived_.empty())
		return {};
	auto bytes = std::move(arrived_.front());
	arrived_.pop_front();
	return bytes;
}

void QueuePair::post(ibv_send_wr &wr, Work work)
{
	unsigned idle = 0; // ms
	while (posted_.size() >= room_ && !error_) {
		auto before = posted_.size();
		poll();
		idle = posted_.size() < before ? 0 : idle + 1;
		// the host is gone and the device retries as long as the host requested: forever on rxe
		if (idle > 1000) {
			error_ = "nothing that is sent gets through";
			fail();
		}
		std::this_thread::sleep_for(1ms);
	}
	wr.wr_id = ++last_;
	wr.send_flags |= IBV_SEND_SIGNALED;
	posted_.emplace(wr.wr_id, std::move(work));
	ibv_send_wr *bad = nullptr;
	if (::ibv_post_send(id_->qp, &wr, &bad))
		error_ = "a work request cannot be posted";
}

void QueuePair::send(std::span<const std::uint8_t> bytes, std::optional<std::uint32_t> invalidate, Done done)
{
	Work work{Bytes(bytes.begin(), bytes.end()), {}, {}, std::move(done)};
	work.data.resize(std::min<std::size_t>(bytes.size(), maxInline));
	ibv_sge from{reinterpret_cast<std::uintptr_t>(work.data.data()), static_cast<std::uint32_t>(work.data.size()),
		     0};
	ibv_send_wr wr{};
	wr.sg_list = &from;
	wr.num_sge = 1;
	wr.send_flags = IBV_SEND_INLINE;
	wr.opcode = invalidate ? IBV_WR_SEND_WITH_INV : IBV_WR_SEND;
	wr.invalidate_rkey = invalidate.value_or(0);
	post(wr, std::move(work));
}

void QueuePair::write(const Remote &to, Bytes data)
{
	Work work{std::move(data)};
	work.region = share(work.data, IBV_ACCESS_LOCAL_WRITE);
	ibv_sge from{reinterpret_cast<std::uintptr_t>(work.data.data()), static_cast<std::uint32_t>(work.data.size()),
		     work.region->lkey};
	ibv_send_wr wr{};
	wr.sg_list = &from;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.wr.rdma = {to.addr, to.key};
	post(wr, std::move(work));
}

void QueuePair::read(const Remote &from, std::size_t length, Read then)
{
	Work work{Bytes(length), {}, std::move(then)};
	work.region = share(work.data, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE); // iWARP requires both
	ibv_sge to{reinterpret_cast<std::uintptr_t>(work.data.data()), static_cast<std::uint32_t>(length),
		   work.region->lkey};
	ibv_send_wr wr{};
	wr.sg_list = &to;
	wr.num_sge = 1;
	wr.opcode = IBV_WR_RDMA_READ;
	wr.wr.rdma = {from.addr, from.key};
	post(wr, std::move(work));
}

void QueuePair::fail()
{
	ibv_qp_attr attributes{};
	attributes.qp_state = IBV_QPS_ERR;
	::ibv_modify_qp(id_->qp, &attributes, IBV_QP_STATE);
}

} // namespace target
