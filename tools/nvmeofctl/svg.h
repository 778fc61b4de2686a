// SPDX-License-Identifier: LGPL-2.1-or-later
// A drawing, as SVG 1.1.
#pragma once

#include <string>
#include <string_view>

class Svg {
public:
	void box(int x, int y, int width, int height, std::string_view fill, std::string_view stroke = "#555");
	void line(int x1, int y1, int x2, int y2, std::string_view stroke, int width = 1);
	// @anchor: "start", "middle" or "end"
	void text(int x, int y, std::string_view text, std::string_view anchor = "start", int size = 12);
	// The complete file. Its size fits the drawing.
	std::string file() const;

private:
	void reach(int x, int y);

	std::string body_;
	int width_ = 0, height_ = 0;
};
