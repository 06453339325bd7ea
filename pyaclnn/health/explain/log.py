# SPDX-License-Identifier: Apache-2.0
"""Codes and known texts in a log, with the innermost cause first."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Final

from pyaclnn.facts.explanations import LINES, WORDINGS, WRITERS
from pyaclnn.health.explain.codes import CODE, about, about_function
from pyaclnn.health.explain.entry import GENERAL, GENERAL_KIND, SPECIFIC, TEXT, Entry, order_of
from pyaclnn.health.explain.numbers import code_of_text, with_words
from pyaclnn.health.explain.quotation import filled
from pyaclnn.health.explain.variables import about_variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from pyaclnn.facts.explanations import Line

__all__ = ["CHATTER", "Log", "look_up"]

_NUMBERED: Final = (
    (
        re.compile(
            r"(?i)hccl(?:.*?\b(?:error code is|retcode)\W{1,4}|(?:ret|result)\w*\W{1,6})(\d{1,4})\b"
        ),
        "HCCL",
        10,
    ),
    (
        re.compile(r"\b[Hh]ccl[A-Z]\w*.{0,40}?\b(?:ret|err|code|result)\w*\W{1,4}(\d{1,4})\b"),
        "HCCL",
        10,
    ),
    (re.compile(r"errNo\[0x0+50+([0-9a-f]{1,3})\]"), "HCCL", 16),
    (
        re.compile(r"(?i)\bdrv ?(?:retcode|ret|err(?:or ?(?:code)?)?)[^\d-]{1,4}(\d{1,5})\b"),
        "driver",
        10,
    ),
    (
        re.compile(
            r"\b(?:[Dd]rv|hal)[A-Z]\w*.{1,40}?\b(?:ret|err(?!no)|rc)\w*[^\d-]{1,4}(\d{1,3})\b"
        ),
        "driver",
        10,
    ),
)
"""Texts with a number that counts in one component only, and its base."""
CHATTER: Final = re.compile(r"\[(?:INFO|DEBUG|TRACE|EVENT)\]")
"""Beginnings of the lines of CANN's log that report no failure."""
_CHANGING: Final = re.compile(
    r"(?=\d)(?:\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d[.,:\d]*|(?<=pid )\d+"
    r"|(?<!ode is )(?<!ode is \[)(?<!ode=)(?<!ret=)(?<!err=)(?<!ode: )(?<!-)\b(?!\d{6}\b)\d+\b)"
)
"""Dates, times, processes and sizes, in which lines differ that report the same; no codes."""
_SIX_DIGITS: Final = re.compile(r"\b\d{6}\b")
"""Numbers as long as codes."""
_BEFORE_WORDS: Final = re.compile(
    r"^(?:[\s:\])]|\[PID: ?\d+\]|\[?\d{4}-\d\d-\d\d[-\d:.]*\]?|Inner Error!)+"
)
_ADVICE: Final = re.compile(r"^\s*(?:Possible Cause|Reason|Solution|\[Reason\])\s*:?\s*(\S.*)$")
_HYPOTHESIS: Final = re.compile(
    r"(?i)\(?\b(?:for (?:example|instance)|e\.g\.)(?:.*?\)|.*?[.;](?= |$)|.*)"
    r"|\b(?:possible|potential|probable|likely) (?:root )?(?:cause|reason)s?\b.*"
    r"|\bplease check (?:if|whether|that)\b(?:.*?[.;](?= |$)|.*)"
    r"|(?<=\bERR\d{5} )[A-Z]+ [a-z ]+"
    r"|\b(?:cause|reason|solution|suggestion)s?\s*:\s*\[?\(?1[.)].*"
)
"""Parts of a line that list what may be the cause, or name its code: no report of any of it."""
_END_OF_SENTENCE: Final = re.compile(r"(?<=[a-z\d\])'\"])[.!?]\s+(?=[\"'(]*[A-Z])")
"""Ends of sentences, which report different things: no pattern fits across one."""
_CONTEXT: Final = re.compile(
    r"(?i)(?:err\w*|ret\w*|code|rc|result|status|fail\w*)\W{1,4}(?:is\W)?$"
)
"""Words before a number in hexadecimal that may be a code, though addresses look like it."""
_SHORTEST_ALONE: Final = 7
"""Digits of a number in hexadecimal that no address or thread has by chance."""
_FAILURE: Final = re.compile(
    r"(?i)err|fail|\bret|code|result|abort|status|exception|warn|fatal|critical"
)
"""Words of a line of a log whose numbers may be codes, and not steps, sizes or processes."""
_PROBLEM: Final = re.compile(
    r"(?i)^(?!.*\b(?-i:INFO|DEBUG)\b).*(?:exceed|invalid|cannot|unable|mismatch|unsupported|denied"
    r"|not (?:found|support|exist)|\bmust\b|requires?\b|refused|out of (?:the )?range"
    r"|too (?:large|many))"
)
"""Lines that report something without which a program goes on otherwise or not at all."""
_QUANTITY: Final = re.compile(
    r"(?i)(?:\b(?:size|bytes?|count|len(?:gth)?|max\w*|min\w*|over|than|step|epoch|shape|port)\W{0,3}"
    r"|[\[(][\d, ]*\d, ?|x)$"
)
"""Words before a number that is a size or the like, and no code."""
_REFUSAL: Final = re.compile(
    r"(?i)(?<!if )\b(?:invalid|illegal|wrong|out of range|exceeds|not (?:valid|in (?:the )?range)"
    r"|(?:should|must) be|(?:set|pars)\w* \S+(?: \S+)? (?:fail|error)\w*)"
)
"""Words for a value that is not accepted."""
_PLACE: Final = re.compile(r'\bFile "[^"]+", line \d+')
"""Place in a traceback, behind which the line of the program follows, further to the right."""
_STATEMENT: Final = re.compile(
    r"(?:raise|return|assert|await|yield|with|for|while|if|from|import)\b|[a-z_][\w.]*(?:\(| = )"
)
"""Beginning of a line of the program in a log without its indentation."""
_ENDLESS: Final = re.compile(r"(\S{200})\S+")
"""Text without a blank, as of a binary file, on which patterns would take long."""
_UNSPECIFIC: Final = "Texts that name a thing and no more of its cause"
"""Title of the first file of texts that count where no code names more of a cause."""
_PARTS: Final = "Texts by the part that they name"
"""Title of the first file of texts that count where no code is known."""
_LONGEST: Final = 4000
_MOST_WORDS: Final = 240
_MOST_LINES: Final = 2
_MOST_SEEN: Final = 100_000


