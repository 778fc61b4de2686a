// SPDX-License-Identifier: LGPL-2.1-or-later
// The terminal, taken over as long as this lives and then given back as it was.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nvmeof/result.h>

#include "top_view.h"

class Terminal {
public:
	// Fails when input or output is none, or of a kind that is not known.
	static nvmeof::Result<Terminal> open();

	Terminal(Terminal &&) noexcept;
	Terminal &operator=(Terminal &&) noexcept;
	~Terminal();

	TopSize size() const;
	void draw(const std::vector<TopLine> &lines);
	// none: no key is waiting.
	TopKey key();
	// After SIGWINCH: takes on the size that the terminal has now.
	void resize();
	// Paints everything anew.
	void redraw();

private:
	struct Impl;
	explicit Terminal(std::unique_ptr<Impl> impl);
	std::unique_ptr<Impl> impl_;
};
