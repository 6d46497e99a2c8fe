"""Cases that are common to all evaluators of documents, derived from a file that meets the evaluator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING

from evaluators.testing.case import corrupt, empty, hostile, missing, near_miss, nothing
from tests.evaluator_cases.file_builders import bombed, broken, doubled, with_entities, zipped

if TYPE_CHECKING:
    from evaluators.testing.case import Case, State
    from evaluators.testing.machine import MachineFixture
    from provisioning.protocols import Json

Make = Callable[[], bytes]

PARTS = {
    "docx": "word/document.xml",
    "xlsx": "xl/workbook.xml",
    "pptx": "ppt/presentation.xml",
    "odt": "content.xml",
    "ods": "content.xml",
    "odp": "content.xml",
}
"""The part of each format that every document needs."""


def at(path: str, make: Make) -> State:
    """Return a state with a file at a path."""
    return lambda fixture: fixture.write(path, make())


def document_cases(
    good: Mapping[str, Make],
    bare: Mapping[str, Make],
    args: Mapping[str, Json],
    *,
    bomb: bool = False,
) -> tuple[Case, ...]:
    """Return the cases of a missing, corrupt, empty and hostile document.

    Args:
        good: files that meet the evaluator, by format; the first one is used for most cases.
        bare: empty documents of the same formats.
        args: the evaluator's arguments; their ``path`` is the path of the file.
        bomb: whether to include an archive that unpacks to more than the limit, which takes a
            second.
    """
    path = str(args["path"])
    cases: list[Case] = []
    for form, make in good.items():
        part = PARTS[form]
        cases += [
            corrupt(f"{form}: half of the file", at(path, partial(_half, make)), **args),
            corrupt(f"{form}: truncated XML", at(path, partial(_broken, make, part)), **args),
            corrupt(f"{form}: wrong checksum", at(path, partial(_flipped, make)), **args),
            empty(f"{form}: no content", at(path, bare[form]), **args),
            hostile(f"{form}: entities", at(path, partial(_entities, make, part)), **args),
            hostile(f"{form}: duplicate part", at(path, partial(_doubled, make, part)), **args),
        ]
        if bomb and form == next(iter(good)):
            cases.append(
                hostile(f"{form}: decompression bomb", at(path, partial(_bombed, make)), **args)
            )
    first = next(iter(good.values()))
    return (*cases, *_file_cases(first, args), *_link_cases(first, args))


def picture_cases(make: Make, args: Mapping[str, Json], key: str = "path") -> tuple[Case, ...]:
    """Return the cases of a missing, corrupt, empty and hostile picture or PDF.

    Args:
        make: a file that meets the evaluator.
        args: the evaluator's arguments.
        key: the argument with the path of the file.
    """
    path = str(args[key])
    return (
        corrupt("half of the file", at(path, partial(_half, make)), **args),
        corrupt("valid start followed by noise", at(path, partial(_noisy, make)), **args),
        empty("zero bytes", at(path, lambda: b""), **args),
        *_file_cases(make, args, key),
        *_link_cases(make, args, key),
    )


def _file_cases(make: Make, args: Mapping[str, Json], key: str = "path") -> tuple[Case, ...]:
    path = str(args[key])
    return (
        missing("no file", nothing, **args),
        missing("folder instead of a file", lambda fixture: fixture.folder_at(path), **args),
        empty("empty file", at(path, lambda: b""), **args),
        near_miss("matching file in a different folder", at(_beside(path), make), **args),
        corrupt("plain text file", at(path, lambda: b"hello " * 99), **args),
        corrupt("archive that is not a document", at(path, lambda: zipped({"a": b"b"})), **args),
    )


def _link_cases(make: Make, args: Mapping[str, Json], key: str = "path") -> tuple[Case, ...]:
    path = str(args[key])
    folder, _, name = path.rpartition("/")

    def link(fixture: MachineFixture) -> None:
        fixture.write("/srv/out", make())
        fixture.link(path, "/srv/out")

    def way(fixture: MachineFixture) -> None:
        fixture.write(f"/srv/out/{name}", make())
        fixture.link(f"{folder}/way", "/srv/out")

    return (
        hostile("link to the matching file", link, **args),
        hostile("linked folder within the path", way, **{**args, key: f"{folder}/way/{name}"}),
        hostile("file over the size limit", lambda fixture: fixture.huge(path), **args),
    )


def _beside(path: str) -> str:
    folder, _, name = path.rpartition("/")
    return f"{folder}/elsewhere/{name}"


@cache
def _half(make: Make) -> bytes:
    data = make()
    return data[: len(data) // 2]


@cache
def _broken(make: Make, part: str) -> bytes:
    return broken(make(), part)


@cache
def _entities(make: Make, part: str) -> bytes:
    return with_entities(make(), part)


@cache
def _doubled(make: Make, part: str) -> bytes:
    return doubled(make(), part)


@cache
def _bombed(make: Make) -> bytes:
    return bombed(make())


@cache
def _flipped(make: Make) -> bytes:
    """Corrupt the checksum of the last member in both places of an archive."""
    data = bytearray(make())
    last = data.rfind(b"PK\x01\x02")
    data[last + 16] ^= 0xFF
    return bytes(data)


@cache
def _noisy(make: Make) -> bytes:
    data = make()
    return data[:40] + bytes(reversed(data[40:]))
