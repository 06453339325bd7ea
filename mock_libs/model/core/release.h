/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated release of CANN: that of the libraries that the program loaded. */
#pragma once

struct mock_release {
    /* 8.1; 8.1.RC1 and its parts */
    char name[8], version[24], major[8], minor[8], rest[8];
    int interface[3];
    int headers; /* what ACL_STUBS_CANN is for it */
};

#pragma GCC visibility push(default) /* used by the libraries of a release */

/* A library of a release has been loaded, or goes. */
void mock_release_add(const struct mock_release *release);
void mock_release_drop(const struct mock_release *release);
/* The release of the first library that is loaded. */
const struct mock_release *mock_release_current(void);

#pragma GCC visibility pop

/* Why no device opens, or NULL: all libraries must be of one release, and PYACLNN_MOCK_CANN must name
 * this one, if any. */
const char *mock_release_config_error(void);
