/* SPDX-License-Identifier: Apache-2.0 */
/* Registration of a release and its functions, in each release's libascendcl. */
#include "registry.h"

#include "functions.h"
#include "release.h"

static const struct mock_release release = {
#include RELEASE
};

__attribute__((constructor)) static void add(void)
{
    mock_release_add(&release);
}

__attribute__((destructor)) static void drop(void)
{
    mock_release_drop(&release);
}

void mock_functions_register(struct mock_function *functions, size_t count,
                             void (*const work[])(void))
{
    for (size_t i = 0; work != NULL && i < count; i++) {
        functions[i].work = work[functions[i].number];
    }
    mock_functions_add(functions, count);
}

void mock_functions_unregister(const struct mock_function *functions)
{
    mock_functions_drop(functions);
}
