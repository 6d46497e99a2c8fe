"""Cases of evaluators of folders that must stay as they were."""

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
    """A desktop; arguments name its root as ``{root}``."""

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
            hostile(
                "folders in folders, more than are followed",
                _kept("a", then=lambda f: f.write("~/p" + "/d" * 300 + "/f", "x")),
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
            near_miss(
                "one part of the path may change, the other not",
                _kept("d/a.jpg", then=lambda f: f.write("~/p/d/a.jpg", "new")),
                path="~/p",
                but=["x/*.jpg", "d/*.png"],
            ),
            another_way(
                "folders in folders",
                _kept("a/" * 90 + "a", then=lambda f: f.write("~/p/b", "b")),
                path="~/p",
                but=["b"],
            ),
            another_way("named with a slash at the end", _kept("a", "d/b"), path="~/p/", but=[]),
            another_way(
                "named by its whole path, in capitals",
                _kept("a", top="~/FAX"),
                path="{root}/home/user/FAX/",
                but=[],
            ),
            another_way(
                "what may change is named with slashes around",
                _kept("a", then=lambda f: f.write("~/p/FAX/b", "b")),
                path="~/p",
                but=["/FAX/"],
            ),
        ),
        equivalent={
            "*: args.but: repeat": "one said twice is one",
            "as it was: args.but: drop": "there is nothing to drop",
            "what may change did: *b.jpg: *": "it may change",
            "a folder that may change: *out/deep/x: *": "it may change",
            "one below that may change: *d/a.jpg: *": "it may change",
            "what may change is named with slashes around: *FAX/b: *": "it may change",
        },
    ),
)
