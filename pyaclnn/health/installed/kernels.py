# SPDX-License-Identifier: Apache-2.0
"""The kernels of an installation, by its own lists: for which chip, which data types, which built.

That a kernel is there is needed for an operator to run, and not enough: what an operator accepts is
its own business. So nothing here says that anything is supported.

Sources: aic-*-ops-info.json, binary_info_config.json and platform_config of CANN 8.1.RC1.
"""

from __future__ import annotations

import configparser
import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pyaclnn.base.files import read_json, read_text
from pyaclnn.cann import raw
from pyaclnn.cann.status import code_named
from pyaclnn.facts.operators import by_c_name
from pyaclnn.facts.operators.operator import Build

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

__all__ = ["Kernel", "Port", "chip_folder", "chips", "kernel_of", "kernels", "refusal"]

_TBE: Final = "built-in/op_impl/ai_core/tbe"
_ENUMERATION: Any = raw.ffi.typeof("aclDataType")
_ENUMERATORS: Final[Mapping[str, int]] = _ENUMERATION.relements
_DATA_TYPES: Final = {
    **{name.removeprefix("ACL_").lower(): number for name, number in _ENUMERATORS.items()},
    "float32": _ENUMERATORS["ACL_FLOAT"],
    "bfloat16": _ENUMERATORS["ACL_BF16"],
}
"""Name of a data type in the lists -> ``aclDataType``."""


@dataclass(frozen=True)
class Port:
    """An input or output of a kernel.

    Attributes:
        name: Its name.
        presence: ``required``, ``optional`` or ``dynamic``, which is a list.
        dtypes: Its data type in each row, as the list names it.
        formats: Its format in each row.
    """

    name: str
    presence: str
    dtypes: tuple[str, ...]
    formats: tuple[str, ...]


