// SPDX-License-Identifier: LGPL-2.1-or-later
// NVMe commands by io_uring, with plain system calls and with the large SQEs and CQEs that NVMe commands need
#pragma once

#include "shell.h"

#include <linux/io_uring.h>
#include <linux/nvme_ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace guest {

class Ring {
public:
	struct Done {
		std::int32_t res; // 0, an NVMe status, or a negative errno
		std::uint64_t result;
		std::uint64_t tag;
	};
	static constexpr unsigned large = IORING_SETUP_SQE128 | IORING_SETUP_CQE32;

	explicit Ring(unsigned entries, unsigned flags = 0, unsigned sizes = large) : flags_(flags), sizes_(sizes)
	{
		params_.flags = flags | sizes;
		params_.sq_thread_idle = 1000;
		fd_ = static_cast<int>(::syscall(SYS_io_uring_setup, entries, &params_));
		if (fd_ < 0)
			throw std::runtime_error("io_uring_setup: " + std::string(std::strerror(errno)));
		auto &sq = params_.sq_off;
		auto &cq = params_.cq_off;
		sqSize_ = sq.array + params_.sq_entries * sizeof(std::uint32_t);
		cqSize_ = cq.cqes + params_.cq_entries * cqeSize();
		sq_ = map(sqSize_, IORING_OFF_SQ_RING);
		cq_ = map(cqSize_, IORING_OFF_CQ_RING);
		sqes_ = map(params_.sq_entries * sqeSize(), IORING_OFF_SQES);
	}
	~Ring()
	{
		::munmap(sq_, sqSize_);
		::munmap(cq_, cqSize_);
		::munmap(sqes_, params_.sq_entries * sqeSize());
		::close(fd_);
	}
	Ring(const Ring &) = delete;
	Ring &operator=(const Ring &) = delete;

