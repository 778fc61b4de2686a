// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares offsets and structures with those of libnvme's headers, an independent implementation of the specification.
// The compiler makes the comparison.
#include <catch2/catch.hpp>

#include <nvme/types.h>

#include "libctl/wire/discovery_log.h"
#include "libctl/wire/identify.h"
#include "libctl/wire/log_page.h"
#include "libctl/wire/registration.h"

using namespace nofctl::wire;

// Identify Controller
static_assert(at::vid == offsetof(nvme_id_ctrl, vid));
static_assert(at::serial == offsetof(nvme_id_ctrl, sn));
static_assert(at::model == offsetof(nvme_id_ctrl, mn));
static_assert(at::firmware == offsetof(nvme_id_ctrl, fr));
static_assert(at::cmic == offsetof(nvme_id_ctrl, cmic));
static_assert(at::mdts == offsetof(nvme_id_ctrl, mdts));
static_assert(at::cntlid == offsetof(nvme_id_ctrl, cntlid));
static_assert(at::ver == offsetof(nvme_id_ctrl, ver));
static_assert(at::rtd3e == offsetof(nvme_id_ctrl, rtd3e));
static_assert(at::oaes == offsetof(nvme_id_ctrl, oaes));
static_assert(at::ctratt == offsetof(nvme_id_ctrl, ctratt));
static_assert(at::cntrltype == offsetof(nvme_id_ctrl, cntrltype));
static_assert(at::dctype == offsetof(nvme_id_ctrl, dctype));
static_assert(at::crdt1 == offsetof(nvme_id_ctrl, crdt1));
static_assert(at::acl == offsetof(nvme_id_ctrl, acl));
static_assert(at::aerl == offsetof(nvme_id_ctrl, aerl));
static_assert(at::lpa == offsetof(nvme_id_ctrl, lpa));
static_assert(at::elpe == offsetof(nvme_id_ctrl, elpe));
static_assert(at::mtfa == offsetof(nvme_id_ctrl, mtfa));
static_assert(at::kas == offsetof(nvme_id_ctrl, kas));
static_assert(at::anatt == offsetof(nvme_id_ctrl, anatt));
static_assert(at::anacap == offsetof(nvme_id_ctrl, anacap));
static_assert(at::anagrpmax == offsetof(nvme_id_ctrl, anagrpmax));
static_assert(at::nanagrpid == offsetof(nvme_id_ctrl, nanagrpid));
static_assert(at::sqes == offsetof(nvme_id_ctrl, sqes));
static_assert(at::cqes == offsetof(nvme_id_ctrl, cqes));
static_assert(at::maxcmd == offsetof(nvme_id_ctrl, maxcmd));
static_assert(at::nn == offsetof(nvme_id_ctrl, nn));
static_assert(at::oncs == offsetof(nvme_id_ctrl, oncs));
static_assert(at::awupf == offsetof(nvme_id_ctrl, awupf));
static_assert(at::vwc == offsetof(nvme_id_ctrl, vwc));
static_assert(at::sgls == offsetof(nvme_id_ctrl, sgls));
static_assert(at::mnan == offsetof(nvme_id_ctrl, mnan));
static_assert(at::subnqn == offsetof(nvme_id_ctrl, subnqn));
static_assert(at::ioccsz == offsetof(nvme_id_ctrl, ioccsz));
static_assert(at::iorcsz == offsetof(nvme_id_ctrl, iorcsz));
static_assert(at::icdoff == offsetof(nvme_id_ctrl, icdoff));
static_assert(at::fcatt == offsetof(nvme_id_ctrl, fcatt));
static_assert(at::msdbd == offsetof(nvme_id_ctrl, msdbd));

// Identify Namespace
static_assert(at::nsze == offsetof(nvme_id_ns, nsze));
static_assert(at::ncap == offsetof(nvme_id_ns, ncap));
static_assert(at::nuse == offsetof(nvme_id_ns, nuse));
static_assert(at::nsfeat == offsetof(nvme_id_ns, nsfeat));
static_assert(at::nlbaf == offsetof(nvme_id_ns, nlbaf));
static_assert(at::flbas == offsetof(nvme_id_ns, flbas));
static_assert(at::mc == offsetof(nvme_id_ns, mc));
static_assert(at::dpc == offsetof(nvme_id_ns, dpc));
static_assert(at::dps == offsetof(nvme_id_ns, dps));
static_assert(at::nmic == offsetof(nvme_id_ns, nmic));
static_assert(at::rescap == offsetof(nvme_id_ns, rescap));
static_assert(at::dlfeat == offsetof(nvme_id_ns, dlfeat));
static_assert(at::nawun == offsetof(nvme_id_ns, nawun));
static_assert(at::nawupf == offsetof(nvme_id_ns, nawupf));
static_assert(at::nabspf == offsetof(nvme_id_ns, nabspf));
static_assert(at::npwg == offsetof(nvme_id_ns, npwg));
static_assert(at::npwa == offsetof(nvme_id_ns, npwa));
static_assert(at::npdg == offsetof(nvme_id_ns, npdg));
static_assert(at::npda == offsetof(nvme_id_ns, npda));
static_assert(at::nows == offsetof(nvme_id_ns, nows));
static_assert(at::mssrl == offsetof(nvme_id_ns, mssrl));
static_assert(at::anagrpid == offsetof(nvme_id_ns, anagrpid));
static_assert(at::nsattr == offsetof(nvme_id_ns, nsattr));
static_assert(at::nguid == offsetof(nvme_id_ns, nguid));
static_assert(at::eui64 == offsetof(nvme_id_ns, eui64));
static_assert(at::lbaf0 == offsetof(nvme_id_ns, lbaf));
static_assert(at::nabo == offsetof(nvme_id_ns, nabo));

