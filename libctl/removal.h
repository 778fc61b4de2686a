// SPDX-License-Identifier: LGPL-2.1-or-later
// Deletes controllers, many side by side.
#pragma once

#include <functional>

#include "engine.h"

namespace nofctl {

// One that is gone when its turn comes, also if another one has its name by then.
enum class Missing { isFine, isError };

class RemovalOperation : public Operation {
public:
	using Done = std::function<void(nvmeof::Removal)>;

	// Of each its name counts, and its subsystem's NQN if there is one.
	RemovalOperation(Engine &engine, const std::vector<nvmeof::Controller> &controllers, Done done,
			 Missing missing = Missing::isFine);

	bool advance() override;
	Clock::time_point wake() const override;
	void cancel() override { done_ = nullptr; }

private:
	struct Item {
		std::string name, subsysnqn;
		Socket::Id asked = 0;
		Clock::time_point again{}; // not before
		bool over = false;
		std::optional<nvmeof::Error> error{};
	};

	void advance(Item &item);
	void take(Item &item, const nvmeof::Result<void> &done);

	Engine &engine_;
	Done done_;
	Missing missing_;
	Clock::time_point patience_; // with those that are just being made
	std::vector<Item> items_;
	std::size_t asked_ = 0;
};

} // namespace nofctl
