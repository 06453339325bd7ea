# SPDX-License-Identifier: Apache-2.0
# Functions by which samples of CANN build kernels of Ascend C, here for the simulated NPU.
set(_ascendc_compiler [[@PYTHON@]] -m pyaclnn ascendc compile)
if(SOC_VERSION)
  list(APPEND _ascendc_compiler --soc ${SOC_VERSION})
endif()

# The headers and libraries that the host's side of a sample names.
if(NOT TARGET host_intf_pub)
  add_library(host_intf_pub INTERFACE)
  if(SOC_VERSION)
    execute_process(
      COMMAND [[@PYTHON@]] -m pyaclnn.ascendc.target ${SOC_VERSION}
      OUTPUT_VARIABLE _ascendc_macros RESULT_VARIABLE failed)
    if(failed)
      message(FATAL_ERROR "there is no chip ${SOC_VERSION}")
    endif()
    string(REGEX MATCHALL "PYACLNN_[^ \n]+" _ascendc_macros "${_ascendc_macros}")
    target_compile_definitions(host_intf_pub INTERFACE ${_ascendc_macros})
  endif()
  target_include_directories(host_intf_pub INTERFACE [[@HOME@/include]])
  target_link_directories(host_intf_pub INTERFACE [[@HOME@/lib64]])
  target_link_libraries(host_intf_pub INTERFACE ascendcl)
endif()

function(_ascendc_sources variable)
  set(sources)
  foreach(source ${ARGN})
    get_filename_component(source ${source} ABSOLUTE)
    list(APPEND sources ${source})
  endforeach()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# A library of kernels, and the headers aclrtlaunch_NAME.h in its include folders.
function(ascendc_library target type)
  _ascendc_sources(sources ${ARGN})
  set(headers ${CMAKE_BINARY_DIR}/include/${target})
  execute_process(
    COMMAND ${_ascendc_compiler} --headers ${headers} ${sources} RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "the headers of ${target} cannot be written")
  endif()
  set(objects)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${target}.kernels/${name}.o)
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${target}.kernels)
    add_custom_command(
      OUTPUT ${object}
      COMMAND ${_ascendc_compiler} -fPIC -c ${source} -o ${object}
              $<TARGET_GENEX_EVAL:${target},$<TARGET_PROPERTY:${target},ASCENDC_ARGUMENTS>>
      DEPENDS ${source} COMMAND_EXPAND_LISTS VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  if(type STREQUAL "OBJECT")
    set(type STATIC)
  endif()
  add_library(${target} ${type} ${objects})
  set_source_files_properties(${objects} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${target} PUBLIC ${headers})
  target_link_libraries(${target} PUBLIC host_intf_pub)
  install(TARGETS ${target} LIBRARY DESTINATION lib ARCHIVE DESTINATION lib)
endfunction()

# A binary of kernels for aclrtBinaryLoadFromFile: fatbin/TARGET/TARGET.o below the install prefix.
function(ascendc_fatbin_library target)
  _ascendc_sources(sources ${ARGN})
  set(folder ${CMAKE_INSTALL_PREFIX}/fatbin/${target})
  add_custom_target(${target} ALL
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${_ascendc_compiler} --binary ${sources} -o ${folder}/${target}.o
            $<TARGET_GENEX_EVAL:${target},$<TARGET_PROPERTY:${target},ASCENDC_ARGUMENTS>>
    DEPENDS ${sources} COMMAND_EXPAND_LISTS VERBATIM)
endfunction()

function(_ascendc_add target prefix)
  foreach(word ${ARGN})
    if(NOT word MATCHES "^(PRIVATE|PUBLIC|INTERFACE)$")
      string(REGEX REPLACE "^-[DI]" "" bare ${word})
      if(NOT prefix)
        set(bare ${word})
      endif()
      if(bare MATCHES "\\$<") # may be nothing
        set(bare "$<$<BOOL:${bare}>:${prefix}${bare}>")
      else()
        set(bare ${prefix}${bare})
      endif()
      set_property(TARGET ${target} APPEND PROPERTY ASCENDC_ARGUMENTS "${bare}")
    endif()
  endforeach()
endfunction()

function(ascendc_compile_definitions target)
  _ascendc_add(${target} -D ${ARGN})
endfunction()

function(ascendc_compile_options target)
  _ascendc_add(${target} "" ${ARGN})
endfunction()

function(ascendc_include_directories target)
  set(folders)
  foreach(folder ${ARGN})
    if(NOT folder MATCHES "^(PRIVATE|PUBLIC|INTERFACE)$")
      get_filename_component(folder ${folder} ABSOLUTE)
      list(APPEND folders ${folder})
    endif()
  endforeach()
  _ascendc_add(${target} -I ${folders})
endfunction()
