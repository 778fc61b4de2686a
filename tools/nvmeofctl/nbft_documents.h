// SPDX-License-Identifier: LGPL-2.1-or-later
// What the firmware has left, for people, programs and shells.
#pragma once

#include <span>
#include <string>

#include "json.h"
#include "libctl/nbft/nbft.h"

std::string formatNbft(std::span<const nofctl::nbft::BootTable> tables);
// A line for each interface that has a MAC address: "MAC VLAN ADDRESS/PREFIX GATEWAY METRIC dhcp|static", each - where
// there is none
std::string nbftNetwork(std::span<const nofctl::nbft::BootTable> tables);
// Of "nbft"
Json nbftDocument(std::span<const nofctl::nbft::BootTable> tables);
// Of "connect-nbft"; @results: as those of "connect-all"
Json connectNbftDocument(const Json &results, std::span<const nofctl::nbft::Skipped> skipped, const Json &policies);
