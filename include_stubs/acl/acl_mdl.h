/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models, with what older releases declare here: dumps, and the capture of streams. Provided by
 * libascendcl.so. Models are declared by a table.
 */
#pragma once

#include "acl/acl_base.h"
#include "acl/rt/capture.h"
#include "acl/rt/dump.h"
