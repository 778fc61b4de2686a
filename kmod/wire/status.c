// SPDX-License-Identifier: GPL-2.0-only
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/nvme.h>
#include "wire/status.h"

/*
 * NVMe Base 2.0, figures 94 to 99, and the NVM command set. "how" applies to a status without Do Not Retry: NOF_FAIL if
 * a retry must fail again. The errno values are those that the block layer maps to its own status values.
 */
static const struct entry {
	u16	status;
	u8	how;		/* enum nof_disposition */
	u8	error;		/* positive errno */
	const char *name;
} entries[] = {
	{ NVME_SC_SUCCESS,		NOF_DONE,	0,		"Successful Completion" },
	{ NVME_SC_INVALID_OPCODE,	NOF_FAIL,	EOPNOTSUPP,	"Invalid Command Opcode" },
	{ NVME_SC_INVALID_FIELD,	NOF_FAIL,	EOPNOTSUPP,	"Invalid Field in Command" },
	{ NVME_SC_CMDID_CONFLICT,	NOF_RETRY,	EIO,		"Command ID Conflict" },
	{ NVME_SC_DATA_XFER_ERROR,	NOF_RETRY,	EIO,		"Data Transfer Error" },
	{ NVME_SC_POWER_LOSS,		NOF_RETRY,	EIO,		"Aborted due to Power Loss" },
	{ NVME_SC_INTERNAL,		NOF_RETRY,	EIO,		"Internal Error" },
	{ NVME_SC_ABORT_REQ,		NOF_RETRY,	EIO,		"Command Abort Requested" },
	{ NVME_SC_ABORT_QUEUE,		NOF_RETRY,	EIO,		"Aborted due to SQ Deletion" },
	{ NVME_SC_INVALID_NS,		NOF_RETRY_PATH,	EOPNOTSUPP,	"Invalid Namespace or Format" },
	{ NVME_SC_CMD_SEQ_ERROR,	NOF_FAIL,	EIO,		"Command Sequence Error" },
	{ NVME_SC_SGL_INVALID_LAST,	NOF_FAIL,	EIO,		"Invalid SGL Segment Descriptor" },
	{ NVME_SC_SGL_INVALID_COUNT,	NOF_FAIL,	EIO,		"Invalid Number of SGL Descriptors" },
	{ NVME_SC_SGL_INVALID_DATA,	NOF_FAIL,	EIO,		"Data SGL Length Invalid" },
	{ NVME_SC_SGL_INVALID_TYPE,	NOF_FAIL,	EIO,		"SGL Descriptor Type Invalid" },
	{ NVME_SC_ATOMIC_WU_EXCEEDED,	NOF_FAIL,	EIO,		"Atomic Write Unit Exceeded" },
	{ NVME_SC_OP_DENIED,		NOF_FAIL,	EIO,		"Operation Denied" },
	{ NVME_SC_SGL_INVALID_OFFSET,	NOF_FAIL,	EIO,		"SGL Offset Invalid" },
	{ NVME_SC_HOST_ID_INCONSIST,	NOF_FAIL,	EIO,		"Host Identifier Inconsistent Format" },
	{ NVME_SC_KA_TIMEOUT_EXPIRED,	NOF_RETRY_PATH,	ENOLINK,	"Keep Alive Timer Expired" },
	{ NVME_SC_KA_TIMEOUT_INVALID,	NOF_FAIL,	EIO,		"Keep Alive Timeout Invalid" },
	{ NVME_SC_ABORTED_PREEMPT_ABORT, NOF_FAIL,	EBADE,		"Aborted due to Preempt and Abort" },
	{ NVME_SC_SANITIZE_FAILED,	NOF_FAIL,	EIO,		"Sanitize Failed" },
	{ NVME_SC_SANITIZE_IN_PROGRESS,	NOF_FAIL,	EIO,		"Sanitize In Progress" },
	{ NVME_SC_NS_WRITE_PROTECTED,	NOF_FAIL,	ENODATA,	"Namespace is Write Protected" },
	{ NVME_SC_CMD_INTERRUPTED,	NOF_RETRY,	EREMOTEIO,	"Command Interrupted" },
	{ NVME_SC_TRANSIENT_TR_ERR,	NOF_RETRY,	ENOLINK,	"Transient Transport Error" },
	{ NVME_SC_LBA_RANGE,		NOF_FAIL,	EREMOTEIO,	"LBA Out of Range" },
	{ NVME_SC_CAP_EXCEEDED,		NOF_FAIL,	ENOSPC,		"Capacity Exceeded" },
	{ NVME_SC_NS_NOT_READY,		NOF_RETRY,	EREMOTEIO,	"Namespace Not Ready" },
	{ NVME_SC_RESERVATION_CONFLICT,	NOF_FAIL,	EBADE,		"Reservation Conflict" },
	{ NVME_SC_FORMAT_IN_PROGRESS,	NOF_FAIL,	EIO,		"Format In Progress" },

	{ NVME_SC_QID_INVALID,		NOF_FAIL,	EIO,		"Invalid Queue Identifier" },
	{ NVME_SC_QUEUE_SIZE,		NOF_FAIL,	EIO,		"Invalid Queue Size" },
	{ NVME_SC_ABORT_LIMIT,		NOF_FAIL,	EIO,		"Abort Command Limit Exceeded" },
	{ NVME_SC_ASYNC_LIMIT,		NOF_FAIL,	EIO,		"Asynchronous Event Request Limit Exceeded" },
	{ NVME_SC_INVALID_LOG_PAGE,	NOF_FAIL,	EIO,		"Invalid Log Page" },
	{ NVME_SC_INVALID_FORMAT,	NOF_FAIL,	EIO,		"Invalid Format" },
	{ NVME_SC_FEATURE_NOT_CHANGEABLE, NOF_FAIL,	EIO,		"Feature Not Changeable" },
	{ NVME_SC_FEATURE_NOT_PER_NS,	NOF_FAIL,	EIO,		"Feature Not Namespace Specific" },
	{ NVME_SC_NS_NOT_ATTACHED,	NOF_RETRY_PATH,	EIO,		"Namespace Not Attached" },
	{ NVME_SC_BAD_ATTRIBUTES,	NOF_FAIL,	EOPNOTSUPP,	"Conflicting Attributes" },
	{ NVME_SC_INVALID_PI,		NOF_FAIL,	EILSEQ,		"Invalid Protection Information" },
	{ NVME_SC_READ_ONLY,		NOF_FAIL,	ENODATA,	"Attempted Write to Read Only Range" },
	{ NVME_SC_CMD_SIZE_LIM_EXCEEDED, NOF_FAIL,	EOPNOTSUPP,	"Command Size Limit Exceeded" },
	{ NVME_SC_AUTH_REQUIRED,	NOF_FAIL,	EIO,		"Authentication Required" },
	{ NVME_SC_ZONE_BOUNDARY_ERROR,	NOF_FAIL,	EIO,		"Zoned Boundary Error" },
	{ NVME_SC_ZONE_FULL,		NOF_FAIL,	EIO,		"Zone Is Full" },
	{ NVME_SC_ZONE_READ_ONLY,	NOF_FAIL,	EIO,		"Zone Is Read Only" },
	{ NVME_SC_ZONE_OFFLINE,		NOF_FAIL,	EIO,		"Zone Is Offline" },
	{ NVME_SC_ZONE_INVALID_WRITE,	NOF_FAIL,	EIO,		"Zone Invalid Write" },
	{ NVME_SC_ZONE_TOO_MANY_ACTIVE,	NOF_FAIL,	EOVERFLOW,	"Too Many Active Zones" },
	{ NVME_SC_ZONE_TOO_MANY_OPEN,	NOF_FAIL,	ETOOMANYREFS,	"Too Many Open Zones" },
	{ NVME_SC_ZONE_INVALID_TRANSITION, NOF_FAIL,	EIO,		"Invalid Zone State Transition" },

	{ NVME_SC_WRITE_FAULT,		NOF_RETRY,	ENODATA,	"Write Fault" },
	{ NVME_SC_READ_ERROR,		NOF_RETRY,	ENODATA,	"Unrecovered Read Error" },
	{ NVME_SC_GUARD_CHECK,		NOF_RETRY,	EILSEQ,		"End-to-end Guard Check Error" },
	{ NVME_SC_APPTAG_CHECK,		NOF_RETRY,	EILSEQ,		"End-to-end Application Tag Check Error" },
	{ NVME_SC_REFTAG_CHECK,		NOF_RETRY,	EILSEQ,		"End-to-end Reference Tag Check Error" },
	{ NVME_SC_COMPARE_FAILED,	NOF_FAIL,	ENODATA,	"Compare Failure" },
	{ NVME_SC_ACCESS_DENIED,	NOF_FAIL,	ENODATA,	"Access Denied" },
	{ NVME_SC_UNWRITTEN_BLOCK,	NOF_FAIL,	ENODATA,	"Deallocated or Unwritten Logical Block" },

	{ NVME_SC_INTERNAL_PATH_ERROR,	NOF_RETRY_PATH,	ENOLINK,	"Internal Path Error" },
	{ NVME_SC_ANA_PERSISTENT_LOSS,	NOF_RETRY_PATH,	ENOLINK,	"Asymmetric Access Persistent Loss" },
	{ NVME_SC_ANA_INACCESSIBLE,	NOF_RETRY_PATH,	ENOLINK,	"Asymmetric Access Inaccessible" },
	{ NVME_SC_ANA_TRANSITION,	NOF_RETRY_PATH,	ENOLINK,	"Asymmetric Access Transition" },
	{ NVME_SC_CTRL_PATH_ERROR,	NOF_RETRY_PATH,	ENOLINK,	"Controller Pathing Error" },
	{ NVME_SC_HOST_PATH_ERROR,	NOF_RETRY_PATH,	ENOLINK,	"Host Pathing Error" },
	{ NVME_SC_HOST_ABORTED_CMD,	NOF_RETRY_PATH,	ENOLINK,	"Command Aborted By Host" },
};

