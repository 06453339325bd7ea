# SPDX-License-Identifier: Apache-2.0
# tikicpulib::CHIP for each chip: kernels as functions of a program, which ICPU_RUN_KF runs.
execute_process(
  COMMAND [[@PYTHON@]] -m pyaclnn.ascendc.target
  OUTPUT_VARIABLE _tikicpulib_chips OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR "the chips cannot be listed")
endif()
string(REPLACE "\n" ";" _tikicpulib_chips "${_tikicpulib_chips}")
foreach(_tikicpulib_chip IN LISTS _tikicpulib_chips)
  string(REPLACE " " ";" _tikicpulib_macros "${_tikicpulib_chip}")
  list(POP_FRONT _tikicpulib_macros _tikicpulib_chip)
  add_library(tikicpulib::${_tikicpulib_chip} INTERFACE IMPORTED)
  set_target_properties(tikicpulib::${_tikicpulib_chip} PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES [[@HOME@/include]]
    INTERFACE_COMPILE_DEFINITIONS "ASCENDC_CPU_DEBUG=1;ASCENDC_DEBUG=1;${_tikicpulib_macros}"
    INTERFACE_COMPILE_OPTIONS "-pthread;-Wno-unknown-pragmas;-Wno-attributes"
    INTERFACE_COMPILE_FEATURES cxx_std_17
    INTERFACE_LINK_DIRECTORIES [[@HOME@/lib64]]
    INTERFACE_LINK_OPTIONS -pthread)
endforeach()
