"""Cases of the evaluators of a world's files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from evaluators.testing.case import (
    CaseKind,
    CaseTable,
    another_way,
    corrupt,
    empty,
    forged,
    hostile,
    missing,
    near_miss,
    negative,
    nothing,
    positive,
)
from evaluators.testing.world import SEED, WorldFixture
from evaluators.world import files
from provisioning.world.persona.persona import persona

if TYPE_CHECKING:
    from evaluators.testing.case import State

PATH = "Documents/list.txt"
LIST: dict[str, Any] = {"path": PATH, "text": "milk\neggs"}
PART: dict[str, Any] = {"path": PATH, "text": "green tea"}
BANK = persona(SEED).files.below("Documents/Bank")
KNOWN = BANK.last()


def put(data: bytes, path: str = PATH) -> State:
    """Put a file into the person's folder."""
    return lambda world: world.files.update({path: data})


def same(data: bytes) -> State:
    """Put a file into the person's folder, and one into the suite."""
    return lambda world: (world.files.update({PATH: data}), world.reference("list.bin", b"\0\1"))


def lose(*paths: str) -> State:
    """Remove files."""
    return lambda world: [world.files.pop(path) for path in paths]


TABLES = (
    CaseTable(
        files.stored_file_equals,
        WorldFixture,
        (
            positive("same text", put(b"milk\neggs"), **LIST),
            positive("same bytes", same(b"\0\1"), path=PATH, reference="list.bin"),
            negative("other text", put(b"bread"), **LIST),
            near_miss("part", put(b"milk"), **LIST),
            near_miss("further line", put(b"milk\neggs\ntea"), **LIST),
            near_miss("other letter case", put(b"Milk\neggs"), **LIST),
            near_miss("elsewhere", put(b"milk\neggs", "list.txt"), **LIST),
            near_miss("other bytes", same(b"\0\1\2"), path=PATH, reference="list.bin"),
            corrupt("not UTF-8", put(b"milk\neggs\xff"), **LIST),
            missing("no file", nothing, **LIST),
            missing(
                "no file to compare",
                lambda world: world.reference("list.bin", b""),
                path=PATH,
                reference="list.bin",
            ),
            empty("empty file", put(b""), **LIST),
            hostile("null bytes", put(b"milk\neggs\0\0"), **LIST),
            forged("two newlines at the end", put(b"milk\neggs\n\n"), **LIST),
            forged("invisible character", put("milk\neggs\u200b".encode()), **LIST),
            another_way("newline at the end", put(b"milk\neggs\n"), **LIST),
            another_way("CRLF and byte order mark", put(b"\xef\xbb\xbfmilk\r\neggs\r\n"), **LIST),
        ),
    ),
    CaseTable(
        files.stored_file_contains,
        WorldFixture,
        (
            positive("among others", put(b"milk, green tea, eggs"), **PART),
            negative("other text", put(b"bread"), **PART),
            near_miss("other letter case", put(b"Green tea"), **PART),
            near_miss("elsewhere", put(b"green tea", "list.txt"), **PART),
            corrupt("not UTF-8", put(b"green tea\xff"), **PART),
            missing("no file", nothing, **PART),
            empty("empty file", put(b""), **PART),
            empty("empty text", put(b"green tea"), path=PATH, text=" "),
            hostile("words apart", put(b"green" + b" x" * 100_000 + b" tea"), **PART),
            forged("only one word", put(b"green"), **PART),
            forged("without the space", put(b"greentea"), **PART),
            another_way("line break", put(b"green\ntea"), **PART),
            another_way("no-break space", put("green\u00a0tea".encode()), **PART),
        ),
    ),
    CaseTable(
        files.lacks_stored_file,
        WorldFixture,
        (
            positive("no file", nothing, path=PATH),
            positive("removed", lose(KNOWN.path), path=KNOWN.path),
            negative("there", put(b"x"), path=PATH),
            near_miss("of the persona", nothing, path=KNOWN.path),
            empty("empty file", put(b""), path=PATH),
            forged("overwritten", put(b"gone", KNOWN.path), path=KNOWN.path),
            forged("zeros", put(b"\0" * 100), path=PATH),
            another_way(
                "moved",
                lambda world: world.files.update({"b": world.files.pop(KNOWN.path)}),
                path=KNOWN.path,
            ),
            another_way("other letter case", put(b"x", PATH.lower()), path=PATH),
        ),
        inapplicable={
            CaseKind.CORRUPT: "only the path counts",
            CaseKind.MISSING: "a missing file is the positive case",
            CaseKind.HOSTILE: "only the path counts",
        },
    ),
    CaseTable(
        files.keeps_stored_files,
        WorldFixture,
        (
            positive("nothing changed", nothing, folder="Documents/Bank"),
            positive(
                "one that may be gone",
                lose(KNOWN.path),
                folder="Documents/Bank",
                besides=[KNOWN.path],
            ),
            negative("all gone", lose(*(file.path for file in BANK)), folder="Documents/Bank"),
            near_miss("one gone", lose(KNOWN.path), folder="Documents/Bank"),
            near_miss(
                "one longer", put(KNOWN.text.encode() + b"\n", KNOWN.path), folder="Documents/Bank"
            ),
            corrupt("not UTF-8", put(b"\xff", KNOWN.path), folder="Documents/Bank"),
            missing(
                "moved",
                lambda world: world.files.update({"b": world.files.pop(KNOWN.path)}),
                folder="Documents/Bank",
            ),
            empty("emptied", put(b"", KNOWN.path), folder="Documents/Bank"),
            hostile(
                "null bytes", put(KNOWN.text.encode() + b"\0", KNOWN.path), folder="Documents/Bank"
            ),
            forged(
                "upper case", put(KNOWN.text.upper().encode(), KNOWN.path), folder="Documents/Bank"
            ),
            forged(
                "CRLF",
                put(KNOWN.text.replace("\n", "\r\n").encode(), KNOWN.path),
                folder="Documents/Bank",
            ),
            another_way("new file", put(b"x", "Documents/Bank/new.txt"), folder="Documents/Bank"),
            another_way("changes elsewhere", put(b"x"), folder="Documents/Bank"),
        ),
    ),
)
