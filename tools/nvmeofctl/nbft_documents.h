// SPDX-License-Identifier: LGPL-2.1-or-later
// NBFT tables as text, as JSON, and as lines for shell scripts.
#pragma once

#include <span>
#include <string>

#include "json.h"
#include "libctl/nbft/nbft.h"

std::string formatNbft(std::span<const nofctl::nbft::BootTable> tables);
// One line per interface with a MAC address: "MAC VLAN ADDRESS/PREFIX GATEWAY METRIC dhcp|static"; a missing value is
// "-"
std::string nbftNetwork(std::span<const nofctl::nbft::BootTable> tables);
// Of "nbft"
Json nbftDocument(std::span<const nofctl::nbft::BootTable> tables);
// Of "connect-nbft"; @results has the form of "connect-all"
Json connectNbftDocument(const Json &results, std::span<const nofctl::nbft::Skipped> skipped, const Json &policies);
