// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <algorithm>

#include "machine.h"

#include "libctl/gpu/cufile.h"
#include "libctl/gpu/rails.h"

using namespace nofctl::gpu;

namespace {

CufileJson parsed(const std::string &text)
{
	nvmeof::Result<CufileJson> file = parseCufile(text);
	REQUIRE(file);
	return *file;
}

const CufileSetting *find(const CufilePlan &plan, const std::string &path)
{
	auto found = std::ranges::find(plan.settings, path, &CufileSetting::path);
	return found == plan.settings.end() ? nullptr : &*found;
}

} // namespace

TEST_CASE("cufile.json with comments is read, and its problems are reported", "[cufile]")
{
	const CufileJson file = parsed(
		"{ // a comment\n\"properties\": { /* one more */ \"allow_compat_mode\": 1, \"io_batchsize\": 300,\n"
		"\"rdma_load_balancing_policy\": \"Best\", \"max_direct_io_size_kb\": 100, \"rdma_dev_addr_list\": "
		"[1],\n"
		"\"use_poll_mode\": true, \"unknown\": {} }, \"logging\": { \"level\": \"INFO\" } }");
	CHECK(cufileProblems(file) ==
	      std::vector<std::string>{
		      "properties/allow_compat_mode: expected true or false",
		      "properties/rdma_dev_addr_list: expected a list of strings",
		      "properties/rdma_load_balancing_policy: expected one of FirstFit MaxMinFit RoundRobin "
		      "RoundRobinMaxMin Randomized",
		      "properties/max_direct_io_size_kb: not a multiple of 64",
		      "properties/io_batchsize: out of range: 1 to 256"});
	CHECK_FALSE(parseCufile("{"));
	CHECK_FALSE(parseCufile("[]"));
	CHECK_FALSE(parseCufile("{\"a\":" + std::string(40, '[') + std::string(40, ']') + "}"));
	CHECK(cufileProblems(parsed("{\"properties\": 7}")).empty());
}

TEST_CASE("each key that is written is known and valid", "[cufile]")
{
	const Node node = dgxA100().node();
	const CufilePlan plan = planCufile(node, {{"ens0", {"10.0.0.1"}}, {"ens1", {"10.0.1.1", "fd00::1"}}});
	REQUIRE(find(plan, "/properties/rdma_dev_addr_list"));
	CHECK(find(plan, "/properties/rdma_dev_addr_list")->value ==
	      CufileJson::array({"10.0.0.1", "10.0.1.1", "fd00::1"}));
	CHECK(find(plan, "/properties/use_pci_p2pdma")->value == true);
	CHECK(find(plan, "/properties/rdma_dynamic_routing")->value == false);
	const CufileJson file = applyCufile(CufileJson::object(), plan);
	CHECK(cufileProblems(file).empty());
	CHECK(parsed(formatCufile(file)) == file);
	for (const CufileSetting &one : plan.settings) {
		CAPTURE(one.path);
		CHECK(std::ranges::any_of(cufileKeys(), [&](const CufileKey &key) { return one.path == key.path; }));
		CHECK_FALSE(one.why.empty());
	}
	const Node far = wrongSlots().node();
	const CufilePlan other = planCufile(far, {});
	CHECK(find(other, "/properties/max_device_pinned_mem_size_kb")->value == (1 << 18) - (1 << 15));
}

TEST_CASE("mounts without direct I/O are reported, and existing keys are kept", "[cufile]")
{
	Machine machine = dgxA100();
	machine.head("nvmeof0n1", "uuid.1");
	machine.head("nvmeof0n2", "uuid.2");
	machine.path("nvmeof0n1", "nvmeof0c1", "rdma", "traddr=10.0.0.1,host_iface=ens0");
	machine.path("nvmeof0n2", "nvmeof0c2", "tcp", "traddr=10.0.0.1,host_iface=ens0");
	machine.file("/proc/self/mounts", "/dev/nvmeof0n1 /fast xfs rw 0 0\n/dev/nvmeof0n2 /slow xfs rw 0 0\n");
	const Node node = machine.node();
	const CufilePlan plan = planCufile(node, {});
	REQUIRE(plan.mounts.size() == 2);
	CHECK(plan.mounts[0].mode == "p2pdma");
	CHECK(plan.mounts[1].mode == "compat");
	const CufileJson before = parsed("{\"denylist\": {\"mounts\": [\"/old\"], \"drivers\": []}, \"mine\": 1}");
	const CufileJson after = applyCufile(before, plan);
	CHECK(after["denylist"]["mounts"] == CufileJson::array({"/slow", "/old"}));
	CHECK(after["mine"] == 1);
	CHECK(applyCufile(after, plan)["denylist"]["mounts"].size() == 2);
	CHECK(applyCufile(parsed("{\"properties\": 7}"), plan)["properties"].is_object());
}

