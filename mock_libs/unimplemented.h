/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of everything the simulated NPU does not have: a code that CANN does not use. */
#ifndef MOCK_UNIMPLEMENTED_H
#define MOCK_UNIMPLEMENTED_H

#define MOCK_NOT_IMPLEMENTED 999001

/* Records a text for aclGetRecentErrMsg and returns MOCK_NOT_IMPLEMENTED. */
__attribute__((visibility("default"))) int mock_unimplemented(const char *function);

#endif
