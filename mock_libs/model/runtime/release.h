/* SPDX-License-Identifier: Apache-2.0 */
/* Which release of CANN these libraries are of. */
#ifndef MOCK_RELEASE_H
#define MOCK_RELEASE_H

struct mock_release {
    /* 8.1; 8.1.RC1 and its parts */
    const char *name, *version, *major, *minor, *rest;
    int interface[3];
    int headers; /* what ACL_STUBS_CANN is for it */
};

extern const struct mock_release mock_release;

/* What is wrong with PYACLNN_MOCK_CANN, or NULL: it must name this release, if any. */
const char *mock_release_complaint(void);

#endif
