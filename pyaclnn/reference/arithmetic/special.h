// SPDX-License-Identifier: Apache-2.0
// Special functions that NumPy lacks, of each number of an array.

enum special_function { ERF, ERFC, LGAMMA };

void map_special(enum special_function function, const double *x, double *out, size_t count);
