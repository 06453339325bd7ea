/* SPDX-License-Identifier: Apache-2.0 */
/* A function that is in no table: with LIBRARY its library, else a program that calls it. Its arguments
   fill the registers for numbers and some for floating point, and lie on the stack. */
#include <stdio.h>
#include "acl/acl.h"
double aclOfNoTable(int a, double b, long c, float d, long e, long f, long g, long h, long i, double j, long k);
#ifdef LIBRARY
double aclOfNoTable(int a, double b, long c, float d, long e, long f, long g, long h, long i, double j, long k)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i + 10 * j + 11 * k;
}
#else
int main(void)
{
    aclInit(NULL);
    for (int n = 0; n < 3; n++) printf("%g\n", aclOfNoTable(n, 2.5, 3, 4.5F, 5, 6, 7, 8, 9, 10.25, 11));
    aclFinalize();
    return 0;
}
#endif