def look_up(text: str) -> list[Entry]:
    """Explain a code, a name, a check, or every code and known text of a log.

    Args:
        text: A status code such as ``507033``; a name, also without its prefix and in any case; a
            code of the driver (``17``) or of device management (``-8020``); a code of a message
            (``EE1015``); the id of a check, of a machine or a cluster; or lines of a log.

    Returns:
        The answers, the innermost cause first; none if nothing in it is known.
    """
    found = about(text.strip()) or about_function(text.strip())
    if found is not None:
        return [found]
    lines = text.splitlines()
    return Log(is_typed=len(lines) == 1).read(lines).entries()


@dataclass
class Log:
    """Answers about the lines of a log that were read so far.

    Lines that differ in numbers alone which are no codes, as in a log of many ranks, count once.

    Attributes:
        is_typed: True if a user typed the one line: each number in it is meant as a code.
    """

    is_typed: bool = False
    _found: dict[str, Entry] = field(default_factory=dict)
    _seen: set[str] = field(default_factory=set)
    _message: str = ""

    @property
    def has_text(self) -> bool:
        """True if any line was read that is not blank."""
        return any(map(str.strip, self._seen))

    def read(self, lines: Iterable[str]) -> Log:
        """Read lines, of any number; memory is bounded.

        Args:
            lines: The lines.

        Returns:
            Itself.
        """
        place = None
        for line in lines:
            last, place = place, _PLACE.search(line)
            if last is not None and place is None and _is_source(line, last.start()):
                continue  # the program's own words: names and texts of what may happen
            kind = _SIX_DIGITS.sub(_only_code, _CHANGING.sub("", line[:_LONGEST]))
            if kind in self._seen or CHATTER.match(line):
                continue
            if len(self._seen) < _MOST_SEEN:
                self._seen.add(kind)
            self._read(_ENDLESS.sub(r"\1", line[:_LONGEST]))
        return self

    def entries(self) -> list[Entry]:
        """Return the answers, the innermost cause first."""
        found = sorted(self._found.values(), key=order_of)
        named = [entry for entry in found if entry.component != GENERAL_KIND]
        if named and all(entry.rank == GENERAL for entry in named):
            named = [entry for entry in found if entry in named or _says_more(entry)]
        return named or found

    def _read(self, line: str) -> None:
        code = code_of_text(line)
        reason = about(str(code)) if code is not None else None
        if reason is not None:
            self._found.setdefault(reason.heading, reason)
        # The runtime's reason says more than the call that failed for it.
        for text in self._texts(line) if reason is None or reason.rank == GENERAL else ():
            said = text if self.is_typed else _with_words(text, line)
            self._found.setdefault(text.heading, said)
        for entry in _of_numbers(line):
            self._found.setdefault(entry.heading, entry)
        for sentence in filter(_REFUSAL.search, _END_OF_SENTENCE.split(line)):
            for entry in about_variables(sentence):
                self._found.setdefault(entry.heading, _with_words(entry, line))
        self._read_codes(line)

    def _texts(self, line: str) -> list[Entry]:
        """Explain the text of a line by what it reports, not by what it lists as possible."""
        if self._message and _ADVICE.match(line):
            return []
        reported = _HYPOTHESIS.sub(" ", line)
        goes_on = bool(self._message) and line[:1].isspace()
        found = list(_of_text(reported, is_failure=goes_on))
        codes = [*_of_numbers(reported), *(entry for _, entry in self._codes(reported))]
        if any(known.rank == SPECIFIC for known in codes):
            found = [entry for entry in found if entry.place < _first_of(_UNSPECIFIC)]
        if found or codes or reported == line:
            return found
        return list(_of_text(line, is_failure=goes_on))

    def _codes(self, line: str) -> Iterator[tuple[re.Match[str], Entry]]:
        """Yield the known codes of a line, without its sizes, addresses and the like."""
        for match in CODE.finditer(line):
            is_number = match[0].lstrip("-").isdigit()
            if is_number and not (self.is_typed or _FAILURE.search(line)):
                continue
            if is_number and _QUANTITY.search(line[: match.start()]):
                continue
            is_hex = match[0][:2] in {"0x", "0X"}
            is_short = is_hex and len(match[0].lstrip("0xX")) < _SHORTEST_ALONE
            if is_short and not _CONTEXT.search(line[: match.start()]):
                continue
            entry = about(match[0])
            if entry is not None:
                yield match, entry

    def _read_codes(self, line: str) -> None:
        has_code = False
        for match, entry in self._codes(line):
            has_code = True
            said = entry
            if match[0][0] in "EW" and entry.heading not in self._found:
                self._message = entry.heading
                said = _with_words(entry, _BEFORE_WORDS.sub("", line[match.end() :]))
            self._found.setdefault(entry.heading, said)
        if self._message and not has_code:
            self._go_on(line)

    def _go_on(self, line: str) -> None:
        """Read a line as a part of the last message: advice, or an indented line behind it."""
        message = self._found[self._message]
        advice = _ADVICE.match(line)
        if advice:
            self._found[self._message] = _with_words(message, advice[1])
        elif line[:1].isspace() and len(message.words) < _MOST_LINES:
            self._found[self._message] = _with_words(message, _BEFORE_WORDS.sub("", line))
        else:
            self._message = ""


