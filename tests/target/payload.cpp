// SPDX-License-Identifier: LGPL-2.1-or-later
#include "payload.h"

#include "identify.h"

#include <algorithm>

namespace target {
namespace {

// A field of a data structure; width in bytes
struct DataField {
	const char *name;
	std::size_t offset;
	unsigned width;

	constexpr DataField(const char *called, std::size_t where, unsigned bytes)
		: name(called), offset(where), width(bytes)
	{
	}
	template <class T>
	constexpr DataField(const char *called, Field<T> field) : DataField(called, field.offset, sizeof(T))
	{
	}
	constexpr DataField(const char *called, TextField field)
		: DataField(called, field.offset, 8) {} // its first 8 bytes
};

const DataField ctrlFields[] = {
	{"VID", at::vid},
	{"SN", at::serial},
	{"MN", at::model},
	{"FR", at::firmware},
	{"CMIC", at::cmic},
	{"MDTS", at::mdts},
	{"CNTLID", at::cntlid},
	{"VER", at::ver},
	{"RTD3E", at::rtd3e},
	{"OAES", at::oaes},
	{"CTRATT", at::ctratt},
	{"CNTRLTYPE", at::cntrltype},
	{"CIU", at::ciu},
	{"CIRN", at::cirn},
	{"ACL", at::acl},
	{"AERL", at::aerl},
	{"LPA", at::lpa},
	{"KAS", at::kas},
	{"ANATT", at::anatt},
	{"ANACAP", at::anacap},
	{"ANAGRPMAX", at::anagrpmax},
	{"NANAGRPID", at::nanagrpid},
	{"CQT", at::cqt},
	{"SQES", at::sqes},
	{"CQES", at::cqes},
	{"MAXCMD", at::maxcmd},
	{"NN", at::nn},
	{"ONCS", at::oncs},
	{"VWC", at::vwc},
	{"SGLS", at::sgls},
	{"MNAN", at::mnan},
	{"SUBNQN", at::subnqn},
	{"IOCCSZ", at::ioccsz},
	{"IORCSZ", at::iorcsz},
	{"ICDOFF", at::icdoff},
	{"FCATT", at::fcatt},
	{"MSDBD", at::msdbd},
	{"CCRL", at::ccrl},
};

const DataField nsFields[] = {
	{"NSZE", at::nsze},
	{"NCAP", at::ncap},
	{"NUSE", at::nuse},
	{"NSFEAT", at::nsfeat},
	{"NLBAF", at::nlbaf},
	{"FLBAS", at::flbas},
	{"MC", at::mc},
	{"DPC", at::dpc},
	{"DPS", at::dps},
	{"NMIC", at::nmic},
	{"DLFEAT", at::dlfeat},
	{"NAWUN", at::nawun},
	{"NAWUPF", at::nawupf},
	{"NPWG", at::npwg},
	{"NPWA", at::npwa},
	{"NPDG", at::npdg},
	{"NPDA", at::npda},
	{"NOWS", at::nows},
	{"MSSRL", at::mssrl},
	{"ANAGRPID", at::anagrpid},
	{"NSATTR", at::nsattr},
	{"NGUID", at::nguid, 8},
	{"EUI64", at::eui64, 8},
	{"MS of format 0", at::lbaf0_ms},
	{"LBADS of format 0", at::lbaf0_ds},
	{"LBADS of format 1", at::lbaf1_ds},
};

const DataField activeFields[] = {{"NSID 0", 0, 4}, {"NSID 1", 4, 4}, {"NSID 2", 8, 4}, {"last NSID", 4092, 4}};

const DataField descFields[] = {
	{"NIDT 0", 0, 1},  {"NIDL 0", 1, 1}, {"NID 0", 4, 8},   {"NIDT 1", 20, 1},
	{"NIDL 1", 21, 1}, {"NID 1", 24, 8}, {"NIDT 2", 40, 1}, {"NIDL 2", 41, 1},
};

const DataField anaFields[] = {
	{"change count", 0, 8}, {"groups", 8, 2},     {"group ID", 16, 4}, {"NSIDs of the group", 20, 4},
	{"state", 32, 1},       {"NSID 0", 48, 4},    {"NSID 1", 52, 4},   {"2nd group ID", 52, 4},
	{"2nd NSIDs", 56, 4},   {"2nd state", 68, 1},
};

const DataField changedFields[] = {{"NSID 0", 0, 4}, {"NSID 1", 4, 4}};
const DataField anyFields[] = {{"byte 0", 0, 1}, {"dword 0", 0, 4}, {"dword 1", 4, 4}, {"dword 2", 8, 4}};

std::span<const DataField> identifyFields(std::uint8_t cns)
{
	switch (cns) {
	case cns_ctrl:
		return ctrlFields;
	case cns_ns:
		return nsFields;
	case cns_active:
		return activeFields;
	case cns_descs:
		return descFields;
	}
	return anyFields;
}

std::span<const DataField> logFields(std::uint8_t page)
{
	if (page == log_ana)
		return anaFields;
	return page == log_changed_ns ? std::span<const DataField>(changedFields) : anyFields;
}

std::span<const DataField> fieldsOf(const Command &cmd)
{
	auto which = static_cast<std::uint8_t>(cmd.cdw10 & 0xff);
	if (cmd.opcode == op_identify)
		return identifyFields(which);
	return cmd.opcode == op_get_log ? logFields(which) : anyFields;
}

std::string structureOf(const Command &cmd)
{
	auto which = std::to_string(cmd.cdw10 & 0xff);
	return cmd.opcode == op_identify ? "Identify " + which : "log page " + which;
}

std::string change(const DataField &f, Bytes &data, Random &random)
{
	std::uint64_t was = 0;
	for (unsigned i = f.width; i-- > 0;)
		was = was << 8 | data[f.offset + i];
	auto is = random.interesting(f.width * 8, was);
	for (unsigned i = 0; i < f.width; i++)
		data[f.offset + i] = static_cast<std::uint8_t>(is >> i * 8);
	return std::string(f.name) + " " + std::to_string(was) + "->" + std::to_string(is);
}

// Overwrites everything from a random offset on.
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
