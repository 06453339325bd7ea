/* SPDX-License-Identifier: Apache-2.0 */
/* The header of host programs that run kernels on the CPU. */
#pragma once

#include "ascendc/cpu_run.h"
