// SPDX-License-Identifier: LGPL-2.1-or-later
// JSON documents of "volume".
#pragma once

#include "json.h"
#include "libctl/volume/volume.h"

Json attachedDocument(const nofctl::volume::Attached &volume);
Json detachedDocument(const nofctl::volume::Entry &entry, const nofctl::volume::Detached &done);
Json volumesDocument(const std::vector<nofctl::volume::Listed> &volumes);