TEST_CASE("P2PDMA is not enabled where the check of the kernel or the drivers fails", "[cufile]")
{
	Machine machine = dgxA100();
	machine.head("nvmeof0n1", "uuid.1");
	machine.path("nvmeof0n1", "nvmeof0c1", "rdma", "traddr=10.0.0.1,host_iface=ens0");
	machine.file("/proc/self/mounts", "/dev/nvmeof0n1 /fast xfs rw 0 0\n");
	CHECK(planCufile(machine.node(), {}).mounts.at(0).mode == "p2pdma");
	machine.file("/boot/config-6.12.0-test", "CONFIG_PCI=y\n# CONFIG_PCI_P2PDMA is not set\n");
	const CufilePlan plan = planCufile(machine.node(), {});
	const CufileSetting *p2pdma = find(plan, "/properties/use_pci_p2pdma");
	REQUIRE(p2pdma);
	CHECK(p2pdma->value == false);
	CHECK(p2pdma->why.starts_with("gds check fails: 6.12.0-test: CONFIG_PCI_P2PDMA is not set"));
	CHECK(plan.mounts.at(0).mode == "compat");
	REQUIRE_FALSE(plan.failed.empty());
	CHECK(plan.failed.front().check == "kernel");
}

TEST_CASE("a mount is not denied for a reason that concerns the GPUs", "[cufile]")
{
	Machine machine = dgxA100();
	machine.head("nvmeof0n1", "uuid.1");
	machine.path("nvmeof0n1", "nvmeof0c1", "rdma", "traddr=10.0.0.1,host_iface=ens0");
	machine.file("/proc/self/mounts", "/dev/nvmeof0n1 /fast xfs rw 0 0\n");
	const CufilePlan good = planCufile(machine.node(), {});
	machine.file("/boot/config-6.12.0-test", "CONFIG_PCI=y\n# CONFIG_PCI_P2PDMA is not set\n");
	const CufilePlan obstructed = planCufile(machine.node(), {});
	CHECK(obstructed.mounts.at(0).mode == "compat");
	const CufileJson file = applyCufile(applyCufile(CufileJson::object(), obstructed), good);
	CHECK(file.value("/denylist/mounts"_json_pointer, CufileJson::array()).empty());
	CHECK(file["properties"]["use_pci_p2pdma"] == true);
}

TEST_CASE("the driver of one GPU is no obstacle for the others, and neither is nvmeof_nvfs", "[cufile]")
{
	auto enabled = [](const Node &node) { return find(planCufile(node, {}), "/properties/use_pci_p2pdma")->value; };
	Node node = dgxA100().node();
	std::vector<PciDevice *> gpus;
	for (auto &[address, device] : node.pci.devices)
		if (device.kind == Kind::gpu)
			gpus.push_back(&device);
	REQUIRE(gpus.size() == 8);
	gpus[0]->driver = "vfio-pci";
	CHECK(enabled(node) == true);
	for (PciDevice *gpu : gpus)
		gpu->driver = "vfio-pci";
	CHECK(enabled(node) == false);
	CHECK(planCufile(node, {}).failed.size() >= 8);

	Machine machine = dgxA100();
	machine.head("nvmeof0n1", "uuid.1");
	machine.path("nvmeof0n1", "nvmeof0c1", "rdma", "traddr=10.0.0.1,host_iface=ens0");
	machine.file("/proc/self/mounts", "/dev/nvmeof0n1 /fast xfs rw 0 0\n");
	node = machine.node();
	node.modules["nvidia_fs"] = "2.28.4";
	const CufilePlan plan = planCufile(node, {});
	CHECK(std::ranges::find(plan.failed, "nvmeof_nvfs", &Finding::subject) != plan.failed.end());
	CHECK(plan.mounts.at(0).mode == "nvidia-fs");
}

TEST_CASE("without an NVIDIA GPU, that is the only finding", "[cufile]")
{
	Node node = dgxA100().node();
	std::erase_if(node.pci.devices, [](const auto &one) { return one.second.kind == Kind::gpu; });
	const CufilePlan plan = planCufile(node, {});
	REQUIRE(plan.failed.size() == 1);
	CHECK(plan.failed[0].check == "gpu");
	CHECK(find(plan, "/properties/use_pci_p2pdma")->value == false);
}

TEST_CASE("differences are shown as lines", "[cufile]")
{
	CHECK(lineDifference("a\nb\n", "a\nb\n") == "");
	CHECK(lineDifference("", "a\n") == "+a\n");
	CHECK(lineDifference("1\n2\n3\n4\n5\n6\n7\n", "1\n2\n3\n4\nx\n6\n7\n") == "@@\n 3\n 4\n-5\n+x\n 6\n 7\n");
}
