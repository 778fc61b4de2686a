# SPDX-License-Identifier: LGPL-2.1-or-later
# The fuzzers by the code that they are about; tests/fuzz links them accordingly, tests/CMakeLists.txt has a ctest entry
# for each.
set(fuzzers_kernel ana_log arithmetic ccr_log dhchap identify_ctrl identify_descs identify_indep identify_ns pdu
	reservation_report zone_report)
set(fuzzers_ctl address attributes command_line config discovery_log event identity import key nbft object policy reply
	settings word)
set(fuzzers_wire registration wire_pdu)
set(fuzzers_gpu cufile pci_config recording)
set(fuzzers_daemon last_known)
set(fuzzers_initiator initiator)
set(fuzzers_tlsd tls_handshake)
set(fuzzers_cdc cdc_authentication cdc_connection cdc_control cdc_etcd cdc_record cdc_registration)
