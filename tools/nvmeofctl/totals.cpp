// SPDX-License-Identifier: LGPL-2.1-or-later
#include "totals.h"

Totals totalsOf(const std::vector<const nvmeof::Path *> &paths)
{
	Totals totals;
	for (const nvmeof::Path *path : paths) {
		totals.ios += path->ios;
		totals.bytesRead += path->bytesRead;
		totals.bytesWritten += path->bytesWritten;
		totals.errors += path->errors;
		totals.retries += path->retries;
		totals.aborts += path->aborts;
		totals.failovers += path->failoversFrom;
		totals.inflight += path->inflight;
		totals.readLatency = nvmeof::sum(totals.readLatency, path->readLatency);
		totals.writeLatency = nvmeof::sum(totals.writeLatency, path->writeLatency);
	}
	return totals;
}
