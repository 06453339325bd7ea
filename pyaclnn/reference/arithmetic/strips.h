// SPDX-License-Identifier: Apache-2.0
// A program of steps on strips, which are short pieces of the rows of matrices, in float32. A strip
// stays in the processor's first cache from the first step to the last, whatever the matrix's type.

// A matrix, a row, or a number for some columns of a row.
struct operand {
    int64_t kind;    // 0: float32, 1: float16, 2: bfloat16, 3: float64, which sums alone are
    int64_t address; // of the first number; those of a row lie side by side
    int64_t stride;  // in numbers, from one row to the next; 0 if all rows are one
    int64_t period;  // the rows after which they begin anew; 0 if they do not
    int64_t repeat;  // the columns that a number is for; float32 only, if there are several
};

// What to do, with a strip, an operand, a register or a sum in each place. Operands are counted
// from the last strip on.
struct step {
    int32_t code, to, left, right, last;
};

// Some rows and columns.
struct piece {
    int64_t first_row, last_row, first_column, last_column;
};

// A program on a matrix that is cut into pieces: bands of all columns, or panels of all rows.
struct job {
    const struct step *steps;
    const struct operand *operands;
    const struct operand *sums; // over rows; a row for each band, or one row for all panels
    const struct piece *pieces;
    double *registers; // of each row, side by side; each panel has them once more
    int64_t step_count, operand_count, sum_count, piece_count, register_count, rows;
    int64_t in_bands;
    int64_t block;   // columns whose sums are in the cache
    double *scratch; // of each piece: for a column and 8 more one and a half numbers, and one more
};

// Runs a program on as many threads at most.
void run_strips(const struct job *job, int threads);
