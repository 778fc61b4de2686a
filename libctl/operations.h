// SPDX-License-Identifier: LGPL-2.1-or-later
// Starts the operations of a Client and returns their handles.
#pragma once

#include "engine.h"

namespace nofctl {

nvmeof::Pending<std::vector<nvmeof::Result<nvmeof::Connection>>>
startConnects(Engine &engine, std::span<const nvmeof::ConnectOptions> options, const nvmeof::WaitOptions &wait,
	      std::stop_token stop = {});
nvmeof::Pending<nvmeof::Result<nvmeof::Connection>> startConnect(Engine &engine, const nvmeof::ConnectOptions &options,
								 const nvmeof::WaitOptions &wait);
// For an existing controller. Names have no /dev/ from here on.
nvmeof::Pending<nvmeof::Result<nvmeof::Connection>> startWait(Engine &engine, const std::string &controller,
							      const nvmeof::WaitOptions &wait);
// For a controller that was created after listen(). An error becomes the result.
nvmeof::Pending<nvmeof::Result<nvmeof::Connection>>
startWait(Engine &engine, nvmeof::Result<nvmeof::Controller> controller, const nvmeof::WaitOptions &wait);

// noSuchObject if there is no such controller. startRemovals() counts a missing controller as removed.
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
