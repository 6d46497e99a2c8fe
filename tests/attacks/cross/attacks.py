"""Threat model of evaluators that compare values or files on a session's machines.

What the agent's user can do to what they read:

* **Write** one side, and often both: files of its own, settings of its own, its answer. A file of the
  system's, or one that the task put where root alone may write, it cannot change.
* **Mount**, **start** and **time** whatever it can do to files: both sides are looked at one after the
  other, and something else may be there at each look.
* **Point** one side at the other: a link to the very file that it is compared with.
* It cannot choose the places that are compared, nor write the answer but by its own action.

What stands against it: files are fetched by the probe's own operation, links refused, never waited for, read
within bounds, and compared on the host, in a process that is killed at its deadline. A place without a value
equals nothing. An agent that writes the right value where it belongs has done what was asked.
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
"""A file that every desktop has and root alone may write."""
_LINE = 1


def _place(path: str, line: int = 0) -> Json:
    return {"read": "file", "on": "desktop", "path": path, "line": line}


def _right(path: str) -> str:
    """Return the path of the right content of a target's path, see `techniques`."""
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
FILE = Target("a copied file", "copy.txt", f'cat {SYSTEM} > "$1"', _WRONG, _file)
VALUE = Target("a copied value", "value.txt", f'{_FIRST} > "$1"', _WRONG, _value)
LINE = Target(
    "a line among others",
    "lines.txt",
    f'{{ echo one; {_FIRST}; echo two; }} > "$1"',
    _WRONG,
    _among,
)
PICTURE = Target(
    "a copied picture",
    "copy.png",
    contents(file_builders.encoded(file_builders.noise(1))),
    contents(file_builders.encoded(file_builders.noise(2))),
    _picture,
)
TARGETS = (FILE, VALUE, LINE, PICTURE)

_HALF = base64.b64encode(file_builders.encoded(file_builders.noise(1))[:200]).decode()
_WHOLE = "the whole value is compared"
HOSTILE = (
    hostile(FAMILY, FILE, "a link to the other side", f'ln -s {SYSTEM} "$1"', "links are no files"),
    hostile(FAMILY, VALUE, "a link to the other value", f'ln -s {SYSTEM} "$1"', "links are no files"),
    hostile(
        FAMILY, FILE, "more than the other side", f'{{ cat {SYSTEM}; echo; }} > "$1"',
        "bytes are compared",
    ),
    hostile(FAMILY, FILE, "nothing", ': > "$1"', "an empty file equals nothing"),
    hostile(FAMILY, VALUE, "nothing", ': > "$1"', "an empty value equals nothing"),
    hostile(
        FAMILY, VALUE, "the value among others", f'{{ {_FIRST}; echo wrong; }} > "$1"', _WHOLE
    ),
    hostile(
        FAMILY, VALUE, "an invisible mark",
        f'{{ {_FIRST} | tr -d "\\n"; printf "\\342\\200\\213"; }} > "$1"', "marks of no width are letters",
    ),
    hostile(
        FAMILY, VALUE, "the value after a NUL", f'{{ printf "\\0"; {_FIRST}; }} > "$1"', _WHOLE
    ),
    hostile(
        FAMILY, LINE, "a longer line", f'{{ printf x; {_FIRST}; }} > "$1"', "whole lines are compared"
    ),
    hostile(
        FAMILY, LINE, "too many lines", f'{{ yes wrong | head -n 400000; {_FIRST}; }} > "$1"',
        "texts are read up to 1 MiB",
    ),
    hostile(
        FAMILY, PICTURE, "half a picture", f'echo {_HALF} | base64 -d > "$1"',
        "what cannot be decoded is no picture",
    ),
)  # fmt: skip

ATTACKS = (*generate(ThreatModel(FAMILY, TARGETS, WRITES, MOUNTS, TIMES)), *HOSTILE)
HONEST = tuple(honest(FAMILY, target) for target in TARGETS)
