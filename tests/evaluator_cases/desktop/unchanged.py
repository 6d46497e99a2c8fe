"""Cases of the evaluators of folders that must not change."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from evaluators.desktop import unchanged
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
    from collections.abc import Callable, Mapping

    from evaluators.testing.case import State
    from provisioning.protocols import Json


class _Fixture(DesktopFixture):
    """A desktop whose root replaces ``{root}`` in arguments."""

    def arguments(self, args: Mapping[str, Json]) -> Mapping[str, Json]:
        """Fill in the root."""
        return {
            name: value.replace("{root}", str(self.folder)) if isinstance(value, str) else value
            for name, value in args.items()
        }


def _reference_of(path: str) -> str:
    return f"/root/.reference/{hashlib.sha256(path.encode()).hexdigest()[:32]}"


KEPT = _reference_of("~/p")


def _kept(
    *names: str, then: Callable[[DesktopFixture], object] = lambda _: None, top: str = "~/p"
) -> State:
    """Write files into the folder and its reference, and change the folder."""

    def state(fixture: DesktopFixture) -> None:
        for folder in (top, _reference_of(top)):
            fixture.folder_at(folder)
            for name in names:
                fixture.write(f"{folder}/{name}", name)
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
        _Fixture,
        (
            positive("unchanged", _kept("a", "d/b", ".h"), path="~/p", but=[]),
            positive(
                "allowed file changed",
                _kept("a", "b.jpg", then=lambda f: f.write("~/p/b.jpg", "new")),
                path="~/p",
                but=["*.jpg"],
            ),
            positive(
                "allowed folder changed",
                _kept("a", then=lambda f: f.write("~/p/out/deep/x", "x")),
                path="~/p",
                but=["out"],
            ),
            negative(
                "different content",
                _kept("a", then=lambda f: f.write("~/p/a", "b")),
                path="~/p",
                but=[],
            ),
            near_miss(
                "additional file next to allowed files",
                _kept("a", then=lambda f: f.write("~/p/b.png", "x")),
                path="~/p",
                but=["*.jpg"],
            ),
            near_miss(
                "allowed name in a subfolder",
                _kept("d/a.jpg", then=lambda f: f.at("~/p/d/a.jpg").unlink()),
                path="~/p",
                but=["*.jpg"],
            ),
            positive(
                "allowed file in a subfolder",
                _kept("d/a.jpg", then=lambda f: f.at("~/p/d/a.jpg").unlink()),
                path="~/p",
                but=["*/*.jpg"],
            ),
            near_miss(
                "one missing file",
                _kept("a", "b", then=lambda f: f.at("~/p/a").unlink()),
                path="~/p",
                but=["b"],
            ),
            near_miss(
                "name that begins like the allowed folder",
                _kept(then=lambda f: f.write("~/p/output", "x")),
                path="~/p",
                but=["out"],
            ),
            near_miss(
                "different letter case",
                _kept(then=lambda f: f.write("~/p/A", "x")),
                path="~/p",
                but=["a"],
            ),
            corrupt(
                "no reference", lambda f: f.write("~/p/a", "a"), path="~/p", but=[]
            ).expect_error(),
            missing(
                "folder deleted",
                lambda f: f.write(f"{KEPT}/a", "a"),
                path="~/p",
                but=["*"],
            ),
            empty("two empty folders", _kept(), path="~/p", but=[]).expect_met(),
            empty(
                "all files deleted",
                _kept("a", then=lambda f: f.at("~/p/a").unlink()),
                path="~/p",
                but=[],
            ),
            hostile(
                "link to the reference",
                _link_to_reference,
                path="~/p",
                but=[],
            ),
            hostile(
                "file replaced by a link to the same content",
                _kept("a", then=_link_for_file),
                path="~/p",
                but=[],
            ),
            hostile(
                "additional huge file",
                _kept("a", then=lambda f: f.huge("~/p/huge")),
                path="~/p",
                but=["*"],
            ),
            hostile(
                "nested deeper than the limit",
                _kept("a", then=lambda f: f.write("~/p" + "/d" * 300 + "/f", "x")),
                path="~/p",
                but=["*"],
            ),
            forged(
                "same size, different content",
                _kept("abc", then=lambda f: f.write("~/p/abc", "abd")),
                path="~/p",
                but=[],
            ),
            forged(
                "folder instead of a file",
                _kept("a", then=_folder_for_file),
                path="~/p",
                but=[],
            ),
            another_way(
                "rewritten with the same content and different permissions",
                _kept("a", then=lambda f: f.write("~/p/a", "a", 0o600)),
                path="~/p",
                but=[],
            ),
            near_miss(
                "only one part of the path is allowed",
                _kept("d/a.jpg", then=lambda f: f.write("~/p/d/a.jpg", "new")),
                path="~/p",
                but=["x/*.jpg", "d/*.png"],
            ),
            another_way(
                "deeply nested folders",
                _kept("a/" * 90 + "a", then=lambda f: f.write("~/p/b", "b")),
                path="~/p",
                but=["b"],
            ),
            another_way("path with a trailing slash", _kept("a", "d/b"), path="~/p/", but=[]),
            another_way(
                "absolute path in upper case",
                _kept("a", top="~/FAX"),
                path="{root}/home/user/FAX/",
                but=[],
            ),
            another_way(
                "allowed pattern with surrounding slashes",
                _kept("a", then=lambda f: f.write("~/p/FAX/b", "b")),
                path="~/p",
                but=["/FAX/"],
            ),
        ),
        equivalent={
            "*: args.but: repeat": "a repeated pattern has no effect",
            "unchanged: args.but: drop": "there is nothing to drop",
            "allowed file changed: *b.jpg: *": "it is allowed to change",
            "allowed folder changed: *out/deep/x: *": "it is allowed to change",
            "allowed file in a subfolder: *d/a.jpg: *": "it is allowed to change",
            "allowed pattern with surrounding slashes: *FAX/b: *": "it is allowed to change",
        },
    ),
)