/* For a status without an entry above: by status code type */
static const struct entry kinds[] = {
	[0] = { 0, NOF_RETRY,	   EIO,		"generic error" },
	[1] = { 0, NOF_RETRY,	   EIO,		"command specific error" },
	[2] = { 0, NOF_RETRY,	   ENODATA,	"media or data integrity error" },
	[3] = { 0, NOF_RETRY_PATH, ENOLINK,	"path related error" },
	[4] = { 0, NOF_RETRY,	   EIO,		"reserved status type" },
	[5] = { 0, NOF_RETRY,	   EIO,		"reserved status type" },
	[6] = { 0, NOF_RETRY,	   EIO,		"reserved status type" },
	[7] = { 0, NOF_RETRY,	   EIO,		"vendor specific error" },
};

static const struct entry *status_find(u16 status)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(entries); i++) {
		if (entries[i].status == (status & NVME_SCT_SC_MASK))
			return &entries[i];
	}
	return &kinds[(status & NVME_SCT_MASK) >> 8];
}

enum nof_disposition nof_status_disposition(u16 status, bool retriable)
{
	if (likely(!(status & NVME_SCT_SC_MASK)))
		return NOF_DONE;
	if (!retriable || (status & NVME_STATUS_DNR))
		return NOF_FAIL;
	return status_find(status)->how;
}

int nof_status_errno(u16 status)
{
	return -status_find(status)->error;
}

const char *nof_status_name(u16 status)
{
	return status_find(status)->name;
}
