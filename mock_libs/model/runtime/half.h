/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of 16 bits, as their bits. */
#ifndef MOCK_HALF_H
#define MOCK_HALF_H

#include <stdint.h>

float mock_half_to_float(uint16_t value);
/* Rounds to the nearest, ties to even. */
uint16_t mock_half_from_float(float value);
/* The same of bfloat16. */
float mock_brain_to_float(uint16_t value);
uint16_t mock_brain_from_float(float value);

#endif