def _is_source(line: str, column: int) -> bool:
    """Return True if a line behind a place in a traceback is one of the program.

    Args:
        line: The line.
        column: Column of the place.
    """
    return line[column : column + 2].isspace() or (column == 0 and bool(_STATEMENT.match(line)))


def _of_numbers(line: str) -> Iterator[Entry]:
    """Yield what the numbers in a line mean that count in one component only."""
    for pattern, component, base in _NUMBERED:
        match = pattern.search(line)
        entry = about(f"{component} {int(match[1], base)}") if match else None
        if entry is not None:
            yield entry


def _only_code(number: re.Match[str]) -> str:
    """Return a number that is a known code; nothing for a step or a size."""
    return number[0] if about(number[0]) is not None else ""


def _with_words(entry: Entry, words: str) -> Entry:
    words = words.strip().split("[FUNC:")[0]
    if not any(letter.isalpha() for letter in words):
        return entry
    short = words if len(words) <= _MOST_WORDS else f"{words[:_MOST_WORDS]}…"
    return replace(entry, words=(*entry.words, short))


def _of_text(line: str, *, is_failure: bool) -> Iterator[Entry]:
    """Explain the text of a line by the first pattern that fits it, as it is or in usual words.

    Texts of the general kind come behind all others, and need words for a failure, or a line
    that continues a message.
    """
    line = with_words(line)
    can_report = _can_report(
        line, is_failure or any(words.search(line) for words in (_FAILURE, _PROBLEM))
    )
    sentences = _END_OF_SENTENCE.split(line)
    found = [
        (known.kind == GENERAL_KIND, turn, _places()[key], key, match)
        for turn, texts in enumerate((sentences, map(_in_usual_words, sentences)))
        for sentence in texts
        for key, known in LINES.near(sentence)
        if can_report(known.kind) and (match := known.pattern.search(sentence))
    ]
    for _, turn, _, key, match in sorted(found, key=itemgetter(0, 1, 2))[:1]:
        yield from _of_match(key, LINES[key], match, turn)


