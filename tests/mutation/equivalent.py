# SPDX-License-Identifier: Apache-2.0
"""Mutations that change nothing which a test could see, each with its reason."""

from __future__ import annotations

__all__ = ["EQUIVALENT"]

# By file, the line before and the line after, without comments.
EQUIVALENT = {
    (
        "pyaclnn/base/elf.py",
        "for index in range(count if offset and entry == _SECTION.size else 0):",
        "for index in range(count if offset and entry == _SECTION.size else 1):",
    ): "the section that is read then is the head of the file, which is never one of symbols",
    (
        "pyaclnn/base/elf.py",
        "self.strings = bytes(image[strings : strings + self.values.get(_DT_STRSZ, 0)])",
        "self.strings = bytes(image[strings : strings + self.values.get(_DT_STRSZ, 1)])",
    ): "the linker never leaves out the size; one byte without it has no more names than none",
    (
        "pyaclnn/ascendc/tiling/chips.py",
        "VECTOR_REGISTER_BYTES = 256",
        "VECTOR_REGISTER_BYTES = 257",
    ): "only its whole halves and quarters are used",
    (
        "pyaclnn/cann/faults.py",
        'if len(words) == 6 and "-" in words[0]:',
        'if len(words) == 6 and "-" in words[1]:',
    ): "the access of each mapping has a dash, but for code that is writable: there is none",
    (
        "pyaclnn/base/lazy.py",
        "while _imports_elsewhere() and time.monotonic() < end:",
        "while _imports_elsewhere() and time.monotonic() <= end:",
    ): "the clock never reads just the end",
    (
        "pyaclnn/calling/inference.py",
        "return {} if found is None else dict(zip(results, found, strict=True))",
        "return {} if found is None else dict(zip(results, found, strict=False))",
    ): "each rule returns as many results as it is asked for; a test holds all rules to that",
    (
        "pyaclnn/calling/plan.py",
        "status = self._operator.function(queue._timeline.struct, NO_PLAN, 1, message)",
        "status = self._operator.function(queue._timeline.struct, NO_PLAN, 2, message)",
    ): "any number but 0 asks C to judge",
    (
        "pyaclnn/capture/recorder/file.c",
        "if (trace.file < 0) {",
        "if (trace.file < 1) {",
    ): "a new file is never one of the standard streams",
    (
        "pyaclnn/health/child/steps/numbers.py",
        "*((2, 2, 2, 3), (1, 8192), (2, 20011), (4099, 8)),",
        "*((2, 2, 2, 4), (1, 8192), (2, 20011), (4099, 8)),",
    ): "any small shape of four axes will do",
    (
        "pyaclnn/mock/operators/trial.py",
        (
            "if all(_elements(dims) <= _FEW for dims in tensors)"
            " and all(abs(n) <= _FEW for n in numbers):"
        ),
        (
            "if all(_elements(dims) <= _FEW for dims in tensors)"
            " and all(abs(n) < _FEW for n in numbers):"
        ),
    ): "probes keep a number of just so many, and no length of a small tensor is above it",
    (
        "pyaclnn/reference/arithmetic/norms.py",
        "_LONGEST_PRODUCT = 1 << 12",
        "_LONGEST_PRODUCT = 2 << 12",
    ): "either sum is as good as the tests ask, near that length",
    (
        "pyaclnn/runtime/array.py",
        "_BASE = 1 << 32",
        "_BASE = 2 << 32",
    ): "any address will do that no array has",
}
"""The reason of each."""
