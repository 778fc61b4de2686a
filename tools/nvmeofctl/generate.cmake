# SPDX-License-Identifier: LGPL-2.1-or-later
# cmake -DPROGRAM= -DWHAT= -DFILE= -P: a failing program leaves no file.
execute_process(COMMAND ${PROGRAM} generate ${WHAT} OUTPUT_VARIABLE text RESULT_VARIABLE code)
if(NOT code EQUAL 0)
	message(FATAL_ERROR "${PROGRAM} generate ${WHAT} failed: ${code}")
endif()
file(WRITE ${FILE} "${text}")