def _can_report(line: str, is_failure: bool) -> Callable[[str], bool]:
    """Return a predicate of the kinds of texts that a line can report."""
    writers = [writer for _, writer, _ in WRITERS.matches(line)]
    return lambda kind: (
        is_failure if kind == GENERAL_KIND else all(kind in each.kinds for each in writers)
    )


def _in_usual_words(line: str) -> str:
    for _, wording in WORDINGS.near(line):
        line = wording.pattern.sub(wording.text, line)
    return line


def _of_match(key: str, known: Line, match: re.Match[str], turn: int) -> Iterator[Entry]:
    subject = next(filter(None, match.groups()), key.replace("_", " "))
    rank = SPECIFIC if known.consequence_in else TEXT
    component = known.consequence_in or known.kind
    entry = Entry.of(f"{subject} ({known.kind})", known.explanation, rank=rank, component=component)
    step = filled(str(entry.next_step).replace("%s", subject), match.string)
    place = 0 if known.consequence_in else _places()[key]  # of consequences the earliest is first
    meaning = filled(entry.meaning, match.string)
    vague = int(rank == TEXT and place >= _first_of(_UNSPECIFIC))
    yield replace(entry, meaning=meaning, next_step=step, place=place, vague=vague, turn=turn)
    function = about_function(subject)
    if function is not None:
        yield replace(function, rank=rank, component=component, place=place)


@functools.cache
def _places() -> Mapping[str, int]:
    return {key: place for place, key in enumerate(LINES)}


def _says_more(entry: Entry) -> bool:
    """Return True if a text says more than a code of an inner error."""
    return entry.rank == TEXT and entry.place < _first_of(_PARTS)


@functools.cache
def _first_of(title: str) -> int:
    """Return the place of the first text of a file."""
    return _places()[next(iter(LINES.groups[title]))]
