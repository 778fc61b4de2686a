/* SPDX-License-Identifier: LGPL-2.1-or-later */
struct nvme_command;

#ifdef STUB_CONST
bool nvme_is_write(const struct nvme_command *cmd);
bool nvme_is_fabrics(const struct nvme_command *cmd);
#endif

#ifdef STUB_PLAIN
bool nvme_is_write(struct nvme_command *cmd);
bool nvme_is_fabrics(struct nvme_command *cmd);
#endif
