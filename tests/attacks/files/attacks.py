"""Threat model of evaluators of single files, folders, texts, structured data and archives.

What the agent's user can do to what they read:

* **Write** anything anywhere below the home folder, ``/tmp`` and ``/var/tmp``: links, pipes, files
  without end, files in any format.
* **Mount** nothing that others see but FUSE, by a setuid helper, where root may not look; anything in
  name spaces of its own.
* **Start** programs that exchange, lock or lease files at the very moment they are looked at.
* **Time** what it does by inotify: it sees each open and read of its folders.
* It cannot write where root alone may, change the probe's view of the file system, or run code in it.

What stands against it: files are opened piece by piece, links refused, never waited for, read within
bounds; what cannot be read on a desktop that is in order is unmet.
"""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING

from evaluators.graph.outcome import Call
from tests.attacks.model import ShellAttack
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

if TYPE_CHECKING:
    from provisioning.protocols import Json
    from tests.attacks.arenas import Arena

FAMILY = "files"
SECRET = "the right words, 8d1f0c37"  # noqa: S105 - of the evaluators


def _zip(*members: tuple[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, text in members:
            archive.writestr(zipfile.ZipInfo(name), text)
    return file.getvalue()


def _text(path: str) -> Call:
    return Call("text", "file_text_equals", {"path": path, "text": SECRET})


def _value(path: str) -> Call:
    args: dict[str, Json] = {"path": path, "pointer": "/window/width", "value": 800}
    return Call("value", "json_value_equals", args)


def _member(path: str) -> Call:
    args = {"path": path, "member": "a.txt", "text": SECRET}
    return Call("member", "archive_member_equals", args)


def _copy(path: str) -> Call:
    return Call("names", "directory_lists", {"path": path, "names": ["a.txt", "b.txt"]})


def _is_read(_arena: Arena, output: str) -> None:
    assert SECRET in output, output


TEXT = Target("a text", "report.txt", contents(SECRET), contents("wrong"), _text)
DATA = Target(
    "structured data",
    "app.json",
    contents('{"window": {"width": 800}}'),
    contents('{"window": {"width": 80}}'),
    _value,
)
ARCHIVE = Target(
    "an archive",
    "out.zip",
    contents(_zip(("a.txt", SECRET))),
    contents(_zip(("a.txt", "wrong"))),
    _member,
)
TREE = Target(
    "a folder",
    "inbox",
    'mkdir "$1"; echo a > "$1/a.txt"; echo b > "$1/b.txt"',
    'mkdir "$1"; echo a > "$1/a.txt"',
    _copy,
    inner="a.txt",
)
_FILES = ThreatModel(FAMILY, (TEXT, DATA, ARCHIVE), WRITES, MOUNTS, TIMES)
# The names in a folder are what counts of it: nothing of its files is read.
_TREES = ThreatModel(FAMILY, (TREE,), (WRITES[0], WRITES[1]), MOUNTS, ())

_TWICE = json.dumps({"window": {"width": 80}})[:-1] + ', "window": {"width": 800}}'
HOSTILE = (
    hostile(FAMILY, TEXT, "another encoding", contents(SECRET.encode("utf-16")), "UTF-8 alone"),
    hostile(
        FAMILY, TEXT, "hidden letters", contents(SECRET + "\0\u200b"), "compared letter by letter"
    ),
    hostile(FAMILY, DATA, "a key twice", contents(_TWICE), "a key that occurs twice is no data"),
    hostile(
        FAMILY,
        DATA,
        "endless nesting",
        'head -c 900000 /dev/zero | tr "\\0" "[" > "$1"',
        "nesting is bounded",
    ),
    hostile(
        FAMILY,
        ARCHIVE,
        "a member twice",
        contents(_zip(("a.txt", "wrong"), ("./a.txt", SECRET))),
        "a member that occurs twice is none",
    ),
    hostile(
        FAMILY,
        ARCHIVE,
        "a link as a member",
        f"d=$(mktemp -d); printf %s '{SECRET}' > $d/b; ln -s b $d/a.txt; tar -C $d -cf \"$1\" a.txt b",
        "links are no files",
    ),
)
_OUTSIDE = "/tmp/desk/report.txt"
_LINKED_OUTSIDE = ShellAttack(
    name="a linked folder outside the home folder",
    family=FAMILY,
    prepare="mkdir -p /tmp/desk; echo wrong > /tmp/desk/report.txt",
    script=f"mkdir -p beside; printf %s '{SECRET}' > beside/report.txt; mv /tmp/desk /tmp/desk.aside; "
    'ln -s "$HOME/beside" /tmp/desk; cat /tmp/desk/report.txt',
    defence="outside the home folder only links of root's are followed on the way",
    calls=(_text(_OUTSIDE),),
    evidence=_is_read,
)
ATTACKS: tuple[ShellAttack, ...] = (
    *generate(_FILES),
    *generate(_TREES),
    *HOSTILE,
    _LINKED_OUTSIDE,
)
HONEST = tuple(honest(FAMILY, target) for target in (TEXT, DATA, ARCHIVE, TREE))
