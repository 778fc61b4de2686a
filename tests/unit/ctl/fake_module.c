// SPDX-License-Identifier: LGPL-2.1-or-later
/* An object file with what a kernel module says of its build; build.cpp reads it. */
#define MODINFO(name, text) static const char name[] __attribute__((section(".modinfo"), used)) = text

MODINFO(version, "version=7.8.9");
MODINFO(source, "nvmeof_source=fedcba9876543210");

static const struct {
	unsigned int namesz, descsz, type;
	char name[4];
	unsigned char desc[4];
} build_id __attribute__((section(".note.gnu.build-id"), used)) = {4, 4, 3, "GNU", {0x1f, 0x2e, 0x3d, 0x4c}};
