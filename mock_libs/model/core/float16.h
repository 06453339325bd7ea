/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of 16 bits, as their bits. */
#pragma once

#include <stdint.h>

float mock_float16_to_float(uint16_t value);
/* Round to the nearest, ties to even. */
uint16_t mock_float16_from_float(float value);
/* The same of bfloat16. */
float mock_bfloat16_to_float(uint16_t value);
uint16_t mock_bfloat16_from_float(float value);
