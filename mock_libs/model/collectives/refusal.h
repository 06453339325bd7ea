/* SPDX-License-Identifier: Apache-2.0 */
/* Failures with the codes of HCCL. */
#ifndef MOCK_REFUSAL_H
#define MOCK_REFUSAL_H

#include "hccl/hccl.h"
#include "message.h"

/* mock_fail with a code of HCCL, which it gives back. */
#define MOCK_REFUSE(code, ...) ((HcclResult)mock_fail((aclError)(code), __VA_ARGS__))
#define MOCK_REFUSE_NULL(what) MOCK_REFUSE(HCCL_E_PTR, "EI0003: %s is NULL", what)

#endif
