// SPDX-License-Identifier: LGPL-2.1-or-later
// What was started, and is not there yet.
#pragma once

#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace nvmeof {

namespace detail {

template <typename T> struct PendingState {
	std::optional<T> value;
	std::function<void()> notify;
	std::function<void()> cancel;
};

} // namespace detail

/*
 * A handle on something that a Client does: Client::dispatch() moves it on, ready() tells that it is over, take() has
 * the result, once. Who lets go of it before cancels it; what that means is said where it is started. Belongs to the
 * thread of its Client, and may outlive it: then it never gets ready.
 */
template <typename T> class Pending {
public:
	Pending() = default;
	explicit Pending(std::shared_ptr<detail::PendingState<T>> state) : state_(std::move(state)) {}
	Pending(Pending &&) noexcept = default;
	Pending &operator=(Pending &&other) noexcept
	{
		if (this != &other) {
			cancel();
			state_ = std::move(other.state_);
		}
		return *this;
	}
	~Pending() { cancel(); }

	bool valid() const { return state_ != nullptr; } // started, neither taken nor cancelled
	bool ready() const { return state_ && state_->value; }

	// The result, when it is ready; to ask before is a bug in the caller and aborts.
	T take()
	{
		if (!ready())
			std::abort();
		T value = std::move(*state_->value);
		state_.reset();
		return value;
	}

	// Nothing comes of it any more. No result, and no call of what was given to then().
	void cancel()
	{
		std::shared_ptr<detail::PendingState<T>> state = std::move(state_);
		if (!state || state->value)
			return;
		state->notify = nullptr;
		if (auto cancel = std::exchange(state->cancel, nullptr))
			cancel();
	}

	// @notify is called once, by dispatch() when it has become ready, or here when it is so already. It may use the
	// Client and this handle.
	void then(std::function<void()> notify)
	{
		if (ready())
			notify();
		else if (state_)
			state_->notify = std::move(notify);
	}

private:
	std::shared_ptr<detail::PendingState<T>> state_;
};

} // namespace nvmeof
