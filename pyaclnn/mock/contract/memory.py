# SPDX-License-Identifier: Apache-2.0
"""Rules about device and host memory."""

from __future__ import annotations

from .rule import Rule

__all__ = ["MEMORY"]

_TO_DEVICE = "aclrtMemcpyAsync(device, BYTES, host, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, stream);\n"
_LAUNCH = "phase_1();\naclnnRmsNorm(workspace, size, executor, stream);\nexecutor = NULL;"
_VIEW = (
    "aclDestroyTensor(x);\nconst int64_t dims[] = {ROWS, 8}, strides[] = {%s, 1};\n"
    "x = aclCreateTensor(dims, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, dims, 2, x_at);\n"
)

MEMORY = (
    Rule(
        id="memory-freed-twice",
        title="memory is freed a second time",
        explanation="The block was given back before. CANN answers 107000, unless the address "
        "belongs to somebody else by then: in that case theirs is freed.",
        fix="free every block once, and set the pointer to NULL then",
        source="CANN: driver, svm heap (107000)",
        wrong="aclrtFree(device);\naclrtFree(device);\ndevice = NULL;",
        right="aclrtFree(device);\ndevice = NULL;",
    ),
    Rule(
        id="memory-not-allocated",
        title="an address that is not the start of a block is freed",
        explanation="aclrtFree takes what aclrtMalloc gave, aclrtFreeHost what aclrtMallocHost "
        "gave: not a host pointer, not a pointer into the middle of a block (107000).",
        fix="free the address the allocating function gave, by its counterpart",
        source="CANN: driver, svm heap (107000)",
        wrong="aclrtFree((char *)device + 32);",
        right="aclrtFree(device);\ndevice = NULL;",
    ),
    Rule(
        id="memory-freed-in-use",
        title="device memory is freed while queued work needs it",
        explanation="aclrtFree acts at once and waits for no stream. What is queued then reads or "
        "writes memory that belongs to nobody, or to somebody else.",
        fix="synchronize the stream before aclrtFree",
        source="CANN: runtime, aclrtFree does not synchronize",
        wrong="aclrtMemsetAsync(device, BYTES, 0, BYTES, stream);\naclrtFree(device);\n"
        "device = NULL;",
        right="aclrtMemsetAsync(device, BYTES, 0, BYTES, stream);\n"
        "aclrtSynchronizeStream(stream);\naclrtFree(device);\ndevice = NULL;",
    ),
    Rule(
        id="memory-used-before-synchronize",
        title="the host touches memory that queued work still writes",
        explanation="aclrtMemcpy does not wait for streams. A copy from what a queued kernel or "
        "copy is going to write, or onto what it is going to read, gets or leaves half of it.",
        fix="synchronize the stream first, or copy by aclrtMemcpyAsync on the same stream",
        source="CANN: runtime, aclrtMemcpy is synchronous to the host only",
        wrong="aclrtMemsetAsync(device, BYTES, 0, BYTES, stream);\n"
        "aclrtMemcpy(host, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST);",
        right="aclrtMemsetAsync(device, BYTES, 0, BYTES, stream);\n"
        "aclrtSynchronizeStream(stream);\n"
        "aclrtMemcpy(host, BYTES, device, BYTES, ACL_MEMCPY_DEVICE_TO_HOST);",
    ),
    Rule(
        id="streams-not-ordered",
        title="two streams use the same memory, and nothing orders them",
        explanation="Streams run side by side. What one writes, another may read or write only "
        "after an event, or after the host has waited; otherwise the result depends on luck.",
        fix="record an event on the first stream and let the second wait for it",
        source="CANN: runtime, streams are ordered by events only",
        wrong="aclrtMemsetAsync(device, BYTES, 0, BYTES, stream);\n"
        "aclrtMemsetAsync(device, BYTES, 1, BYTES, other);",
        right="aclrtMemsetAsync(device, BYTES, 0, BYTES, stream);\n"
        "aclrtRecordEvent(event, stream);\naclrtStreamWaitEvent(other, event);\n"
        "aclrtMemsetAsync(device, BYTES, 1, BYTES, other);",
    ),
    Rule(
        id="host-changed-in-flight",
        title="host memory is changed while a queued copy needs it",
        explanation="An asynchronous copy of pinned memory reads or writes it when the stream "
        "comes there. What the host writes before that races with the copy.",
        fix="synchronize the stream, or an event behind the copy, before writing to the memory",
        source="CANN: runtime, aclrtMemcpyAsync",
        wrong=_TO_DEVICE + "memset(host, 1, BYTES);\naclrtSynchronizeStream(stream);",
        right=_TO_DEVICE + "aclrtSynchronizeStream(stream);\nmemset(host, 1, BYTES);",
    ),
    Rule(
        id="host-freed-in-flight",
        title="host memory is freed while a queued copy needs it",
        explanation="aclrtFreeHost acts at once; the copy then reads or writes memory that is "
        "gone (507013 on the stream, or silently wrong bytes).",
        fix="synchronize the stream before aclrtFreeHost",
        source="CANN: runtime, aclrtMemcpyAsync",
        wrong=_TO_DEVICE + "aclrtFreeHost(host);\nhost = NULL;",
        right=_TO_DEVICE + "aclrtSynchronizeStream(stream);\naclrtFreeHost(host);\nhost = NULL;",
    ),
    Rule(
        id="view-out-of-bounds",
        title="a tensor's view reaches beyond its memory",
        explanation="Shape, strides and offset together describe elements outside of the block "
        "from aclrtMalloc. Nothing checks that when the tensor is made; the kernel reads or "
        "writes somebody else's memory, or fails with 507015.",
        fix="make the block as large as offset + sum((dim - 1) * stride) + 1 elements",
        source="CANN: aclCreateTensor; 507015 on the stream",
        wrong=_VIEW % "800" + _LAUNCH,
        right=_VIEW % "8" + _LAUNCH,
    ),
    Rule(
        id="copy-out-of-bounds",
        title="a copy or fill reaches beyond its memory",
        explanation="More bytes are copied or filled than the block from aclrtMalloc, or "
        "aclrtMallocHost, has. What "
        "lies behind it is somebody else's, or nobody's (107000).",
        fix="copy no more than was allocated; the second argument is the room, not the count",
        source="CANN: aclrtMemcpy, aclrtMemset, destMax and maxCount",
        wrong="aclrtMemset(device, 2 * BYTES, 0, 2 * BYTES);",
        right="aclrtMemset(device, BYTES, 0, BYTES);",
    ),
    Rule(
        id="host-memory-invalid",
        title="a copy's host address is no memory of the process",
        explanation="The address was never allocated, is not mapped any more, or may not be "
        "written. On a real NPU the program crashes, or the driver refuses the copy.",
        fix="pass the address of a host block that is as large as the copy",
        source="CANN: aclrtMemcpy, dst and src",
        wrong="aclrtMemcpy(device, BYTES, (void *)64, 16, ACL_MEMCPY_HOST_TO_DEVICE);",
        right="char numbers[16] = {0};\n"
        "aclrtMemcpy(device, BYTES, numbers, 16, ACL_MEMCPY_HOST_TO_DEVICE);",
    ),
    Rule(
        id="device-address-on-host",
        title="a device address is given where the host reads or writes",
        explanation="The function itself follows this pointer, on the host, which cannot reach "
        "device memory: on a real NPU the program crashes. Refused: 100000.",
        fix="pass the address of host memory; copy what lies on the device with aclrtMemcpy first",
        source="CANN: a device address is no address of the host process",
        wrong="aclrtGetDeviceCount((uint32_t *)device);",
        right="uint32_t count;\naclrtGetDeviceCount(&count);",
    ),
    Rule(
        id="address-not-on-device",
        title="an address is no live device memory",
        explanation="The address is NULL, host memory, or was freed. A kernel runs on the device "
        "and reaches only live memory from aclrtMalloc (507015), and so do copies and fills of "
        "device memory (107000).",
        fix="allocate by aclrtMalloc, copy the data there, and free it after the stream has passed",
        source="CANN: aclCreateTensor; 507015 on the stream",
        wrong="aclSetRawTensorAddr(x, host);\n" + _LAUNCH,
        right="aclSetRawTensorAddr(x, device);\n" + _LAUNCH,
    ),
    Rule(
        id="address-on-another-device",
        title="memory lies on another device than the stream that uses it",
        explanation="A kernel runs on the device of its stream. Memory of another device is "
        "out of its reach, unless peer access was set up, and operators do not support that.",
        fix="allocate and launch with the same device current",
        source="CANN: runtime, device memory belongs to the current device",
        wrong="void *elsewhere;\naclrtSetDevice(1);\n"
        "aclrtMalloc(&elsewhere, BYTES, ACL_MEM_MALLOC_HUGE_FIRST);\n"
        "aclrtSetCurrentContext(primary);\naclSetRawTensorAddr(x, elsewhere);\n" + _LAUNCH + "\n"
        "aclrtSynchronizeStream(stream);\naclrtFree(elsewhere);\naclrtResetDevice(1);\n"
        "aclrtSetCurrentContext(primary);",
        right="aclSetRawTensorAddr(x, device);\n" + _LAUNCH,
    ),
    Rule(
        id="address-misaligned",
        title="a tensor's address is not a multiple of 32",
        explanation="The cores move blocks of 32 bytes; the address given to aclCreateTensor must "
        "be a multiple of that. A view may start anywhere by its offset.",
        fix="pass the block's start as the address and the distance as the offset",
        source="CANN: aclCreateTensor, tensorData",
        wrong="aclSetRawTensorAddr(x, (char *)device + 4);\n" + _LAUNCH,
        right="aclSetRawTensorAddr(x, (char *)device + 32);\n" + _LAUNCH,
    ),
    Rule(
        id="tensors-overlap",
        title="an output shares memory with another argument",
        explanation="The order in which a kernel reads and writes is its own business: an output "
        "that lies on an input or on another output may be overwritten before it is read. Only "
        "the operators named Inplace work on one tensor.",
        fix="give every output memory of its own",
        source="CANN: aclnn operators, only aclnnInplace… reuse an argument",
        wrong="aclSetRawTensorAddr(y, x_at);\n" + _LAUNCH,
        right="aclSetRawTensorAddr(y, device);\n" + _LAUNCH,
    ),
)
