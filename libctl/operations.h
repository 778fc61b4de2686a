// SPDX-License-Identifier: LGPL-2.1-or-later
// The operations that a Client starts, each with the handle on it.
#pragma once

#include "engine.h"

namespace nofctl {

nvmeof::Pending<std::vector<nvmeof::Result<nvmeof::Connection>>>
startConnects(Engine &engine, std::span<const nvmeof::ConnectOptions> options, const nvmeof::WaitOptions &wait,
	      std::stop_token stop = {});
nvmeof::Pending<nvmeof::Result<nvmeof::Connection>> startConnect(Engine &engine, const nvmeof::ConnectOptions &options,
								 const nvmeof::WaitOptions &wait);
// For one that exists; plain names from here on.
nvmeof::Pending<nvmeof::Result<nvmeof::Connection>> startWait(Engine &engine, const std::string &controller,
							      const nvmeof::WaitOptions &wait);
// For one that was made after listen(); an error is its result.
nvmeof::Pending<nvmeof::Result<nvmeof::Connection>>
startWait(Engine &engine, nvmeof::Result<nvmeof::Controller> controller, const nvmeof::WaitOptions &wait);

// noSuchObject when there is none of that name, which of several to remove is no error.
nvmeof::Pending<nvmeof::Result<void>> startRemoval(Engine &engine, const std::string &controller);
nvmeof::Pending<nvmeof::Result<nvmeof::Removal>> startRemovals(Engine &engine,
							       const std::vector<nvmeof::Controller> &controllers);
nvmeof::Pending<nvmeof::Result<void>> startRescan(Engine &engine, const std::string &controller);

template <typename T> [[gnu::visibility("hidden")]] nvmeof::Pending<T> started(Engine &engine, T value)
{
	Promise<T> promise;
	nvmeof::Pending<T> pending = promise.pending({});
	promise.finish(engine, std::move(value));
	return pending;
}

} // namespace nofctl
