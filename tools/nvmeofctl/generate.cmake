# SPDX-License-Identifier: LGPL-2.1-or-later
# cmake -DPROGRAM= -DWHAT= -DFILE= -P: writes the output of "generate WHAT". A failing program leaves no file.
# With WHAT=man, FILE is the overview; the pages of the commands are written beside it, and nothing else is there.
function(generate file)
	execute_process(COMMAND ${PROGRAM} generate ${ARGN} OUTPUT_VARIABLE text RESULT_VARIABLE code)
	if(NOT code EQUAL 0)
		message(FATAL_ERROR "${PROGRAM} generate ${ARGN} failed: ${code}")
	endif()
	file(WRITE ${file} "${text}")
endfunction()

if(WHAT STREQUAL man)
	get_filename_component(folder ${FILE} DIRECTORY)
	file(REMOVE_RECURSE ${folder}) # pages of commands that do not exist any more
	execute_process(COMMAND ${PROGRAM} generate commands OUTPUT_VARIABLE names RESULT_VARIABLE code)
	if(NOT code EQUAL 0)
		message(FATAL_ERROR "${PROGRAM} generate commands failed: ${code}")
	endif()
	string(REGEX MATCHALL "[^\n]+" names "${names}")
	foreach(name IN LISTS names)
		generate(${folder}/nvmeofctl-${name}.8 man ${name})
	endforeach()
endif()
generate(${FILE} ${WHAT})
