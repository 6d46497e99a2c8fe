"""Cases of evaluators of folders that must stay as they were."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evaluators.desktop import unchanged
from evaluators.desktop.unchanged import reference_of
from evaluators.testing.case import (
    CaseTable,
    another_way,
    corrupt,
    empty,
    forged,
    hostile,
    missing,
    near_miss,
    negative,
    positive,
)
from evaluators.testing.desktop import DesktopFixture

if TYPE_CHECKING:
    from collections.abc import Callable

KEPT = reference_of("~/p", "/home/user")


def _kept(*names: str, then: Callable[[DesktopFixture], object] = lambda _: None) -> Callable:  # type: ignore[type-arg]
    """Write files into the folder and its reference, and change the folder."""

    def state(fixture: DesktopFixture) -> None:
        for top in ("~/p", KEPT):
            fixture.folder_at(top)
            for name in names:
                fixture.write(f"{top}/{name}", name)
        then(fixture)

    return state


def _link_to_reference(fixture: DesktopFixture) -> None:
    fixture.write(f"{KEPT}/a", "a")
    fixture.link("~/p", KEPT)


def _link_for_file(fixture: DesktopFixture) -> None:
    fixture.at("~/p/a").unlink()
    fixture.write("~/x", "a")
    fixture.link("~/p/a", "~/x")


def _folder_for_file(fixture: DesktopFixture) -> None:
    fixture.at("~/p/a").unlink()
    fixture.folder_at("~/p/a")


TABLES = (
    CaseTable(
        unchanged.nothing_else_changed,
        DesktopFixture,
        (
            positive("as it was", _kept("a", "d/b", ".h"), path="~/p", but=[]),
            positive(
                "what may change did",
                _kept("a", "b.jpg", then=lambda f: f.write("~/p/b.jpg", "new")),
                path="~/p",
                but=["*.jpg"],
            ),
            positive(
                "a folder that may change",
                _kept("a", then=lambda f: f.write("~/p/out/deep/x", "x")),
                path="~/p",
                but=["out"],
            ),
            negative(
                "another content",
                _kept("a", then=lambda f: f.write("~/p/a", "b")),
                path="~/p",
                but=[],
            ),
            near_miss(
                "one more beside what may change",
                _kept("a", then=lambda f: f.write("~/p/b.png", "x")),
                path="~/p",
                but=["*.jpg"],
            ),
            near_miss(
                "a name that may change, in a folder below",
                _kept("d/a.jpg", then=lambda f: f.at("~/p/d/a.jpg").unlink()),
                path="~/p",
                but=["*.jpg"],
            ),
            positive(
                "one below that may change",
                _kept("d/a.jpg", then=lambda f: f.at("~/p/d/a.jpg").unlink()),
                path="~/p",
                but=["*/*.jpg"],
            ),
            near_miss(
                "one less",
                _kept("a", "b", then=lambda f: f.at("~/p/a").unlink()),
                path="~/p",
                but=["b"],
            ),
            near_miss(
                "the name begins like the folder that may change",
                _kept(then=lambda f: f.write("~/p/output", "x")),
                path="~/p",
                but=["out"],
            ),
            near_miss(
                "another case", _kept(then=lambda f: f.write("~/p/A", "x")), path="~/p", but=["a"]
            ),
            corrupt(
                "no reference", lambda f: f.write("~/p/a", "a"), path="~/p", but=[]
            ).expect_error(),
            missing(
                "the folder is gone",
                lambda f: f.write(f"{KEPT}/a", "a"),
                path="~/p",
                but=["*"],
            ),
            empty("two empty folders", _kept(), path="~/p", but=[]).expect_met(),
            empty("emptied", _kept("a", then=lambda f: f.at("~/p/a").unlink()), path="~/p", but=[]),
            hostile(
                "a link to the reference",
                _link_to_reference,
                path="~/p",
                but=[],
            ),
            hostile(
                "a file became a link to the same content",
                _kept("a", then=_link_for_file),
                path="~/p",
                but=[],
            ),
            hostile(
                "a huge file is there",
                _kept("a", then=lambda f: f.huge("~/p/huge")),
                path="~/p",
                but=["*"],
            ),
            forged(
                "same size, another content",
                _kept("abc", then=lambda f: f.write("~/p/abc", "abd")),
                path="~/p",
                but=[],
            ),
            forged(
                "a folder for a file",
                _kept("a", then=_folder_for_file),
                path="~/p",
                but=[],
            ),
            another_way(
                "written again with the same content and other rights",
                _kept("a", then=lambda f: f.write("~/p/a", "a", 0o600)),
                path="~/p",
                but=[],
            ),
            another_way("named with a slash at the end", _kept("a", "d/b"), path="~/p/", but=[]),
        ),
    ),
)
