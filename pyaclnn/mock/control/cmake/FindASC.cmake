# SPDX-License-Identifier: Apache-2.0
# find_package(ASC): the language ASC, for project(... LANGUAGES ASC), and ascendc_library.
list(PREPEND CMAKE_MODULE_PATH [[@HOME@/tikcpp/ascendc_kernel_cmake]])
include([[@HOME@/tikcpp/ascendc_kernel_cmake/ascendc.cmake]])
link_directories([[@HOME@/lib64]])
set(ASC_FOUND TRUE)
