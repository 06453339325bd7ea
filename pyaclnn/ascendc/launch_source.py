# SPDX-License-Identifier: Apache-2.0
"""Sources with launches of kernels, rewritten to C++ that a compiler for the host reads.

``kernel<<<blocks, l2, stream>>>(arguments)`` is no C++. It becomes a macro of ``ascendc/launch.h``,
on the same line, so that a compiler's messages name the right place.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from pyaclnn.ascendc.entries import NO_CODE

__all__ = ["KernelSignature", "find_signatures", "launch_header", "launching", "rewrite_launches"]

_OPEN, _CLOSE = "([{", ")]}"
_SIGNATURE = re.compile(
    r"""extern\s+"C"(?P<words>[^;{()"]{1,200}?)\bvoid\s+(?P<name>\w+)\s*"""
    r"\((?P<parameters>[^()]*)\)\s*\{"
)
_ARGUMENT = """\
#ifndef PYACLNN_ARGUMENT
#ifdef __cplusplus
#include <type_traits>
namespace pyaclnn {
/* Narrow floats of a host are classes that convert to float. */
template <typename T, typename = void> struct IsNumber : std::false_type {};
template <typename T>
struct IsNumber<T, decltype(void(sizeof(T)))> : std::is_convertible<T, float> {};
template <typename T, bool = (std::is_class<T>::value || std::is_union<T>::value) &&
                             !IsNumber<T>::value>
struct Argument {
    using type = typename std::remove_cv<T>::type;
    static T &value(type &given) { return given; }
};
template <typename T> struct Argument<T, true> {
    using type = T *;
    static T &value(T *given) { return *given; }
};
}
#define PYACLNN_ARGUMENT(...) pyaclnn::Argument<__VA_ARGS__>::type
#else
#define PYACLNN_ARGUMENT(...) \\
    __typeof__(__builtin_choose_expr(__builtin_classify_type(*(__VA_ARGS__ *)0) - 12U < 2, \\
                                     (__VA_ARGS__ *)0, *(__VA_ARGS__ *)0))
#endif
#endif
"""
"""Type of a host function's parameter: a struct's or union's address, and any other as it is.

The compiler selects it, which has the definition of every name. In C, 12 and 13 are the classes of
structs and unions.
"""
_ATTRIBUTE = re.compile(r"\[\[.*?\]\]", re.DOTALL)


class KernelSignature(NamedTuple):
    """A kernel with C linkage.

    Attributes:
        name: Its name.
        parameters: Its parameters as a host function has them: addresses are ``void *``, and the
            compiler selects whether any other is an address.
        passed: The arguments of the kernel, made of these.
    """

    name: str
    parameters: tuple[str, ...]
    passed: tuple[str, ...]


def rewrite_launches(source: str) -> str:
    """Rewrite every launch of a source text.

    Args:
        source: The text.

    Raises:
        ValueError: A launch has no end, or not three operands; the text names its line.
    """
    code = _masked(source)
    pieces: list[str] = []
    done = 0
    while (start := code.find("<<<", done)) >= 0:
        line = code.count("\n", 0, start) + 1
        begin = _callee(code, start)
        operands, end = _operands(code, start + 3)
        if begin is None or begin < done or end is None or len(operands) != 3:  # noqa: PLR2004
            raise ValueError(
                f"line {line}: a launch is kernel<<<blocks, l2, stream>>>(arguments), with three "
                "operands"
            )
        callee = source[begin:start].strip()
        given = ", ".join(f"({rewrite_launches(source[a:b].strip())})" for a, b in operands)
        # A template's arguments may have commas: the parentheses keep them in one macro argument.
        pieces += [source[done:begin], f'PYACLNN_LAUNCH("{_plain(callee)}", ({callee}), {given})']
        pieces.append("\n" * source.count("\n", start, end))
        done = end
    return "".join([*pieces, source[done:]])


def find_signatures(source: str) -> tuple[KernelSignature, ...]:
    """Find the kernels with C linkage that a source text defines, each name once.

    Args:
        source: The text.
    """
    code = NO_CODE.sub(lambda match: match[0] if match[0] == '"C"' else " ", source)
    found: dict[str, KernelSignature] = {}
    for match in _SIGNATURE.finditer(code):
        if "__global__" not in match["words"]:
            continue
        given = _ATTRIBUTE.sub(" ", match["parameters"])
        parts = [part.strip() for part in given.split(",") if part.strip()]
        if parts == ["void"]:
            parts = []
        parameters, passed = [], []
        for part in parts:
            name = re.findall(r"\w+", part)[-1]
            kind = part[: part.rindex(name)].strip()
            if "*" in kind or "GM_ADDR" in kind:
                parameters.append(f"void *{name}")
                passed.append(f"({kind}){name}")
            else:
                parameters.append(f"PYACLNN_ARGUMENT({kind}) {name}")
                passed.append(f"pyaclnn::Argument<{kind}>::value({name})")
        signature = KernelSignature(match["name"], tuple(parameters), tuple(passed))
        found.setdefault(signature.name, signature)
    return tuple(found.values())


def launch_header(kernel: KernelSignature) -> str:
    """Write ``aclrtlaunch_NAME.h``, the header that declares a kernel's host function.

    Args:
        kernel: The kernel.
    """
    guard = f"ACLRTLAUNCH_{kernel.name.upper()}_H_"
    return (
        f"#ifndef {guard}\n#define {guard}\n"
        '#include "acl/acl.h"\n'
        "#ifndef ACLRT_LAUNCH_KERNEL\n"
        "#define ACLRT_LAUNCH_KERNEL(kernel_func) aclrtlaunch_##kernel_func\n#endif\n"
        f'{_ARGUMENT}#ifdef __cplusplus\nextern "C"\n#endif\n{_declaration(kernel)};\n#endif\n'
    )


def launching(kernel: KernelSignature) -> str:
    """Write the host function of a kernel, for the end of its source.

    Args:
        kernel: The kernel.
    """
    return (
        f'{_ARGUMENT}extern "C" {_declaration(kernel)}\n'
        f'{{ return PYACLNN_LAUNCH("{kernel.name}", {kernel.name}, blockDim, nullptr, stream)'
        f"({', '.join(kernel.passed)}); }}\n"
    )


def _declaration(kernel: KernelSignature) -> str:
    parameters = ", ".join(("uint32_t blockDim", "aclrtStream stream", *kernel.parameters))
    return f"uint32_t aclrtlaunch_{kernel.name}({parameters})"


def _masked(source: str) -> str:
    """Return the text with blanks for comments and literals, each character in its place."""
    return NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)


def _plain(callee: str) -> str:
    return re.sub(r"\s+", "", callee).replace('"', "")


def _callee(code: str, end: int) -> int | None:
    """Return where a kernel's name begins, with template arguments, that ends at a place."""
    at = len(code[:end].rstrip())
    if code[at - 1 : at] == ">":
        depth = 0
        while at > 0:
            at -= 1
            depth += (code[at] == ">") - (code[at] == "<")
            if depth == 0:
                break
    at = len(code[:at].rstrip())
    begin = at
    while begin > 0 and (code[begin - 1].isalnum() or code[begin - 1] in "_:"):
        begin -= 1
    return begin if begin < at else None


def _operands(code: str, start: int) -> tuple[list[tuple[int, int]], int | None]:
    """Return the places of the operands from a place on, and the place behind ``>>>``."""
    operands: list[tuple[int, int]] = []
    begin, depth = start, 0
    for at in range(start, len(code)):
        letter = code[at]
        if depth == 0 and code.startswith(">>>", at):
            return [*operands, (begin, at)], at + 3
        if depth == 0 and letter == ",":
            operands.append((begin, at))
            begin = at + 1
        elif letter in _OPEN:
            depth += 1
        elif letter in _CLOSE:
            depth -= 1
        if depth < 0 or letter == ";":
            break
    return operands, None
