/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that this process shares with its device processes: there they leave what copies to the host
 * are to have, until the host copies it on. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Take a place of so many bytes; NULL: there is none. */
uint8_t *mock_room_take(uint64_t bytes);
/* Give a place back, or NULL. */
void mock_room_release(const uint8_t *place);
/* The descriptor of the memory in this process, and the offset of a place in it. */
uint64_t mock_room_descriptor(void);
uint64_t mock_room_offset(const uint8_t *place);
