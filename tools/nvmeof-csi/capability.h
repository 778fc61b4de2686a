// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks of volume capabilities
#pragma once

#include <string>
#include <vector>

#include <csi.pb.h>

#include "status.h"
#include "volume_spec.h"

namespace csi {

inline std::string fileSystemOf(const v1::VolumeCapability &capability)
{
	if (!capability.has_mount())
		return {};
	return capability.mount().fs_type().empty() ? defaultFileSystem : capability.mount().fs_type();
}

inline std::vector<std::string> optionsOf(const v1::VolumeCapability &capability)
{
	return {capability.mount().mount_flags().begin(), capability.mount().mount_flags().end()};
}

inline bool readsOnly(const v1::VolumeCapability &capability)
{
	using Mode = v1::VolumeCapability::AccessMode;
	return capability.access_mode().mode() == Mode::SINGLE_NODE_READER_ONLY ||
	       capability.access_mode().mode() == Mode::MULTI_NODE_READER_ONLY;
}

inline bool isExclusive(int mode)
{
	using Mode = v1::VolumeCapability::AccessMode;
	return mode == Mode::SINGLE_NODE_WRITER || mode == Mode::SINGLE_NODE_SINGLE_WRITER ||
	       mode == Mode::SINGLE_NODE_MULTI_WRITER;
}

// Only one node at a time may have the volume, and it may write.
inline bool isExclusive(const v1::VolumeCapability &capability)
{
	return isExclusive(static_cast<int>(capability.access_mode().mode()));
}

// For the same claim, the kubelet sends SINGLE_NODE_WRITER or SINGLE_NODE_MULTI_WRITER, depending on the plugin's
// capabilities.
inline bool sameAccess(int one, int other)
{
	return one == other || (isExclusive(one) && isExclusive(other));
}

inline bool isForOneNode(const v1::VolumeCapability &capability)
{
	using Mode = v1::VolumeCapability::AccessMode;
	return isExclusive(capability) || capability.access_mode().mode() == Mode::SINGLE_NODE_READER_ONLY;
}

// ext4 and xfs are corrupted if two nodes write.
inline grpc::Status checkCapability(const v1::VolumeCapability &capability)
{
	using Mode = v1::VolumeCapability::AccessMode;
	if (!capability.has_mount() && !capability.has_block())
		return missing("volume_capability: the access type");
	if (capability.access_mode().mode() == Mode::UNKNOWN)
		return missing("volume_capability: the access mode");
	if (!capability.has_mount())
		return grpc::Status::OK;
	if (!capability.mount().volume_mount_group().empty())
		return invalidArgument(
			"volume_mount_group: ext4 and xfs have no mount option for it; the orchestrator changes "
			"the owners of the files (fsGroupPolicy: File)");
	if (capability.access_mode().mode() == Mode::MULTI_NODE_MULTI_WRITER ||
	    capability.access_mode().mode() == Mode::MULTI_NODE_SINGLE_WRITER)
		return invalidArgument(
			"a file system allows one node that writes, or several nodes that only read; a block "
			"volume allows several that write");
	nvmeof::Result<MountOptions> options = mountOptions(fileSystemOf(capability), optionsOf(capability));
	return options ? grpc::Status::OK : invalidArgument(options.error().message);
}

} // namespace csi
