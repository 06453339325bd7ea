/* SPDX-License-Identifier: Apache-2.0 */
/* Device process that outlives its device: the next one starts with it, in a few milliseconds. */
#pragma once

#include "device.h"

#pragma GCC visibility push(default) /* used by the libraries of a release */

/* Set whether a device process is kept when its device closes; without, the kept one ends. */
void mock_process_keep(bool keep);

#pragma GCC visibility pop

/* Detach the process of a device that closes, if it is to be kept: it has given back everything of
 * the device. false: it is to be ended. */
bool mock_process_detach(struct device *device);
/* Attach the kept process to a device that opens. false: there is none, or it has another
 * environment. */
bool mock_process_attach(struct device *device);
/* Forget the kept process: it is the parent's. */
void mock_process_kept_forked(void);
