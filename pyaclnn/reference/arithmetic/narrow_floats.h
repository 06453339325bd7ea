// SPDX-License-Identifier: Apache-2.0
// Blocks of float16 or, if `bfloat` is not 0, bfloat16 to float32 and back. Numbers in a row lie side
// by side. Rows of wide numbers do too; those of narrow ones begin `stride` numbers apart.

void widen(int bfloat, const uint16_t *narrow, ptrdiff_t stride, float *wide, size_t rows,
           size_t columns);
void narrow(int bfloat, const float *wide, uint16_t *narrow, ptrdiff_t stride, size_t rows,
            size_t columns);

// Not 0: do without what only some processors have.
extern int portable;