	// Adds a command to the batch; submit() sends the batch.
	void add(int fd, unsigned long op, const nvme_uring_cmd &cmd, std::uint64_t tag = 0, int buffer = -1)
	{
		auto *sqe = append(fd, op, tag);
		auto *entry = reinterpret_cast<io_uring_sqe *>(sqe);
		if (buffer >= 0) {
			entry->uring_cmd_flags = IORING_URING_CMD_FIXED;
			entry->buf_index = static_cast<std::uint16_t>(buffer);
		}
		constexpr std::size_t payload = 48; // offset of the command in the SQE
		std::memcpy(sqe + payload, &cmd, std::min(sizeof(cmd), sqeSize() - payload));
		push();
	}
	// Discards a range of a disk, in bytes; -EOPNOTSUPP before Linux 6.12
	void addDiscard(int fd, std::uint64_t from, std::uint64_t length)
	{
		constexpr unsigned long blockDiscard = _IO(0x12, 0); // BLOCK_URING_CMD_DISCARD
		auto *entry = reinterpret_cast<io_uring_sqe *>(append(fd, blockDiscard, 0));
		entry->addr = from;
		entry->addr3 = length;
		push();
	}
	void submit()
	{
		if (!(flags_ & IORING_SETUP_SQPOLL))
			enter(pending_, 0, 0);
		else if (word(sq_, params_.sq_off.flags) & IORING_SQ_NEED_WAKEUP)
			enter(0, 0, IORING_ENTER_SQ_WAKEUP);
		pending_ = 0;
	}
	Done next()
	{
		auto head = word(cq_, params_.cq_off.head).load(std::memory_order_relaxed);
		while (word(cq_, params_.cq_off.tail).load(std::memory_order_acquire) == head)
			enter(0, 1, IORING_ENTER_GETEVENTS);
		auto *cqe = cq_ + params_.cq_off.cqes + (head & (params_.cq_entries - 1)) * cqeSize();
		Done done{reinterpret_cast<io_uring_cqe *>(cqe)->res, 0,
			  reinterpret_cast<io_uring_cqe *>(cqe)->user_data};
		if (cqeSize() > sizeof(io_uring_cqe))
			std::memcpy(&done.result, cqe + sizeof(io_uring_cqe), sizeof(done.result));
		word(cq_, params_.cq_off.head).store(head + 1, std::memory_order_release);
		return done;
	}
	// Runs one command and waits for its completion.
	Done one(int fd, unsigned long op, const nvme_uring_cmd &cmd, int buffer = -1)
	{
		add(fd, op, cmd, 0, buffer);
		submit();
		return next();
	}
	void registerBuffers(const std::vector<iovec> &buffers)
	{
		if (::syscall(SYS_io_uring_register, fd_, IORING_REGISTER_BUFFERS, buffers.data(), buffers.size()))
			throw std::runtime_error("io_uring_register: " + std::string(std::strerror(errno)));
	}

private:
	unsigned next(std::uint32_t tail) const { return tail & (params_.sq_entries - 1); }
	std::uint8_t *append(int fd, unsigned long op, std::uint64_t tag)
	{
		auto *sqe = sqes_ + next(word(sq_, params_.sq_off.tail).load(std::memory_order_relaxed)) * sqeSize();
		std::memset(sqe, 0, sqeSize());
		auto *entry = reinterpret_cast<io_uring_sqe *>(sqe);
		entry->opcode = IORING_OP_URING_CMD;
		entry->fd = fd;
		entry->cmd_op = static_cast<std::uint32_t>(op);
		entry->user_data = tag;
		return sqe;
	}
	void push()
	{
		auto tail = word(sq_, params_.sq_off.tail).load(std::memory_order_relaxed);
		word(sq_, params_.sq_off.array + next(tail) * sizeof(std::uint32_t)) = next(tail);
		word(sq_, params_.sq_off.tail).store(tail + 1, std::memory_order_release);
		pending_++;
	}
	std::size_t sqeSize() const { return sizes_ & IORING_SETUP_SQE128 ? 128 : 64; }
	std::size_t cqeSize() const { return sizes_ & IORING_SETUP_CQE32 ? 32 : 16; }
	std::uint8_t *map(std::size_t size, off_t what) const
	{
		auto *at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd_, what);
		if (at == MAP_FAILED)
			throw std::runtime_error("mmap of a ring: " + std::string(std::strerror(errno)));
		return static_cast<std::uint8_t *>(at);
	}
	static std::atomic<std::uint32_t> &word(std::uint8_t *at, std::size_t offset)
	{
		return *reinterpret_cast<std::atomic<std::uint32_t> *>(at + offset);
	}
	void enter(unsigned submit, unsigned wait, unsigned flags) const
	{
		if (::syscall(SYS_io_uring_enter, fd_, submit, wait, flags, nullptr, 0) < 0 && errno != EINTR &&
		    errno != EAGAIN)
			throw std::runtime_error("io_uring_enter: " + std::string(std::strerror(errno)));
	}

	unsigned flags_, sizes_, pending_ = 0;
	int fd_;
	io_uring_params params_{};
	std::size_t sqSize_, cqSize_;
	std::uint8_t *sq_, *cq_, *sqes_;
};

// Generic node of a disk: "/dev/ngnvmeof0n1" for "/dev/nvmeof0n1"
inline std::string genericOf(const std::string &disk)
{
	return "/dev/ng" + disk.substr(std::strlen("/dev/"));
}

// A command on a range of 512-byte blocks
inline nvme_uring_cmd blocksCommand(std::uint8_t opcode, std::uint64_t slba, std::size_t bytes,
				    const void *data = nullptr)
{
	nvme_uring_cmd cmd{};
	cmd.opcode = opcode;
	cmd.nsid = 1;
	cmd.cdw10 = static_cast<std::uint32_t>(slba);
	cmd.cdw11 = static_cast<std::uint32_t>(slba >> 32);
	cmd.cdw12 = static_cast<std::uint32_t>(bytes / 512 - 1);
	if (data) {
		cmd.addr = reinterpret_cast<std::uintptr_t>(data);
		cmd.data_len = static_cast<std::uint32_t>(bytes);
	}
	return cmd;
}

} // namespace guest