@dataclass(frozen=True)
class Kernel:
    """A kernel for a chip.

    Attributes:
        name: Its name, e.g. ``RmsNormGrad``.
        source: The file that lists it.
        inputs: Tensors that it reads.
        outputs: Tensors that it writes.
        attributes: Its attributes: type and, if there is one, the default.
        built: For each row, whether a binary is there; None if the package of binaries is not.
    """

    name: str
    source: Path
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    attributes: Mapping[str, str]
    built: tuple[bool, ...] | None

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The combinations of data types, in the order of inputs and outputs."""
        columns = [port.dtypes for port in (*self.inputs, *self.outputs)]
        return list(zip(*columns, strict=False))


def chips(opp: Path) -> list[str]:
    """List the folders of chips of which there are lists of kernels.

    Args:
        opp: The folder of the operator packages, ``opp`` of an installation.
    """
    found = (opp / _TBE / "config").glob("*/aic-*-ops-info.json")
    return sorted({path.parent.name for path in found})


def chip_folder(root: Path, chip: str) -> str | None:
    """Return the folder of a chip, e.g. ``ascend910b`` for ``Ascend910B3``.

    Args:
        root: The root of the installation.
        chip: The name of the chip, as the runtime returns it, or of its folder.
    """
    known = chips(root / "opp")
    if chip.lower() in known:
        return chip.lower()
    for path in sorted(root.glob(f"*-linux/data/platform_config/{chip}.ini")):
        parser = configparser.ConfigParser(strict=False, interpolation=None)
        try:
            parser.read_string(read_text(path))
        except (OSError, UnicodeDecodeError, configparser.Error):
            continue
        short = parser.get("version", "Short_SoC_version", fallback="").lower()
        if short in known:
            return short
    return None


def kernels(opp: Path, folder: str) -> dict[str, Kernel]:
    """Read the kernels that are listed for a chip.

    Args:
        opp: The folder of the operator packages, ``opp`` of an installation.
        folder: The folder of the chip; see ``chip_folder``.

    Returns:
        The kernels by name; those of a list that cannot be read are not among them.
    """
    keys = _binaries(opp, folder)
    return {
        name: _kernel(name, entry, path, None if keys is None else keys.get(name, []))
        for path in sorted((opp / _TBE / "config" / folder).glob("aic-*-ops-info.json"))
        for name, entry in _json(path).items()
        if isinstance(entry, dict)
    }


def kernel_of(operator: str, there: Mapping[str, Kernel]) -> Kernel | None:
    """Return the kernel that is called like an operator, or nearly so.

    Args:
        operator: The C name of its second phase.
        there: The kernels by name.
    """
    return next((there[name] for name in _candidates(operator) if name in there), None)


def refusal(operator: str, kernel: Kernel, row: int | None = None) -> str | None:
    """Report how phase 1 of an operator refuses for want of a binary, before anything is launched.

    Without the package of binaries an operator that is put together finds no package, and one that
    is generated from a kernel finds no kernel, as every operator does of which a binary is missing
    (CANN: opbase composite_op and individual_op).

    Args:
        operator: The C name of its second phase.
        kernel: Its kernel.
        row: The row of data types that it is called with; None for any.

    Returns:
        The code and its name, e.g. ``561003 ACLNN_ERR_INNER_FIND_KERNEL_ERROR``; None if a binary
        is there.
    """
    described = by_c_name().get(operator)
    generated = described is not None and described.build is Build.INDIVIDUAL
    if kernel.built is None and not generated:
        return _coded("ACLNN_ERR_INNER_OPP_KERNEL_PKG_NOT_FOUND")
    built = kernel.built or ()
    if any(built if row is None else built[row : row + 1]):
        return None
    return _coded("ACLNN_ERR_INNER_FIND_KERNEL_ERROR")


def _coded(name: str) -> str:
    return f"{code_named(name)} {name}"


def _candidates(operator: str) -> Iterator[str]:
    plain = re.sub("^acl(nn)?", "", operator)
    names = [plain, re.sub("^Inplace", "", plain)]
    names += [name.replace("Backward", "Grad") for name in names]
    names += [re.sub(r"V\d$", "", name) for name in names]
    names += [re.sub("(Tensor|Scalar)+$", "", name) for name in names]
    yield from dict.fromkeys(name for name in names if name)


def _kernel(name: str, entry: dict[str, Any], source: Path, keys: list[str] | None) -> Kernel:
    inputs, outputs = tuple(_ports(entry, "input")), tuple(_ports(entry, "output"))
    made = Kernel(name, source, inputs, outputs, _attributes(entry), None)
    if keys is None:
        return made
    built = {_types_of(key) for key in keys}
    wanted = [tuple(_DATA_TYPES.get(word, -1) for word in row) for row in made.rows]
    return Kernel(
        name, source, inputs, outputs, made.attributes, tuple(row in built for row in wanted)
    )


def _ports(entry: dict[str, Any], which: str) -> Iterator[Port]:
    for number in itertools.count():
        port = entry.get(f"{which}{number}")
        if not isinstance(port, dict):
            return
        name, presence = str(port.get("name", "")), str(port.get("paramType", "required"))
        yield Port(name, presence, _words(port, "dtype"), _words(port, "format"))


def _words(port: dict[str, Any], key: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in str(port.get(key, "")).split(",") if word.strip())


def _attributes(entry: dict[str, Any]) -> dict[str, str]:
    listed = entry.get("attr")
    names = str(listed.get("list", "")).split(",") if isinstance(listed, dict) else []
    found = {}
    for name in filter(None, map(str.strip, names)):
        about = entry.get(f"attr_{name}")
        about = about if isinstance(about, dict) else {}
        default = about.get("defaultValue")
        found[name] = f"{about.get('type', '?')}{'' if default is None else f' = {default}'}"
    return found


def _binaries(opp: Path, folder: str) -> dict[str, list[str]] | None:
    """The keys of the binaries by kernel; None if none are installed."""
    path = opp / _TBE / "kernel" / "config" / folder / "binary_info_config.json"
    if not path.is_file():
        return None
    return {name: list(_keys(entry)) for name, entry in _json(path).items()}


def _keys(entry: Any) -> Iterator[str]:
    left = [entry]  # it may be nested more deeply than functions can be
    while left:
        value = left.pop()
        if isinstance(value, dict):
            key = value.get("simplifiedKey")
            yield from (text for text in (key if isinstance(key, list) else []) if _is_text(text))
            left += reversed(value.values())
        elif isinstance(value, list):
            left += reversed(value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _types_of(key: str) -> tuple[int, ...]:
    """The data types in a key such as ``RmsNormGrad/d=0,p=1/27,2/27,2``: one tensor a part."""
    parts = (part.partition(",")[0] for part in key.split("/")[2:])
    return tuple(int(part) if part.isdigit() else -1 for part in parts)


def _json(path: Path) -> dict[str, Any]:
    try:
        found = read_json(path)
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
