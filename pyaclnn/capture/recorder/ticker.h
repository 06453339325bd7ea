/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that writes what waits to be written. */
#pragma once

/* Start it unless it runs; it ends with the recording. */
void capture_keep_ticking(void);
