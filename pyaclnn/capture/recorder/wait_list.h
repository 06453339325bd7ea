/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for copies that are on their way, in all threads.
 *
 * CANN reports the failure of a stream to one wait. If that is the recorder's, the program's next wait
 * gets it as well; if it is the program's, a wait of the recorder for the same stream, in another thread,
 * may return as if nothing had happened. So each knows of the others that are on their way. */
#pragma once

#include "pending.h"

struct capture_wait {
    struct capture_wait *next;
    struct capture_reach reach; /* whose copies it has taken off the list */
    struct capture_reach of;    /* what it is waiting for now */
    bool by_program;
    bool endless;      /* as long as the program's own: nobody else waits for its end */
    bool gives_way;    /* to other threads: it is made again later */
    bool has_returned; /* the program's, as if nothing had failed */
    bool failed;       /* the program was told of a failure of that */
};

enum capture_outcome { CAPTURE_UNKNOWN, CAPTURE_DONE, CAPTURE_FAILED };

/* Begin a wait of the recorder, and return its copies, which it takes off the list; a wait that has some
 * of them, in another thread, ends before. */
struct capture_pending *capture_begin_wait(struct capture_wait *own, const struct capture_reach *reach);
/* The same for copies up to a number, by a wait that gives way; false: it has not begun. */
bool capture_begin_if_free(struct capture_wait *own, const struct capture_reach *reach, uint64_t until_copy,
                           struct capture_pending **taken);
void capture_end_wait(const struct capture_wait *own);
/* It waits for a stream from now on. */
void capture_wait_for(struct capture_wait *own, const struct capture_reach *stream);
bool capture_is_in_the_way(const struct capture_wait *own); /* and is to end */
/* Return the outcome for a stream that has ended, of a wait that was told of no failure; is_last: the stream
 * is waited for no more. */
enum capture_outcome capture_outcome(const struct capture_wait *own, bool is_last);
bool capture_has_copies(void); /* that have not arrived */
/* A graph is about to be captured, whose end alone permits waits: await those of other threads, and let
 * none begin. */
void capture_bar_waits(void);
void capture_permit_waits(void); /* the graph has begun, or was refused */

void capture_begin_program_wait(struct capture_wait *own, const struct capture_reach *of);
/* It has returned as if nothing had failed: let a wait of the recorder for the same return as well, which
 * may have been told of a failure, unless it is for work that came later. */
void capture_return_from_wait(struct capture_wait *own);
/* Its work has ended: take its copies up to a number; the wait is now one of the recorder. */
struct capture_pending *capture_take_waited(struct capture_wait *own, uint64_t until_copy, bool failed);
