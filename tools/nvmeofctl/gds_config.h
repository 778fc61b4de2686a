// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "libctl/gpu/tree.h"

class Context;

int configureGds(Context &context, const nofctl::gpu::Tree &tree);
// Reads every file that configureGds() depends on, so that a RecordingTree records it.
void readCufileSources(const nofctl::gpu::Tree &tree);
