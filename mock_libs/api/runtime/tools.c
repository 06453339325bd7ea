/* SPDX-License-Identifier: Apache-2.0 */
/* Interface of the simulated NPU's tools; no part of CANN. */
#include "entry.h"
#include "fault.h"
#include "functions.h"
#include "kept_process.h"
#include "live_objects.h"
#include "mode.h"
#include "python_path.h"
#include "release.h"
#include "source_line.h"
#include "violation.h"

#pragma GCC visibility push(default)
/* This symbol distinguishes the simulated NPU from a real CANN. */
extern const char pyaclnn_mock_marker[];
/* The release of CANN that it is of, in short. */
const char *pyaclnn_mock_release(void);
/* The calling thread calls on behalf of a line of a file, NULL if that is not known, until the second
 * of these gets the first one's answer. */
const char *pyaclnn_mock_call_begins(const char *file, int line);
void pyaclnn_mock_call_ends(const char *before);
/* The next calls of this thread come from a recorder: for a caller in the program, or for itself, which
 * are no calls of the program. */
void pyaclnn_mock_caller_set(const void *caller, bool recorded);
/* Lines of "kind handle function-that-made-it source-line"; gives the length of the whole text. */
size_t pyaclnn_mock_alive(char *text, size_t capacity);
/* Lines of "name count" for every exported function; gives the length of the whole text. */
size_t pyaclnn_mock_call_counts(char *text, size_t capacity);
void pyaclnn_mock_call_counts_reset(void);
/* Set the faults; NULL or empty: none. Gives NULL, or the item that cannot be understood. */
const char *pyaclnn_mock_faults_set(const char *text);
/* Lines of "fault calls effects" for the faults that are set; gives the length of the whole text. */
size_t pyaclnn_mock_faults(char *text, size_t capacity);
/* Change the mode and starts its random order anew. 0: done; -1: there is no such mode. */
int pyaclnn_mock_mode_set(const char *text);
/* Set whether the process of a device that closes is kept for the next one. */
void pyaclnn_mock_process_keep(int keep);
/* Sets the Python that runs the host program, in case no other is known. */
void pyaclnn_mock_python_set(const char *python);
size_t pyaclnn_mock_functions(char *text, size_t capacity);
size_t pyaclnn_mock_violation_count(void);
/* One record as JSON; gives its length, 0 when there is no such record. */
size_t pyaclnn_mock_violation_read(size_t index, char *text, size_t capacity);
void pyaclnn_mock_violation_clear(void);
#pragma GCC visibility pop

const char pyaclnn_mock_marker[] = "pyaclnn simulated NPU";

const char *pyaclnn_mock_release(void)
{
    return mock_release_current()->name;
}

const char *pyaclnn_mock_call_begins(const char *file, int line)
{
    return mock_frame_set_line(mock_source_line(file, line));
}

void pyaclnn_mock_call_ends(const char *before)
{
    mock_frame_set_line(before);
}

void pyaclnn_mock_caller_set(const void *caller, bool recorded)
{
    mock_frame_set_caller(caller, recorded);
}

size_t pyaclnn_mock_alive(char *text, size_t capacity)
{
    mock_enter();
    const size_t length = mock_live_objects_list(text, capacity);
    mock_leave();
    return length;
}

size_t pyaclnn_mock_call_counts(char *text, size_t capacity)
{
    return mock_functions_list(text, capacity);
}

size_t pyaclnn_mock_functions(char *text, size_t capacity)
{
    return mock_functions_states(text, capacity);
}

void pyaclnn_mock_call_counts_reset(void)
{
    mock_functions_reset();
}

const char *pyaclnn_mock_faults_set(const char *text)
{
    return mock_faults_set(text);
}

size_t pyaclnn_mock_faults(char *text, size_t capacity)
{
    return mock_faults_list(text, capacity);
}

int pyaclnn_mock_mode_set(const char *text)
{
    mock_enter();
    const bool good = mock_mode_set(text);
    mock_leave();
    return good ? 0 : -1;
}

void pyaclnn_mock_process_keep(int keep)
{
    mock_enter();
    mock_process_keep(keep != 0);
    mock_leave();
}

void pyaclnn_mock_python_set(const char *python)
{
    mock_enter();
    mock_python_set(python);
    mock_leave();
}

size_t pyaclnn_mock_violation_count(void)
{
    return mock_violation_count();
}

size_t pyaclnn_mock_violation_read(size_t index, char *text, size_t capacity)
{
    return mock_violation_read(index, text, capacity);
}

void pyaclnn_mock_violation_clear(void)
{
    mock_violation_clear();
}
