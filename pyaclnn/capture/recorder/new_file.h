/* SPDX-License-Identifier: Apache-2.0 */
/* New files of a trace. */
#pragma once

int capture_create_file(const char *path); /* that must not be there yet */
/* Begin a file anew, behind the old one, which gets ".old"; its path is never free for another process. */
int capture_replace_file(int file, const char *path);
/* Say on stderr that a trace ends here. A handler of a signal has little stack: the text is in no array of
 * it. */
void capture_report_incomplete(const char *path, int error);
