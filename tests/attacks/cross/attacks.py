"""Threat model of evaluators that compare values or files on a session's machines.

What the agent's user can do to their input:

* **Write** one side, and often both: its own files, its own settings, its answer. It cannot change
  a system file, or one that the task stored where only root may write.
* **Mount**, **start**, and **time** whatever it can do to files: the two sides are read one after
  the other, and can be swapped at each access.
* **Point** one side at the other: a link to the file that it is compared with.
* It cannot choose the locations that are compared, nor write the answer except by its own action.

Defences: the probe's own operation fetches files without following links or blocking, and limits
their size; they are compared on the host, in a process that is killed at its deadline. A location
without a value is never equal. An agent that writes the correct value to the correct location has
done the task.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from evaluators.graph.outcome import Call
from tests.attacks.techniques import (
    MOUNTS,
    TIMES,
    WRITES,
    Target,
    ThreatModel,
    contents,
    generate,
    honest,
    hostile,
)
from tests.evaluator_cases import file_builders

if TYPE_CHECKING:
    from provisioning.protocols import Json

FAMILY = "cross"
SYSTEM = "/usr/lib/os-release"
"""A file that every desktop has and only root may write."""
_LINE = 1


def _place(path: str, line: int = 0) -> Json:
    return {"read": "file", "on": "desktop", "path": path, "line": line}


def _right(path: str) -> str:
    """Return the path of the correct content for a target's path, see `techniques`."""
    return f"{path.rpartition('/')[0]}.right"


def _file(path: str) -> Call:
    sides = {"left_on": "desktop", "left": path, "right_on": "desktop", "right": SYSTEM}
    return Call("file", "files_equal", sides)


def _value(path: str) -> Call:
    return Call("value", "values_equal", {"left": _place(path), "right": _place(SYSTEM, _LINE)})


def _among(path: str) -> Call:
    args: dict[str, Json] = {"value": _place(SYSTEM, _LINE), "file": _place(path)}
    return Call("line", "value_among_lines", args)


def _picture(path: str) -> Call:
    sides = {"left_on": "desktop", "left": path, "right_on": "desktop", "right": _right(path)}
    return Call("picture", "pictures_equal", sides)


_WRONG = contents("wrong")
_FIRST = f"head -n 1 {SYSTEM}"
FILE = Target("copied file", "copy.txt", f'cat {SYSTEM} > "$1"', _WRONG, _file)
VALUE = Target("copied value", "value.txt", f'{_FIRST} > "$1"', _WRONG, _value)
LINE = Target(
    "line among others",
    "lines.txt",
    f'{{ echo one; {_FIRST}; echo two; }} > "$1"',
    _WRONG,
    _among,
)
PICTURE = Target(
    "copied picture",
    "copy.png",
    contents(file_builders.encoded(file_builders.noise(1))),
    contents(file_builders.encoded(file_builders.noise(2))),
    _picture,
)
TARGETS = (FILE, VALUE, LINE, PICTURE)

_HALF = base64.b64encode(file_builders.encoded(file_builders.noise(1))[:200]).decode()
_COMPLETE = "the value must match completely"
HOSTILE = (
    hostile(
        FAMILY, FILE, "symbolic link to the other side", f'ln -s {SYSTEM} "$1"',
        "symbolic links do not count as files",
    ),
    hostile(
        FAMILY, VALUE, "symbolic link to the other value", f'ln -s {SYSTEM} "$1"',
        "symbolic links do not count as files",
    ),
    hostile(
        FAMILY, FILE, "longer than the other side", f'{{ cat {SYSTEM}; echo; }} > "$1"',
        "bytes are compared",
    ),
    hostile(FAMILY, FILE, "empty", ': > "$1"', "an empty file is never equal"),
    hostile(FAMILY, VALUE, "empty", ': > "$1"', "an empty value is never equal"),
    hostile(
        FAMILY, VALUE, "value among others", f'{{ {_FIRST}; echo wrong; }} > "$1"', _COMPLETE
    ),
    hostile(
        FAMILY, VALUE, "zero-width character",
        f'{{ {_FIRST} | tr -d "\\n"; printf "\\342\\200\\213"; }} > "$1"',
        "zero-width characters count",
    ),
    hostile(
        FAMILY, VALUE, "value after a NUL", f'{{ printf "\\0"; {_FIRST}; }} > "$1"', _COMPLETE
    ),
    hostile(
        FAMILY, LINE, "longer line", f'{{ printf x; {_FIRST}; }} > "$1"',
        "lines must match completely",
    ),
    hostile(
        FAMILY, LINE, "too many lines", f'{{ yes wrong | head -n 400000; {_FIRST}; }} > "$1"',
        "texts are read up to 1 MiB",
    ),
    hostile(
        FAMILY, PICTURE, "truncated picture", f'echo {_HALF} | base64 -d > "$1"',
        "a picture that cannot be decoded is unmet",
    ),
)  # fmt: skip

ATTACKS = (*generate(ThreatModel(FAMILY, TARGETS, WRITES, MOUNTS, TIMES)), *HOSTILE)
HONEST = tuple(honest(FAMILY, target) for target in TARGETS)
