// SPDX-License-Identifier: Apache-2.0
// Special functions that NumPy lacks, of each number of an array.
#define _DEFAULT_SOURCE  // lgamma_r: lgamma writes the sign where all threads see it
#include <math.h>
#include <stddef.h>

#include "special.h"

void map_special(enum special_function function, const double *x, double *out, size_t count)
{
    int sign;
    switch (function) {
    case ERF:
        for (size_t i = 0; i < count; i++)
            out[i] = erf(x[i]);
        break;
    case ERFC:
        for (size_t i = 0; i < count; i++)
            out[i] = erfc(x[i]);
        break;
    case LGAMMA:
        for (size_t i = 0; i < count; i++)
            out[i] = lgamma_r(x[i], &sign);
        break;
    }
}
