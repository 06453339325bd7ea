# SPDX-License-Identifier: Apache-2.0
"""zig as the compiler of the wheels: ``python .ci/zig.py TARGET ARGUMENTS``, those of ``zig cc``.

Its linker lacks two words of others: ``--auxiliary`` and ``--filter``, by which a library says in
which others its functions are to be looked for. Here the library is linked against empty ones of
those names, and what says that it needs them is then made to say that they are filtees.
"""

from __future__ import annotations

import struct
import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["main"]

FILTERS = {"--auxiliary": 0x7FFFFFFD, "--filter": 0x7FFFFFFF}
"""Words of the linker, and the tags that they mean in the dynamic section."""
LOAD, DYNAMIC = 1, 2
NEEDED, TABLE_OF_STRINGS = 1, 5


def main(target: str, *arguments: str) -> int:
    """Run the compiler.

    Args:
        target: The machine and the C library, as ``zig cc -target`` takes them.
        *arguments: The command line.

    Returns:
        Its exit status.
    """
    command = [sys.executable, "-m", "ziglang", "cc", "-target", target, "-fno-sanitize=undefined"]
    if any(each.startswith("-I/usr/include/python") for each in arguments):
        # The header of a Debian's own Python includes one by its path below this folder.
        command += ["-idirafter", "/usr/include"]
    tags: dict[str, int] = {}
    plain = []
    for argument in arguments:
        _, _, words = argument.partition("-Wl,")
        word, _, name = words.partition(",")
        if word in FILTERS:
            tags[name] = FILTERS[word]
        else:
            plain.append(argument)
    with tempfile.TemporaryDirectory() as folder:
        for name in tags:
            empty = ["-shared", f"-Wl,-soname,{name}", "-x", "c", "/dev/null", "-o"]
            subprocess.run([*command, *empty, f"{folder}/{name}"], check=True)
        there = ["-Wl,--no-as-needed", *(f"{folder}/{name}" for name in tags)] if tags else []
        status = subprocess.run([*command, *plain, *there], check=False).returncode
    if tags and status == 0:
        library = Path(plain[plain.index("-o") + 1])
        library.write_bytes(_filtering(bytearray(library.read_bytes()), tags))
    return status


def _filtering(image: bytearray, tags: dict[str, int]) -> bytes:
    """A 64-bit library with other tags where it says that it needs those of these names."""
    [first], [size, count] = (
        struct.unpack_from("<Q", image, 32),
        struct.unpack_from("<2H", image, 54),
    )
    headers = [struct.unpack_from("<2I6Q", image, first + size * i) for i in range(count)]
    [(dynamic, length)] = [(head[2], head[5]) for head in headers if head[0] == DYNAMIC]
    entries = {
        at: struct.unpack_from("<2Q", image, at) for at in range(dynamic, dynamic + length, 16)
    }
    [address] = [value for tag, value in entries.values() if tag == TABLE_OF_STRINGS]
    [strings] = [
        address - head[3] + head[2]
        for head in headers
        if head[0] == LOAD and head[3] <= address < head[3] + head[5]
    ]
    left = dict(tags)
    for at, (tag, value) in entries.items():
        if tag == NEEDED:
            start = strings + value
            name = image[start : image.index(0, start)].decode()
            struct.pack_into("<Q", image, at, left.pop(name, NEEDED))
    if left:
        raise ValueError(f"the linker has left out {[*left]}")
    return bytes(image)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
