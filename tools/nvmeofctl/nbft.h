// SPDX-License-Identifier: LGPL-2.1-or-later
// NBFT tables of a command line: reading and output.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "json.h"
#include "libctl/nbft/nbft.h"

class Context;

struct NbftTables {
	std::vector<nofctl::nbft::BootTable> tables; // that could be read
	int code = 0;                                // exit code of the first error; errors have been reported
};

// Reads the files named on the command line, or those of the firmware.
NbftTables readNbft(Context &context);

std::string formatNbft(std::span<const nofctl::nbft::BootTable> tables);
// One line per interface with a MAC address: "MAC VLAN ADDRESS/PREFIX GATEWAY METRIC dhcp|static"; a missing value is
// "-"
std::string nbftNetwork(std::span<const nofctl::nbft::BootTable> tables);
// Of "nbft"
Json nbftDocument(std::span<const nofctl::nbft::BootTable> tables);
// Of "connect-nbft"; @results has the form of "connect-all"
Json connectNbftDocument(const Json &results, std::span<const nofctl::nbft::Skipped> skipped, const Json &policies);
