// SPDX-License-Identifier: LGPL-2.1-or-later
// A value or an Error. The library throws no exception across its API.
#pragma once

#include <cstdlib>
#include <optional>
#include <utility>
#include <variant>

#include <nvmeof/error.h>

namespace nvmeof {

// Accessing the value of a failed Result, or the error of a good one, aborts: it is a bug in the caller.
template <typename T> class [[nodiscard]] Result {
public:
	Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
	Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

	bool ok() const { return state_.index() == 0; }
	explicit operator bool() const { return ok(); }

	T &value() & { return *check(std::get_if<0>(&state_)); }
	const T &value() const & { return *check(std::get_if<0>(&state_)); }
	T &&value() && { return std::move(*check(std::get_if<0>(&state_))); }

	T &operator*() & { return value(); }
	const T &operator*() const & { return value(); }
	T &&operator*() && { return std::move(*this).value(); }
	T *operator->() { return &value(); }
	const T *operator->() const { return &value(); }

	const Error &error() const { return *check(std::get_if<1>(&state_)); }

private:
	template <typename P> static P *check(P *p)
	{
		if (!p)
			std::abort();
		return p;
	}

	std::variant<T, Error> state_;
};

template <> class [[nodiscard]] Result<void> {
public:
	Result() = default;
	Result(Error error) : error_(std::move(error)) {}

	bool ok() const { return !error_; }
	explicit operator bool() const { return ok(); }

	const Error &error() const
	{
		if (!error_)
			std::abort();
		return *error_;
	}

private:
	std::optional<Error> error_;
};

} // namespace nvmeof
