/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Ascend C kernel interface, emulated on the host: with checks.
 * Kernels of CANN's documents name some things without their namespace, so it is opened here.
 */
#pragma once

#include "ascendc/arithmetic.h"
#include "ascendc/block.h"
#include "ascendc/classes.h"
#include "ascendc/comparison.h"
#include "ascendc/conversion.h"
#include "ascendc/copy.h"
#include "ascendc/feature_map.h"
#include "ascendc/masks.h"
#include "ascendc/matrix.h"
#include "ascendc/padding.h"
#include "ascendc/pipe.h"
#include "ascendc/quantization.h"
#include "ascendc/reduction.h"
#include "ascendc/rows.h"
#include "ascendc/simt.h"
#include "ascendc/sorting.h"
#include "ascendc/tiling_data.h"
#include "ascendc/welford.h"
#include "lib/normalization/layernorm.h"
#include "lib/normalization/layernormgrad.h"
#include "lib/normalization/layernormgradbeta.h"

using namespace AscendC;
