// SPDX-License-Identifier: LGPL-2.1-or-later
#include "payload.h"

#include "identify.h"

#include <algorithm>

namespace target {
namespace {

// A field of a data structure: the width is in bytes
struct Field {
	const char *name;
	std::size_t offset;
	unsigned width;
};

const Field ctrl_fields[] = {
	{"VID", 0, 2},
	{"SN", at::serial, 8},
	{"MN", at::model, 8},
	{"FR", 64, 8},
	{"CMIC", 76, 1},
	{"MDTS", at::mdts, 1},
	{"CNTLID", at::cntlid, 2},
	{"VER", 80, 4},
	{"RTD3E", 88, 4},
	{"OAES", 92, 4},
	{"CTRATT", 96, 4},
	{"CNTRLTYPE", at::cntrltype, 1},
	{"CIU", at::ciu, 1},
	{"CIRN", at::cirn, 8},
	{"ACL", 258, 1},
	{"AERL", 259, 1},
	{"LPA", 261, 1},
	{"KAS", at::kas, 2},
	{"ANATT", at::anatt, 1},
	{"ANACAP", at::anacap, 1},
	{"ANAGRPMAX", at::anagrpmax, 4},
	{"NANAGRPID", at::nanagrpid, 4},
	{"CQT", at::cqt, 2},
	{"SQES", at::sqes, 1},
	{"CQES", at::cqes, 1},
	{"MAXCMD", at::maxcmd, 2},
	{"NN", at::nn, 4},
	{"ONCS", 520, 2},
	{"VWC", 525, 1},
	{"SGLS", at::sgls, 4},
	{"MNAN", at::mnan, 4},
	{"SUBNQN", at::subnqn, 8},
	{"IOCCSZ", at::ioccsz, 4},
	{"IORCSZ", at::iorcsz, 4},
	{"ICDOFF", at::icdoff, 2},
	{"FCATT", 1802, 1},
	{"MSDBD", 1803, 1},
	{"CCRL", at::ccrl, 1},
};

const Field ns_fields[] = {
	{"NSZE", at::nsze, 8},
	{"NCAP", at::ncap, 8},
	{"NUSE", 16, 8},
	{"NSFEAT", 24, 1},
	{"NLBAF", at::nlbaf, 1},
	{"FLBAS", at::flbas, 1},
	{"MC", 27, 1},
	{"DPC", 28, 1},
	{"DPS", 29, 1},
	{"NMIC", at::nmic, 1},
	{"DLFEAT", at::dlfeat, 1},
	{"NAWUN", 34, 2},
	{"NAWUPF", 36, 2},
	{"NPWG", 64, 2},
	{"NPWA", 66, 2},
	{"NPDG", 68, 2},
	{"NPDA", 70, 2},
	{"NOWS", 72, 2},
	{"MSSRL", 74, 2},
	{"ANAGRPID", 92, 4},
	{"NSATTR", 99, 1},
	{"NGUID", 104, 8},
	{"EUI64", 120, 8},
	{"MS of format 0", at::lbaf0, 2},
	{"LBADS of format 0", at::lbaf0 + 2, 1},
	{"LBADS of format 1", at::lbaf0 + 6, 1},
};

const Field active_fields[] = {{"NSID 0", 0, 4}, {"NSID 1", 4, 4}, {"NSID 2", 8, 4}, {"last NSID", 4092, 4}};

const Field desc_fields[] = {
	{"NIDT 0", 0, 1},  {"NIDL 0", 1, 1}, {"NID 0", 4, 8},   {"NIDT 1", 20, 1},
	{"NIDL 1", 21, 1}, {"NID 1", 24, 8}, {"NIDT 2", 40, 1}, {"NIDL 2", 41, 1},
};

const Field ana_fields[] = {
	{"change count", 0, 8}, {"groups", 8, 2},     {"group ID", 16, 4}, {"NSIDs of the group", 20, 4},
	{"state", 32, 1},       {"NSID 0", 48, 4},    {"NSID 1", 52, 4},   {"2nd group ID", 52, 4},
	{"2nd NSIDs", 56, 4},   {"2nd state", 68, 1},
};

const Field changed_fields[] = {{"NSID 0", 0, 4}, {"NSID 1", 4, 4}};
const Field any_fields[] = {{"byte 0", 0, 1}, {"dword 0", 0, 4}, {"dword 1", 4, 4}, {"dword 2", 8, 4}};

std::span<const Field> identifyFields(std::uint8_t cns)
{
	switch (cns) {
	case cns_ctrl:
		return ctrl_fields;
	case cns_ns:
		return ns_fields;
	case cns_active:
		return active_fields;
	case cns_descs:
		return desc_fields;
	}
	return any_fields;
}

std::span<const Field> logFields(std::uint8_t page)
{
	if (page == log_ana)
		return ana_fields;
	return page == log_changed_ns ? std::span<const Field>(changed_fields) : any_fields;
}

std::span<const Field> fieldsOf(const Command &cmd)
{
	auto which = static_cast<std::uint8_t>(cmd.cdw10 & 0xff);
	if (cmd.opcode == op_identify)
		return identifyFields(which);
	return cmd.opcode == op_get_log ? logFields(which) : any_fields;
}

std::string structureOf(const Command &cmd)
{
	auto which = std::to_string(cmd.cdw10 & 0xff);
	return cmd.opcode == op_identify ? "Identify " + which : "log page " + which;
}

std::string change(const Field &f, Bytes &data, Random &random)
{
	std::uint64_t was = 0;
	for (unsigned i = f.width; i-- > 0;)
		was = was << 8 | data[f.offset + i];
	auto is = random.interesting(f.width * 8, was);
	for (unsigned i = 0; i < f.width; i++)
		data[f.offset + i] = static_cast<std::uint8_t>(is >> i * 8);
	return std::string(f.name) + " " + std::to_string(was) + "->" + std::to_string(is);
}

// Everything from somewhere on
std::string flood(Bytes &data, Random &random)
{
	auto from = random.below(std::min<std::size_t>(data.size(), 256));
	auto kind = random.below(3);
	for (auto i = from; i < data.size(); i++)
		data[i] = static_cast<std::uint8_t>(kind == 0 ? 0 : kind == 1 ? 0xff : random.next());
	static const char *const names[] = {"zeroes", "ones", "noise"};
	return std::string(names[kind]) + " from " + std::to_string(from);
}

std::string spray(Bytes &data, Random &random)
{
	auto count = 1 + random.below(16);
	auto within = std::min<std::size_t>(data.size(), random.oneIn(2) ? 64 : 4096);
	for (std::uint64_t i = 0; i < count; i++)
		data[random.below(within)] = static_cast<std::uint8_t>(random.next());
	return std::to_string(count) + " bytes";
}

} // namespace

std::string mutatePayload(const Command &cmd, Bytes &data, Random &random)
{
	std::string text = structureOf(cmd) + ":";
	if (data.empty())
		return text;
	auto kind = random.below(8);
	if (kind == 0)
		return text + " " + flood(data, random);
	if (kind == 1)
		return text + " " + spray(data, random);
	auto fields = fieldsOf(cmd);
	for (auto n = 1 + random.below(3); n > 0; n--) {
		auto &f = fields[random.below(fields.size())];
		if (f.offset + f.width <= data.size())
			text += " " + change(f, data, random);
	}
	return text;
}

} // namespace target
