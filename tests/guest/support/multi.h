// SPDX-License-Identifier: LGPL-2.1-or-later
// Base of multipath tests: one subsystem of the kernel's target behind several ports. Over TCP each port is in its own
// network namespace, so that each path can be made slow, lossy, silent or dead independently. Over RDMA each has its
// own device.
#pragma once

#include "loop.h"
#include "netns.h"
#include "nvmet.h"
#include "rdma.h"
#include "multipath_rig.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace guest {

// One path to the subsystem. ANA states survive close() and open().
class Lane {
public:
	Lane(unsigned number, const nvmet::Subsystem &subsystem, std::string transport);

	std::string address() const { return nic_ ? nic_->address() : link_->targetAddress(); }
	const std::string &transport() const { return transport_; }
	void close(); // removes the port; hosts lose their connections
	void open();  // creates it again
	void reopen() { close(), open(); }
	void unlink(); // the port stays but no longer offers the subsystem
	void relink();
	void run(const std::string &command) const { netns_->run(command); } // on the target's side; TCP only
	// optimized, non-optimized, inaccessible, persistent-loss, change
	void setAna(unsigned group, const std::string &state);

	// The link (TCP) or the device (RDMA) of the path; throws for the other transport.
	Link &link() { return link_.value(); }
	RdmaNic &nic() { return nic_.value(); }
	// Reverts all impairments.
	void repair();

private:
	unsigned number_;
	const nvmet::Subsystem &subsystem_;
	std::string transport_;
	std::optional<Netns> netns_;
	std::optional<Link> link_;
	std::optional<RdmaNic> nic_;
	std::optional<nvmet::Port> port_;
	std::map<unsigned, std::string> ana_;
};

struct MultiOptions {
	unsigned lanes = 2;
	std::vector<std::uint64_t> namespaces = {64 << 20}; // sizes in bytes; NSID n is in ANA group n
	std::string device = "";                            // of NSID 1, instead of `namespaces`
	std::vector<std::string> transports = {};           // per lane; default: the transport of all tests
};

class Multi : public MultipathRig {
public:
	explicit Multi(const MultiOptions &options = {});
	~Multi() override;

	Lane &lane(unsigned n) { return *lanes_[n]; }
	void setAna(unsigned group, const std::string &state); // of all lanes
	unsigned lanes() const override { return static_cast<unsigned>(lanes_.size()); }
	nvmet::Subsystem &subsystem() { return subsystem_; }
	nvmeof::ConnectOptions options(unsigned lane) const override;
	std::uint32_t namespaces() const override { return namespaces_; }

private:
	std::vector<std::unique_ptr<Loop>> backing_;
	std::uint32_t namespaces_ = 0;
	nvmet::Subsystem subsystem_;
	std::vector<std::unique_ptr<Lane>> lanes_;

public:
	Host host;
};

} // namespace guest
