/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a device: one shared file, and the addresses reserved for it. */
#pragma once

#include "device.h"

/* Make the file and map it, with less memory than the chip's where there are not so many addresses.
 * What was made before a failure stays in the device. */
aclError mock_device_map_memory(struct device *device);
