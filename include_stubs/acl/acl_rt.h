/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime, area by area. Provided by libascendcl.so (newer releases: libacl_rt.so).
 */
#pragma once

#include "acl/acl_base.h"
#include "acl/rt/callback.h"
#include "acl/rt/capture.h"
#include "acl/rt/context.h"
#include "acl/rt/device.h"
#include "acl/rt/device_atomic.h"
#include "acl/rt/device_fault.h"
#include "acl/rt/device_info.h"
#include "acl/rt/dimensions.h"
#include "acl/rt/event.h"
#include "acl/rt/kernel.h"
#include "acl/rt/memory.h"
#include "acl/rt/memory_copy.h"
#include "acl/rt/memory_host.h"
#include "acl/rt/memory_managed.h"
#include "acl/rt/memory_pool.h"
#include "acl/rt/memory_share.h"
#include "acl/rt/memory_task.h"
#include "acl/rt/memory_virtual.h"
#include "acl/rt/notify.h"
#include "acl/rt/process.h"
#include "acl/rt/random.h"
#include "acl/rt/stream.h"
#include "acl/rt/stream_control.h"

/* Start and end of the process moved here from acl/acl.h, and dumps from acl/acl_mdl.h, which still
 * bring them as well. */
#if ACL_STUBS_CANN >= 901
#include "acl/rt/dump.h"
#include "acl/rt/init.h"
#endif
