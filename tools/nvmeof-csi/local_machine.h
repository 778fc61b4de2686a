// SPDX-License-Identifier: LGPL-2.1-or-later
// The Machine of the local node
#pragma once

#include <string>
#include <vector>

#include <nvmeof/result.h>

#include "machine.h"

namespace csi {

// Opens a client per call, as gRPC calls from many threads.
class LocalMachine : public Machine {
public:
	explicit LocalMachine(nofctl::volume::SystemPaths systemPaths = {}) : systemPaths_(std::move(systemPaths)) {}

	nvmeof::Result<void> ready() override;
	nvmeof::Result<nvmeof::ConnectSettings> connectDefaults(const std::string &nqn) override;
	nvmeof::Result<nofctl::volume::Attached> attach(const nofctl::volume::AttachOptions &options) override;
	nvmeof::Result<nofctl::volume::Detached> detach(const nofctl::volume::Entry &entry) override;
	bool isAttached(const nofctl::volume::Entry &entry) override;
	nvmeof::Result<std::optional<nvmeof::Namespace>> find(const nofctl::volume::Entry &entry) override;
	nvmeof::Result<void> takeFence(const nvmeof::Namespace &ns, nofctl::volume::FenceKey key) override;
	nvmeof::Result<void> dropFence(const nvmeof::Namespace &ns) override;
	nvmeof::Result<std::string> contentOf(const std::string &device) override;
	nvmeof::Result<void> format(const std::string &device, const std::string &fileSystem,
				    const std::vector<std::string> &options) override;
	nvmeof::Result<void> check(const std::string &device, const std::string &fileSystem) override;
	nvmeof::Result<void> grow(const std::string &device, const std::string &mount) override;
	std::vector<nofctl::volume::User> usersOf(const std::string &disk, const std::string &except) override;
	nvmeof::Result<std::vector<nofctl::volume::Entry>> entriesOf(const std::string &disk) override;
	nvmeof::Result<bool> isReadOnly(const std::string &device) override;
	nvmeof::Result<void> setReadOnly(const std::string &device, bool on) override;
	nvmeof::Result<std::optional<Mounted>> mountedAt(const std::string &target) override;
	std::string canonical(const std::string &path) override;
	nvmeof::Result<void> mount(const std::string &device, const std::string &target, const std::string &fileSystem,
				   const MountOptions &options) override;
	nvmeof::Result<void> bind(const std::string &from, const std::string &target, bool readOnly) override;
	nvmeof::Result<void> unmount(const std::string &target, bool remove, Unmount how) override;
	nvmeof::Result<Usage> usage(const std::string &path) override;
	bool exists(const std::string &path) override;
	Reach reaches(const nvmeof::Address &address) override;

private:
	nvmeof::Result<void> makeReadOnly(const std::string &target);

	nofctl::volume::SystemPaths systemPaths_;
};

// Runs a program by name, without a shell, and waits for its end. Error: the exit status is above @maxStatus; the
// message has its output
nvmeof::Result<void> runProgram(const std::vector<std::string> &words, int maxStatus = 0);

} // namespace csi
