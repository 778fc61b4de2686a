// SPDX-License-Identifier: LGPL-2.1-or-later
// Deletes several controllers in parallel.
#pragma once

#include <functional>

#include "engine.h"

namespace nofctl {

// Treatment of a controller that no longer exists when its deletion starts, including one whose name was reused.
enum class Missing { ignored, reported };

class RemovalOperation : public Operation {
public:
	using Done = std::function<void(nvmeof::Removal)>;

	// Only the name and, if not empty, the subsystem NQN of each controller are used.
	RemovalOperation(Engine &engine, const std::vector<nvmeof::Controller> &controllers, Done done,
			 Missing missing = Missing::ignored);

	bool advance() override;
	Clock::time_point wake() const override;
	void cancel() override { done_ = nullptr; }

private:
	struct Item {
		std::string name, subsysnqn;
		Socket::Id asked = 0;
		Clock::time_point again{}; // earliest time of the next attempt
		bool over = false;
		std::optional<nvmeof::Error> error{};
	};

	void advance(Item &item);
	void take(Item &item, const nvmeof::Result<void> &done);

	Engine &engine_;
	Done done_;
	Missing missing_;
	Clock::time_point patience_; // end of retries for controllers that are being created
	std::vector<Item> items_;
	std::size_t asked_ = 0;
};

} // namespace nofctl
