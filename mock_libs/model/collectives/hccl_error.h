/* SPDX-License-Identifier: Apache-2.0 */
/* Failures with the codes of HCCL. */
#pragma once

#include "error_message.h"
#include "hccl/hccl.h"

/* mock_fail with a code of HCCL, which it gives back. */
#define MOCK_HCCL_FAIL(code, ...) ((HcclResult)mock_fail((aclError)(code), __VA_ARGS__))
#define MOCK_HCCL_FAIL_NULL(what) MOCK_HCCL_FAIL(HCCL_E_PTR, "EI0003: %s is NULL", what)
