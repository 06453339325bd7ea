# SPDX-License-Identifier: Apache-2.0
set(CMAKE_ASC_COMPILER [[@HOME@/bin/bisheng]] CACHE FILEPATH "compiler of Ascend C")
set(CMAKE_ASC_COMPILER_ENV_VAR ASC)
configure_file(${CMAKE_CURRENT_LIST_DIR}/CMakeASCCompiler.cmake.in
               ${CMAKE_PLATFORM_INFO_DIR}/CMakeASCCompiler.cmake @ONLY)
