# SPDX-License-Identifier: Apache-2.0
"""Rules about reserved addresses and the physical memory mapped to them."""

from __future__ import annotations

from .rule import Rule

__all__ = ["VIRTUAL_MEMORY"]

_BOTH = (
    "void *at;\naclrtDrvMemHandle memory;\n"
    "aclrtPhysicalMemProp property = {ACL_MEM_HANDLE_TYPE_NONE, ACL_MEM_ALLOCATION_TYPE_PINNED,\n"
    "                                 ACL_HBM_MEM_HUGE, {0, ACL_MEM_LOCATION_TYPE_DEVICE}, 0};\n"
    "aclrtReserveMemAddress(&at, 2 * PIECE, 0, NULL, 0);\n"
    "aclrtMallocPhysical(&memory, PIECE, &property, 0);\n"
)
_MAP = "aclrtMapMem(at, PIECE, 0, memory, 0);\n"
_UNMAP = "aclrtUnmapMem(at);\n"
_BACK = "aclrtFreePhysical(memory);\naclrtReleaseMemAddress(at);"
_FILL = "aclrtMemsetAsync(at, BYTES, 0, BYTES, stream);\n"
_WAIT = "aclrtSynchronizeStream(stream);\n"

_EXPORT = (
    "uint64_t number = 0;\naclrtDrvMemHandle again = NULL;\n"
    "aclrtMemExportToShareableHandle(memory, ACL_MEM_HANDLE_TYPE_NONE, 0, &number);\n"
)
_IMPORT = (
    "if (aclrtMemImportFromShareableHandle(number, 0, &again) == 0) {\n"
    "    aclrtFreePhysical(again);\n}\n"
)

_KEY = (
    "char key[65];\nvoid *again;\nint32_t process = getpid();\n"
    "aclrtIpcMemGetExportKey(device, BYTES, key, sizeof key, 0);\n"
    "aclrtIpcMemSetImportPid(key, &process, 1);\n"
    "aclrtIpcMemImportByKey(&again, key, 0);\n"
)
_FREE = "aclrtFree(device);\ndevice = NULL;\n"
_CLOSE = "aclrtIpcMemClose(key);\n"


def _granting(flags: str) -> str:
    return (
        f"aclrtMemAccessDesc access = {{ACL_RT_MEM_ACCESS_FLAGS_{flags},\n"
        "                             {0, ACL_MEM_LOCATION_TYPE_DEVICE}, {0}};\n"
        "aclrtMemSetAccess(at, PIECE, &access, 1);\n"
    )


