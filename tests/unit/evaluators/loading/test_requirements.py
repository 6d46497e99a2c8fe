"""Suites name what the images of their desktops must have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from evaluators.catalogue import Vocabulary, builtin_evaluators
from evaluators.loading.suite import load_suite
from foundation.errors import SpecError
from provisioning.resource import ResourceSpec

if TYPE_CHECKING:
    from pathlib import Path

    from evaluators.loading.suite import Suite

TASK = """\
schema_version: 2
id: one
instruction: Do it.
roles: {desktop: desktop, other: {kind: desktop, image: debian-12}, phone: phone}
graph: [{id: done, on: desktop, check: file_exists, with: {path: ~/a}}]
oracle: [{do: complete}]
"""


def load(folder: Path, requires: str = "") -> Suite:
    (folder / "one.yaml").write_text(TASK)
    text = "schema_version: 2\nname: demo\nversion: '1'\ndescription: x\ntasks: [one.yaml]\n"
    (folder / "suite.yaml").write_text(text + requires)
    return load_suite(folder, Vocabulary(builtin_evaluators()))


def test_an_image_is_that_of_desktops_that_name_none(tmp_path: Path) -> None:
    suite = load(tmp_path, "requires: {image: paint}\n")
    assert dict(suite.tasks[0].roles) == {
        "desktop": ResourceSpec("desktop", "paint"),
        "other": ResourceSpec("desktop", "debian-12"),
        "phone": ResourceSpec("phone"),
    }


def test_applications_are_required_with_versions(tmp_path: Path) -> None:
    suite = load(tmp_path, "requires: {app: [gimp >= 2.10, mtpaint]}\n")
    assert list(map(str, suite.requires)) == ["gimp >= 2.10", "mtpaint"]
    assert list(map(str, load(tmp_path, "requires: {app: vim}\n").requires)) == ["vim"]


def test_what_a_suite_requires_is_part_of_its_digest(tmp_path: Path) -> None:
    texts = (
        "",
        "requires: {image: paint}\n",
        "requires: {app: vim}\n",
        "requires: {app: vim = 9}\n",
    )
    assert len({load(tmp_path, text).digest for text in texts}) == len(texts)


def test_a_requirement_that_is_not_understood_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"suite\.yaml:6: .*'gimp > 2' is not a package"):
        load(tmp_path, "requires: {app: gimp > 2}\n")
