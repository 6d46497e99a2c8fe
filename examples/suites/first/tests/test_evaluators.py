"""Test cases of the suite's evaluator, without a machine."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from mesocosm.testing import (
    CaseTable,
    DesktopFixture,
    another_way,
    corrupt,
    empty,
    failures,
    forged,
    hostile,
    load_suite,
    missing,
    near_miss,
    negative,
    positive,
)

if TYPE_CHECKING:
    from mesocosm.testing import State

SUITE = load_suite(Path(__file__).parents[1])
PICTURE = bytes(range(256)) * 8
ARGS = {"path": "~/a.zip", "member": "a.png", "original": "/srv/a.png"}


def zipped(method: int = zipfile.ZIP_STORED, **members: bytes) -> bytes:
    """Return an archive; ``_`` in member names stands for a dot."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("_", "."), data)
    return out.getvalue()


def archive(data: bytes | None, original: bytes = PICTURE) -> State:
    def prepare(fixture: DesktopFixture) -> None:
        fixture.write("/srv/a.png", original)
        if data is not None:
            fixture.write("~/a.zip", data)

    return prepare


GOOD = zipped(a_png=PICTURE)
TABLE = CaseTable(
    SUITE.vocabulary.evaluators["desktop"]["zip_holds"].mark.function,
    DesktopFixture,
    (
        positive("the picture", archive(GOOD), **ARGS),
        negative("another picture", archive(zipped(a_png=b"x" * len(PICTURE))), **ARGS),
        near_miss("one byte less", archive(zipped(a_png=PICTURE[:-1])), **ARGS),
        near_miss("another name", archive(zipped(b_png=PICTURE)), **ARGS),
        corrupt("cut off", archive(GOOD[:-30]), **ARGS),
        corrupt("damaged content", archive(GOOD.replace(PICTURE, PICTURE[::-1])), **ARGS),
        missing("no archive", archive(None), **ARGS),
        missing(
            "no original", lambda f: f.write("~/a.zip", GOOD), **ARGS
        ).expect_error(),
        empty("an empty archive", archive(zipped()), **ARGS),
        hostile("a huge file", lambda f: (archive(None)(f), f.huge("~/a.zip")), **ARGS),
        forged("an empty file of that name", archive(zipped(a_png=b"")), **ARGS),
        forged("the picture, not packed", archive(PICTURE), **ARGS),
        another_way("compressed", archive(zipped(zipfile.ZIP_DEFLATED, a_png=PICTURE)), **ARGS),
        another_way("among others", archive(zipped(b_png=b"x", a_png=PICTURE)), **ARGS),
    ),
)  # fmt: skip


def test_the_evaluator_passes_its_cases() -> None:
    wrong = failures(TABLE)
    assert not wrong, "\n".join(["", *wrong])
