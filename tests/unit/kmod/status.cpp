// SPDX-License-Identifier: LGPL-2.1-or-later
#include <catch2/catch.hpp>

#include <cerrno>
#include <set>
#include <string>

extern "C" {
#include <linux/nvme.h>

#include "wire/status.h"
}

namespace {

constexpr uint16_t dnr = NVME_STATUS_DNR;

} // namespace

TEST_CASE("status: success does not depend on the retry hints")
{
	for (uint16_t hints : {0, int(NVME_STATUS_CRD), int(NVME_STATUS_MORE), int(dnr)}) {
		CHECK(nof_status_disposition(hints, true) == NOF_DONE);
		CHECK(nof_status_disposition(hints, false) == NOF_DONE);
		CHECK(nof_status_errno(hints) == 0);
	}
	CHECK(std::string(nof_status_name(0)) == "Successful Completion");
}

TEST_CASE("status: Do Not Retry and exhausted retries fail every command")
{
	for (unsigned int status = 1; status < 0x800; ++status) {
		CAPTURE(status);
		CHECK(nof_status_disposition(status | dnr, true) == NOF_FAIL);
		CHECK(nof_status_disposition(status, false) == NOF_FAIL);
	}
}

TEST_CASE("status: path errors are retried on another path")
{
	for (int status :
	     {NVME_SC_INTERNAL_PATH_ERROR, NVME_SC_ANA_PERSISTENT_LOSS, NVME_SC_ANA_INACCESSIBLE,
	      NVME_SC_ANA_TRANSITION, NVME_SC_CTRL_PATH_ERROR, NVME_SC_HOST_PATH_ERROR, NVME_SC_HOST_ABORTED_CMD}) {
		CAPTURE(status);
		CHECK(nof_status_disposition(status, true) == NOF_RETRY_PATH);
		CHECK(nof_status_disposition(status | NVME_STATUS_CRD | NVME_STATUS_MORE, true) == NOF_RETRY_PATH);
		CHECK(nof_status_errno(status) == -ENOLINK);
	}
	// all values of the type, later specifications included
	for (int code = 0; code < 0x100; ++code)
		CHECK(nof_status_disposition(NVME_SCT_PATH | code, true) == NOF_RETRY_PATH);
}

TEST_CASE("status: a received Host Aborted Command becomes Host Path Error")
{
	for (int hints : {0, int(NVME_STATUS_CRD), int(NVME_STATUS_MORE), int(dnr)}) {
		CHECK(nof_status_received(NVME_SC_HOST_ABORTED_CMD | hints) == (NVME_SC_HOST_PATH_ERROR | hints));
		for (int status : {0, int(NVME_SC_INTERNAL), int(NVME_SC_HOST_PATH_ERROR)})
			CHECK(nof_status_received(status | hints) == (status | hints));
	}
}

TEST_CASE("status: transient errors are retried")
{
	for (int status : {NVME_SC_NS_NOT_READY, NVME_SC_CMD_INTERRUPTED, NVME_SC_TRANSIENT_TR_ERR, NVME_SC_INTERNAL,
			   NVME_SC_DATA_XFER_ERROR, NVME_SC_ABORT_REQ, NVME_SC_READ_ERROR, NVME_SC_WRITE_FAULT}) {
		CAPTURE(status);
		CHECK(nof_status_disposition(status, true) == NOF_RETRY);
	}
}

TEST_CASE("status: permanent errors are not retried")
{
	for (int status : {NVME_SC_INVALID_OPCODE, NVME_SC_INVALID_FIELD, NVME_SC_LBA_RANGE, NVME_SC_CAP_EXCEEDED,
			   NVME_SC_RESERVATION_CONFLICT, NVME_SC_NS_WRITE_PROTECTED, NVME_SC_READ_ONLY,
			   NVME_SC_COMPARE_FAILED, NVME_SC_UNWRITTEN_BLOCK}) {
		CAPTURE(status);
		CHECK(nof_status_disposition(status, true) == NOF_FAIL);
	}
}

TEST_CASE("status: errors that file systems distinguish have their own errno")
{
	CHECK(nof_status_errno(NVME_SC_CAP_EXCEEDED | dnr) == -ENOSPC);
	CHECK(nof_status_errno(NVME_SC_RESERVATION_CONFLICT | dnr) == -EBADE);
	CHECK(nof_status_errno(NVME_SC_READ_ERROR | dnr) == -ENODATA);
	CHECK(nof_status_errno(NVME_SC_GUARD_CHECK | dnr) == -EILSEQ);
	CHECK(nof_status_errno(NVME_SC_INVALID_OPCODE | dnr) == -EOPNOTSUPP);
	CHECK(nof_status_errno(NVME_SC_INTERNAL | dnr) == -EIO);
}

TEST_CASE("status: an error is never success, every value has a name, and errno is a known one")
{
	// The errno values that the block layer maps to a status
	const std::set<int> known = {EOPNOTSUPP, ENOSPC, ENOLINK, EREMOTEIO,    EBADE,
				     ENODATA,    EILSEQ, EIO,     ETOOMANYREFS, EOVERFLOW};

	for (unsigned int status = 1; status < 0x10000; ++status) {
		if (!(status & NVME_SCT_SC_MASK))
			continue;
		CAPTURE(status);
		REQUIRE(known.contains(-nof_status_errno(status)));
		REQUIRE(nof_status_disposition(status, true) != NOF_DONE);
		REQUIRE(nof_status_name(status) != nullptr);
		REQUIRE(*nof_status_name(status));
	}
	CHECK(std::string(nof_status_name(NVME_SC_ANA_INACCESSIBLE | dnr)) == "Asymmetric Access Inaccessible");
	CHECK(std::string(nof_status_name(0x7c1)) == "vendor specific error");
	CHECK(std::string(nof_status_name(0x3fe)) == "path related error");
}
