"""Only packages with names similar to the reference phone's are reported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from controller.unfamiliar import misspelt_packages
from controller.wiring import open_suite

if TYPE_CHECKING:
    from pathlib import Path

TASK = """\
id: one
instruction: Open it.
roles: {phone: phone}
graph:
  - {id: open, on: phone, check: app_in_front, with: {package: PACKAGE}}
oracle:
  - {on: phone, do: open_app, with: {name: Tasks}}
  - {wait_for: {on: phone, check: app_in_front, with: {package: PACKAGE}}}
"""


def notes(folder: Path, package: str) -> list[str]:
    (folder / "one.yaml").write_text(TASK.replace("PACKAGE", package))
    index = 'name: mine\nversion: "1"\ndescription: d\ntasks: [one.yaml]\n'
    (folder / "suite.yaml").write_text(index)
    return misspelt_packages(open_suite(str(folder)))


def test_package_similar_to_a_known_one_is_noted_once(tmp_path: Path) -> None:
    (line,) = notes(tmp_path, "com.google.android.tasks")
    assert line.startswith("one: ")
    assert "'com.google.android.tasks'" in line
    assert "Did you mean 'com.google.android.apps.tasks'?" in line


def test_known_and_unrelated_packages_are_not_noted(tmp_path: Path) -> None:
    for package in ("com.google.android.apps.tasks", "org.example.weather", "com.android.vending"):
        assert notes(tmp_path, package) == []
