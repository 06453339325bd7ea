/* SPDX-License-Identifier: Apache-2.0 */
/* Places in the program, as text. */
#pragma once

#include "frame.h"

enum { MOCK_PLACE_BYTES = 1024 };

/* The function, its caller and the line of Python of an action, as far as they are known, written
 * into `place` of MOCK_PLACE_BYTES; NULL: nothing is known. */
const char *mock_place_of(const struct mock_origin *origin, char *place);
