// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes settings as the words that the parser reads.
#pragma once

#include <string>
#include <vector>

#include <nvmeof/settings.h>

inline std::string milliseconds(std::chrono::milliseconds time)
{
	return time.count() < 0 ? "-1" : std::to_string(time.count()) + "ms";
}

inline std::vector<std::string> wordsOf(const nvmeof::ControllerSettings &s)
{
	std::vector<std::string> words;
	if (s.reconnectDelay)
		words.push_back("reconnect-delay=" + milliseconds(*s.reconnectDelay));
	if (s.ctrlLoss)
		words.push_back("ctrl-loss-tmo=" + milliseconds(*s.ctrlLoss));
	if (s.fastIoFail)
		words.push_back("fast-io-fail-tmo=" + milliseconds(*s.fastIoFail));
	if (s.stallTimeout)
		words.push_back("stall-tmo=" + milliseconds(*s.stallTimeout));
	if (s.dhchapKey)
		words.push_back("dhchap-key=" + *s.dhchapKey);
	if (s.dhchapCtrlKey)
		words.push_back("dhchap-ctrl-key=" + *s.dhchapCtrlKey);
	if (s.tlsKey)
		words.push_back("tls-key=" + *s.tlsKey);
	return words;
}