VIRTUAL_MEMORY = (
    Rule(
        id="mapped-outside-reservation",
        title="physical memory is mapped where nothing is reserved",
        explanation="aclrtMapMem takes addresses of aclrtReserveMemAddress, from the first byte to "
        "the last; whatever else lies there belongs to somebody (107000).",
        fix="reserve enough addresses first, and map inside of them",
        source="CANN: aclrtMapMem; driver, an invalid value (107000)",
        wrong=_BOTH + "aclrtMapMem((char *)at + 2 * PIECE, PIECE, 0, memory, 0);\n" + _BACK,
        right=_BOTH + _MAP + _UNMAP + _BACK,
    ),
    Rule(
        id="mapped-twice",
        title="physical memory is mapped where some is mapped already",
        explanation="An address leads to one place. What is mapped there must be unmapped before "
        "something else can be (107000).",
        fix="call aclrtUnmapMem first, or map behind what is mapped",
        source="CANN: aclrtMapMem; driver, an invalid value (107000)",
        wrong=_BOTH + _MAP + _MAP + _UNMAP + _BACK,
        right=_BOTH
        + _MAP
        + "aclrtMapMem((char *)at + PIECE, PIECE, 0, memory, 0);\n"
        + _UNMAP
        + "aclrtUnmapMem((char *)at + PIECE);\n"
        + _BACK,
    ),
    Rule(
        id="not-mapped",
        title="an address is unmapped that is not the start of mapped memory",
        explanation="aclrtUnmapMem takes the address that aclrtMapMem was given, once (107000).",
        fix="unmap what was mapped, by its first address, and once",
        source="CANN: aclrtUnmapMem; driver, an invalid value (107000)",
        wrong=_BOTH + _MAP + _UNMAP + _UNMAP + _BACK,
        right=_BOTH + _MAP + _UNMAP + _BACK,
    ),
    Rule(
        id="unmapped-in-use",
        title="memory is unmapped while queued work needs it",
        explanation="aclrtUnmapMem acts at once and waits for no stream. What is queued then finds "
        "no memory at its addresses: 507015 of a kernel, 507013 of a copy.",
        fix="synchronize the stream before aclrtUnmapMem",
        source="CANN: runtime, aclrtUnmapMem does not synchronize",
        wrong=_BOTH + _MAP + _FILL + _UNMAP + _BACK,
        right=_BOTH + _MAP + _FILL + _WAIT + _UNMAP + _BACK,
    ),
    Rule(
        id="physical-freed-while-mapped",
        title="physical memory is freed while it is mapped",
        explanation="The addresses would lead to memory that belongs to somebody else by then. "
        "The simulated NPU refuses it (107000) and frees nothing.",
        fix="call aclrtUnmapMem for every place it is mapped to, then aclrtFreePhysical",
        source="CANN: aclrtFreePhysical comes after aclrtUnmapMem",
        wrong=_BOTH + _MAP + "aclrtFreePhysical(memory);\n" + _UNMAP + _BACK,
        right=_BOTH + _MAP + _UNMAP + _BACK,
    ),
    Rule(
        id="addresses-released-while-mapped",
        title="addresses are given back while memory is mapped to them",
        explanation="Whoever gets the addresses next would find memory there. The simulated NPU "
        "refuses it (107000) and gives back nothing.",
        fix="call aclrtUnmapMem for everything that is mapped, then aclrtReleaseMemAddress",
        source="CANN: aclrtReleaseMemAddress comes after aclrtUnmapMem",
        wrong=_BOTH + _MAP + "aclrtReleaseMemAddress(at);\n" + _UNMAP + _BACK,
        right=_BOTH + _MAP + _UNMAP + _BACK,
    ),
    Rule(
        id="access-denied",
        title="work of a device uses mapped memory beyond what aclrtMemSetAccess allows it",
        explanation="A device that may only read memory, or may do nothing there, has no way to "
        "write it: the work ends in a fault of the device.",
        fix="give the device ACL_RT_MEM_ACCESS_FLAGS_READWRITE before the work is queued",
        source="CANN: aclrtMemSetAccess, aclrtMemAccessFlags; for the device itself, this "
        "project's reading",
        wrong=_BOTH + _MAP + _granting("READ") + _FILL + _WAIT + _UNMAP + _BACK,
        right=_BOTH + _MAP + _granting("READWRITE") + _FILL + _WAIT + _UNMAP + _BACK,
        since="9.1",
    ),
    Rule(
        id="import-not-allowed",
        title="a process imports memory of another that it was not let into",
        explanation="Who exports memory names the processes that may import it, unless the export "
        "goes without that. Others are refused (207006).",
        fix="give the process to aclrtMemSetPidToShareableHandle (for a key to "
        "aclrtIpcMemSetImportPid) before it imports, or export with the flag against validation",
        source="CANN: aclrtMemSetPidToShareableHandle; driver, not permitted (207006)",
        wrong=_BOTH + _EXPORT + _IMPORT + _BACK,
        right=_BOTH
        + _EXPORT
        + "int32_t process = getpid();\n"
        + "aclrtMemSetPidToShareableHandle(number, &process, 1);\n"
        + _IMPORT
        + _BACK,
    ),
    Rule(
        id="memory-freed-while-imported",
        title="memory is freed while a process has imported it by a key",
        explanation="The other process goes on reading and writing there, whoever has the memory "
        "by then. The simulated NPU keeps it from everybody else until the device closes.",
        fix="let the importing process call aclrtIpcMemClose first, then aclrtFree",
        source="CANN: aclrtIpcMemClose; that it comes before aclrtFree is this project's reading",
        wrong=_KEY + _FREE + _CLOSE,
        right=_KEY + _CLOSE + _FREE,
        since="9.1",
    ),
)
