// SPDX-License-Identifier: LGPL-2.1-or-later
// The result of an operation that has been started and may not have completed yet.
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
 * A handle on an operation of a Client. Client::dispatch() advances the operation, ready() reports its completion,
 * take() returns the result once. Destroying the handle before that cancels the operation; the effect is documented at
 * the function that starts it. Must be used on the thread of its Client. It may outlive the Client; it then never
 * becomes ready.
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

	bool valid() const { return state_ != nullptr; } // started, and neither taken nor cancelled
	bool ready() const { return state_ && state_->value; }

	// Returns the result. Aborts if it is not ready: that is a bug in the caller.
	T take()
	{
		if (!ready())
			std::abort();
		T value = std::move(*state_->value);
		state_.reset();
		return value;
	}

	// Cancels the operation. There is no result, and the function passed to then() is not called.
	void cancel()
	{
		std::shared_ptr<detail::PendingState<T>> state = std::move(state_);
		if (!state || state->value)
			return;
		state->notify = nullptr;
		if (auto cancel = std::exchange(state->cancel, nullptr))
			cancel();
	}

	// @notify is called once: by dispatch() when the result becomes ready, or immediately if it is ready already.
	// It may use the Client and this handle.
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
