# SPDX-License-Identifier: LGPL-2.1-or-later
# The kernel modules' pure logic, compiled for userspace through shim/, and its tests.

# linux/nvme.h is no part of the userspace headers: taken from the newest kernel headers package there is.
if(NOT NVMEOF_KERNEL_INCLUDE)
	file(GLOB kernel_nvme_headers
		/usr/src/linux-headers-*/include/linux/nvme.h
		/lib/modules/*/source/include/linux/nvme.h
		/lib/modules/*/build/include/linux/nvme.h)
	list(SORT kernel_nvme_headers COMPARE NATURAL ORDER DESCENDING)
	foreach(header IN LISTS kernel_nvme_headers)
		file(STRINGS ${header} has_masks REGEX "NVME_SCT_MASK")
		if(has_masks)
			cmake_path(GET header PARENT_PATH dir)
			cmake_path(GET dir PARENT_PATH NVMEOF_KERNEL_INCLUDE)
			break()
		endif()
	endforeach()
endif()
if(NOT NVMEOF_KERNEL_INCLUDE)
	message(FATAL_ERROR "no kernel headers with a linux/nvme.h of 6.12 or newer: install linux-headers-*, or set "
		"NVMEOF_KERNEL_INCLUDE to their include folder")
endif()

set(kmod ${PROJECT_SOURCE_DIR}/kmod)
add_library(nof_pure STATIC
	${kmod}/wire/ana_log.c ${kmod}/wire/ccr_log.c ${kmod}/wire/dhchap.c ${kmod}/wire/effects.c
	${kmod}/wire/identify.c ${kmod}/wire/reservation.c ${kmod}/wire/status.c ${kmod}/wire/tls_psk.c
	${kmod}/wire/zone.c
	${kmod}/core/backoff.c ${kmod}/core/probation.c ${kmod}/core/state.c ${kmod}/mpath/repeatable.c
	${kmod}/tcp/pdu.c)
set_target_properties(nof_pure PROPERTIES C_STANDARD 11)
target_compile_options(nof_pure PRIVATE -Wall $<$<BOOL:${NVMEOF_WERROR}>:-Werror>)
target_include_directories(nof_pure PUBLIC
	${CMAKE_CURRENT_LIST_DIR}/shim ${kmod} ${PROJECT_SOURCE_DIR}/include/uapi)
target_compile_definitions(nof_pure PUBLIC
	NOF_KERNEL_NVME_H="${NVMEOF_KERNEL_INCLUDE}/linux/nvme.h"
	NOF_KERNEL_NVME_TCP_H="${NVMEOF_KERNEL_INCLUDE}/linux/nvme-tcp.h")

file(GLOB kmod_tests CONFIGURE_DEPENDS kmod/*.cpp)
add_executable(unit_kernel ${kmod_tests})
# The controller's side of authentication is the library's.
target_link_libraries(unit_kernel PRIVATE nof_pure nvmeof_auth nvmeof_test_flags nvmeof_catch)
target_compile_options(unit_kernel PRIVATE -Wall)
# The kernel's header names its anonymous structures freely.
set_target_properties(unit_kernel PROPERTIES CXX_EXTENSIONS ON)
