// SPDX-License-Identifier: LGPL-2.1-or-later
// The terminal in full-screen mode, which is restored by the destructor.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <nvmeof/result.h>

#include "top_view.h"

class Terminal {
public:
	// Fails if stdin or stdout is not a terminal, or if TERM is not known.
	static nvmeof::Result<Terminal> open();

	Terminal(Terminal &&) noexcept;
	Terminal &operator=(Terminal &&) noexcept;
	~Terminal();

	TopSize size() const;
	void draw(const std::vector<TopLine> &lines);
	// TopKey::none if no known key is pending. Does not wait.
	TopKey key();
	// Adopts the current size of the terminal; called after SIGWINCH.
	void resize();
	// The next draw() repaints the whole screen.
	void redraw();

private:
	struct Impl;
	explicit Terminal(std::unique_ptr<Impl> impl);
	std::unique_ptr<Impl> impl_;
};
