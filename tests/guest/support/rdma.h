// SPDX-License-Identifier: LGPL-2.1-or-later
// RDMA devices of this machine: Soft-RoCE (rxe) on virtual interfaces. What two addresses of one machine say to each
// other never leaves the device that has the address of the target: no netem, no filter and no cable is in between, so
// that a path can only be slow or silent between two machines (qemu/run), while its device can be removed here.
#pragma once

#include <optional>
#include <string>

namespace guest {

// Soft-RoCE on an interface, by a name of its own.
class RdmaDevice {
public:
	RdmaDevice(std::string name, std::string iface);
	~RdmaDevice();
	RdmaDevice(const RdmaDevice &) = delete;
	RdmaDevice &operator=(const RdmaDevice &) = delete;

	void keep() { kept_ = true; } // when this goes
	void remove();                // as by a hot-unplug; the interface stays, and so do its addresses
	void restore();               // and comes back, with its port active and its addresses known
	bool there() const;

private:
	std::string name_, iface_;
	bool kept_ = false;
};

// An interface NAME with the addresses 10.N.0.1 and fd00:N::1, and the RDMA device NAME on it. In the first network
// namespace: rxe knows no other one.
class RdmaNic {
public:
	RdmaNic(std::string name, unsigned number);
	~RdmaNic();
	// It stays for the next one of that name. A device that a target in this process has used cannot go before the
	// process does: rxe does not take it from its users, and librdmacm lets go of none.
	void keep() { kept_ = true; }
	RdmaNic(const RdmaNic &) = delete;
	RdmaNic &operator=(const RdmaNic &) = delete;

	const std::string &name() const { return name_; } // of both
	std::string address() const { return "10." + number_ + ".0.1"; }
	std::string address6() const { return "fd00:" + number_ + "::1"; }

	void remove() { device_->remove(); }
	bool there() const { return device_->there(); }
	// The port has no link any more, which same-host traffic takes no notice of; its users are told.
	void down();
	void up();
	void repair(); // everything above

private:
	std::string name_, number_;
	std::optional<RdmaDevice> device_;
	bool kept_ = false;
};

} // namespace guest
