// SPDX-License-Identifier: LGPL-2.1-or-later
// RDMA devices of this machine: Soft-RoCE (rxe) on virtual interfaces. Traffic between two addresses of one machine
// stays inside the device that has the target's address, so no netem, filter or cable affects it. Slow or silent paths
// therefore need two machines (qemu/run), while a device can be removed here.
#pragma once

#include <optional>
#include <string>

namespace guest {

// Soft-RoCE on an interface
class RdmaDevice {
public:
	RdmaDevice(std::string name, std::string iface);
	~RdmaDevice();
	RdmaDevice(const RdmaDevice &) = delete;
	RdmaDevice &operator=(const RdmaDevice &) = delete;

	void keep() { kept_ = true; } // leave the device in place on destruction
	void remove();                // hot-unplug; the interface and its addresses stay
	void restore();               // returns when the port is active and its GIDs are known
	bool there() const;

private:
	std::string name_, iface_;
	bool kept_ = false;
};

// An interface NAME with the addresses 10.N.0.1 and fd00:N::1, and the RDMA device NAME on it. Only in the initial
// network namespace, because rxe supports no other.
class RdmaNic {
public:
	RdmaNic(std::string name, unsigned number);
	~RdmaNic();
	// Leaves the device for the next RdmaNic of that name. A device that a target of this process has used cannot
	// be removed before the process ends: rxe does not detach users, and librdmacm keeps devices open.
	void keep() { kept_ = true; }
	RdmaNic(const RdmaNic &) = delete;
	RdmaNic &operator=(const RdmaNic &) = delete;

	const std::string &name() const { return name_; } // of interface and device
	std::string address() const { return "10." + number_ + ".0.1"; }
	std::string address6() const { return "fd00:" + number_ + "::1"; }

	void remove() { device_->remove(); }
	bool there() const { return device_->there(); }
	// Takes the link down. Traffic on the same host is not affected, but users of the port get an event.
	void down();
	void up();
	void repair(); // reverts everything above

private:
	std::string name_, number_;
	std::optional<RdmaDevice> device_;
	bool kept_ = false;
};

} // namespace guest
