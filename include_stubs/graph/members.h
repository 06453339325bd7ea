/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constructors and members of C++ classes that programs link to describe operators of graphs:
 * ge::OperatorCreatorRegister, ge::Operator, ge::AscendString; and those that packages of custom
 * operators link for the tiling of their kernels, which no simulated device calls: ops::OpDef,
 * optiling::TilingDef, fe::PlatFormInfos, and functions of libc_sec and libmmpa. C++ ones are
 * declared by their mangled names: the object is an argument, and what returns it is of type
 * void *. Provided by libgraph.so.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "acl/acl_stubs.h"

ACL_STUBS_C_BEGIN

/* Called for each operator when a library that describes some is loaded. */
ACL_FUNC_VISIBILITY void
_ZN2ge23OperatorCreatorRegisterC1EPKcRKSt8functionIFNS_8OperatorERKNS_12AscendStringEEE(
    void *self, const char *type, const void *creator);

ACL_STUBS_C_END
