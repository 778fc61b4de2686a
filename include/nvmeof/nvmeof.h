// SPDX-License-Identifier: LGPL-2.1-or-later
// Includes the whole library API.
#pragma once

#include <nvmeof/address.h>
#include <nvmeof/build.h>
#include <nvmeof/client.h>
#include <nvmeof/config.h>
#include <nvmeof/connect.h>
#include <nvmeof/connect_settings.h>
#include <nvmeof/difference.h>
#include <nvmeof/discovery.h>
#include <nvmeof/discovery_plan.h>
#include <nvmeof/duration.h>
#include <nvmeof/error.h>
#include <nvmeof/event.h>
#include <nvmeof/event_stream.h>
#include <nvmeof/exclusion.h>
#include <nvmeof/foreign.h>
#include <nvmeof/histogram.h>
#include <nvmeof/identity.h>
#include <nvmeof/name.h>
#include <nvmeof/pending.h>
#include <nvmeof/policy_file.h>
#include <nvmeof/rates.h>
#include <nvmeof/rendezvous.h>
#include <nvmeof/result.h>
#include <nvmeof/security.h>
#include <nvmeof/settings.h>
#include <nvmeof/snapshot.h>
#include <nvmeof/suggest.h>
#include <nvmeof/topology.h>
