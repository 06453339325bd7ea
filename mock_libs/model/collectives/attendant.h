/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that runs what ranks of other processes wait for, while nobody here does. */
#ifndef MOCK_ATTENDANT_H
#define MOCK_ATTENDANT_H

/* Starts the thread, unless there is one. */
void mock_attendant_start(void);
/* Ends it, if there is one; called without the lock. */
void mock_attendant_stop(void);
/* A child has no such thread. */
void mock_attendant_forked(void);

#endif
