// SPDX-License-Identifier: Apache-2.0
// A program of steps on strips, which are short pieces of the rows of matrices, in float32. A strip
// stays in the processor's first cache from the first step to the last, whatever the matrix's type.

// A matrix, a row, or a number for some columns of a row.
struct operand {
    int64_t kind;    // 0: float32, 1: float16, 2: bfloat16
    int64_t address; // of the first number; those of a row lie side by side
    int64_t stride;  // in numbers, from one row to the next; 0 if all rows are one
    int64_t period;  // the rows after which they begin anew; 0 if they do not
    int64_t repeat;  // the columns that a number is for; float32 only, if there are several
};

// What to do, with a number of a strip, an operand, a register or a sum in each place.
struct step {
    int32_t code, to, left, right;
};

struct program {
    const struct step *steps;
    size_t count;
    const struct operand *operands;
    size_t registers; // of a row
};

// Some rows and columns, and where their registers and sums are.
struct piece {
    int64_t first_row, last_row, first_column, last_column;
    double *registers; // of the first row of the matrix; those of a row lie side by side
    double *sums;      // over these rows, for these columns; added to
};

void run_strips(const struct program *program, const struct piece *piece);
