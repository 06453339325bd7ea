/* SPDX-License-Identifier: Apache-2.0 */
/* Names that the recorder exports: to the libraries in front of CANN, and to Python. */
#pragma once

#define CAPTURE_EXPORT __attribute__((visibility("default")))