// I/O Command Set Independent Identify Namespace
static_assert(at::indep_nmic == offsetof(nvme_id_independent_id_ns, nmic));
static_assert(at::indep_rescap == offsetof(nvme_id_independent_id_ns, rescap));
static_assert(at::indep_fpi == offsetof(nvme_id_independent_id_ns, fpi));
static_assert(at::indep_anagrpid == offsetof(nvme_id_independent_id_ns, anagrpid));
static_assert(at::indep_nsattr == offsetof(nvme_id_independent_id_ns, nsattr));
static_assert(at::indep_nstat == offsetof(nvme_id_independent_id_ns, nstat));

// Identify Namespace of the NVM Command Set
static_assert(at::elbaf0 == offsetof(nvme_nvm_id_ns, elbaf));

static_assert(at::serial.room == sizeof(nvme_id_ctrl::sn) && at::model.room == sizeof(nvme_id_ctrl::mn));
static_assert(at::firmware.room == sizeof(nvme_id_ctrl::fr) && at::subnqn.room == sizeof(nvme_id_ctrl::subnqn));
static_assert(at::lbaf0_ms - at::lbaf0 == offsetof(nvme_lbaf, ms) &&
	      at::lbaf0_ds - at::lbaf0 == offsetof(nvme_lbaf, ds));
static_assert(at::lbaf1_ds - at::lbaf0_ds == sizeof(nvme_lbaf));

// Error Information
static_assert(offsetof(ErrorEntry, sqid) == offsetof(nvme_error_log_page, sqid));
static_assert(offsetof(ErrorEntry, cmdid) == offsetof(nvme_error_log_page, cmdid));
static_assert(offsetof(ErrorEntry, statusField) == offsetof(nvme_error_log_page, status_field));
static_assert(offsetof(ErrorEntry, parmLocation) == offsetof(nvme_error_log_page, parm_error_location));
static_assert(offsetof(ErrorEntry, nsid) == offsetof(nvme_error_log_page, nsid));
static_assert(offsetof(ErrorEntry, trtype) == offsetof(nvme_error_log_page, trtype));
static_assert(offsetof(ErrorEntry, trtypeSpecific) == offsetof(nvme_error_log_page, trtype_spec_info));

// Discovery Information Management
static_assert(sizeof(DimHeader) == sizeof(nvmf_dim_data));
static_assert(offsetof(DimHeader, nument) == offsetof(nvmf_dim_data, nument));
static_assert(offsetof(DimHeader, entfmt) == offsetof(nvmf_dim_data, entfmt));
static_assert(offsetof(DimHeader, etype) == offsetof(nvmf_dim_data, etype));
static_assert(offsetof(DimHeader, ektype) == offsetof(nvmf_dim_data, ektype));
static_assert(offsetof(DimHeader, eid) == offsetof(nvmf_dim_data, eid));
static_assert(offsetof(DimHeader, ename) == offsetof(nvmf_dim_data, ename));
static_assert(offsetof(DimHeader, ever) == offsetof(nvmf_dim_data, ever));
static_assert(offsetof(ExtendedEntry, tel) == offsetof(nvmf_ext_die, tel));
static_assert(offsetof(ExtendedEntry, numexat) == offsetof(nvmf_ext_die, numexat));

TEST_CASE("the values of commands, pages and types equal libnvme's", "[wire]")
{
	CHECK(int(op_identify) == nvme_admin_identify);
	CHECK(int(op_get_log) == nvme_admin_get_log_page);
	CHECK(int(op_dim) == nvme_admin_discovery_info_mgmt);
	CHECK(int(cns_ctrl) == NVME_IDENTIFY_CNS_CTRL);
	CHECK(int(log_discovery) == NVME_LOG_LID_DISCOVER);
	CHECK(int(feat_host_behavior) == NVME_FEAT_FID_HOST_BEHAVIOR);
	CHECK(int(ctrl_discovery) == NVME_CTRL_CNTRLTYPE_DISCOVERY);
	CHECK(int(lpa_extended) == NVME_CTRL_LPA_EXTENDED);
	CHECK(int(dc_centralized) == NVME_CTRL_DCTYPE_CDC);
	CHECK(int(nidt_eui64) == NVME_NIDT_EUI64);
	CHECK(int(nidt_nguid) == NVME_NIDT_NGUID);
	CHECK(int(nidt_uuid) == NVME_NIDT_UUID);
	CHECK(int(nidt_csi) == NVME_NIDT_CSI);
	CHECK(int(dim_register) == NVMF_DIM_TAS_REGISTER);
	CHECK(int(dim_deregister) == NVMF_DIM_TAS_DEREGISTER);
	CHECK(int(dim_update) == NVMF_DIM_TAS_UPDATE);
}
