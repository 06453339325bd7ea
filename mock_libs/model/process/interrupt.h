/* SPDX-License-Identifier: Apache-2.0 */
/* Python signal handlers during a wait: the main thread of a Python host runs them, and one that
 * raises ends the wait. */
#pragma once

#include <stdbool.h>

/* Return whether this is the main thread, and it has run no handler for a tenth of a second. */
bool mock_interrupt_due(void);
/* Run the handlers of signals that have arrived; the lock must not be held. true: one has raised,
 * and the call in progress must return. The exception is raised again when it has. */
bool mock_interrupted(void);
