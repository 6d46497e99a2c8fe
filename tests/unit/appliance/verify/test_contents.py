"""The contents of a machine, read from this host and from an in-memory phone."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import pytest

from appliance.verify.contents import PROVIDERS, Contents, read_contents
from controller.actions.phone_shell import PACKAGES
from controller.actions.setup_phone import add_contact, add_message
from foundation.errors import ActionError
from foundation.process import CommandResult, run
from foundation.settings import REPOSITORY
from images.distribution import DISTRIBUTIONS
from images.phone.device.apps.directory import APPS
from provisioning.fake import FakeDesktop, FakePhone

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from provisioning.protocols import Machine


class HostDesktop:
    """Runs the commands on this host, as a guest would."""

    info = FakeDesktop().info

    def run(self, argv: Sequence[str], *, timeout_s: float) -> CommandResult:
        return run(argv, timeout_s=timeout_s)


def test_desktop_contents_are_programs_packages_and_commands() -> None:
    contents = read_contents(cast("Machine", HostDesktop()))
    assert {"sh", "ls"} <= set(contents.commands)
    assert contents.packages["dash"][0].isdigit()
    assert all(" " not in key for key in contents.programs)
    page = contents.page()
    assert page.startswith("# What is on desktop:fake\n")
    assert "## Commands" in page
    assert contents.digest not in page
    assert read_page(page) == replace(contents, digest="")


def test_programs_name_their_package() -> None:
    contents = Contents(
        "x",
        {"gedit": "Text Editor", "firefox": "Firefox"},
        {"gedit": "gedit"},
        {"gedit": "41.0-3"},
        fonts=("DejaVu Sans",) * 20,
    )
    assert (
        "| `gedit` | Text Editor | gedit 41.0-3 |\n| `firefox` | Firefox | - |" in contents.page()
    )
    assert read_page(contents.page()) == contents


def test_phone_page_shows_packages_and_initial_content() -> None:
    phone = FakePhone()
    add_contact(phone, "Ada Lovelace", "+44 20 1234")
    add_message(phone, "555", "Where are you?")
    contents = read_contents(phone)
    assert contents.programs["com.android.settings"] == "Settings"
    assert contents.records["content://sms"] == ("address=555, type=1, body=Where are you?",)
    assert contents.records["content://call_log/calls"] == ()
    assert "- empty" in contents.page()
    assert contents.to_dict()["fonts"] == []


def test_labels_are_those_of_the_reference_phone() -> None:
    listed = {app.label: app.package for app in APPS.values() if app.is_listed}
    assert listed == PACKAGES


def test_unresponsive_machine_is_reported() -> None:
    with pytest.raises(ActionError, match="/bin/sh failed"):
        read_contents(FakeDesktop())


def test_empty_machine_has_a_short_page() -> None:
    assert Contents("x").page() == "# What is on x\n"


COMMITTED = sorted((REPOSITORY / "docs/contents").glob("*.md"))


def read_page(text: str) -> Contents:
    """Return the content of a page."""
    head, *parts = text.split("\n## ")
    fields: dict[str, Any] = {"machine": head.removeprefix("# What is on ").strip(), "records": {}}
    for part in parts:
        title, body = part.split("\n", 1)
        cells = [re.split(r" ?\| ?", line)[1:-1] for line in body.splitlines()[3:] if "|" in line]
        match title:
            case "Programs":
                fields["programs"] = {row[0].strip("`"): row[1] for row in cells}
                owned = {
                    row[0].strip("`"): row[2].split()[0]
                    for row in cells
                    if row[2:] and row[2] != "-"
                }
                fields["owners"] = owned
            case "Fonts" | "Commands":
                names = " ".join(body.split()).replace("`", "").split(", ")
                fields[title.lower()] = tuple(names)
            case "Packages":
                lines = [line.split(" ") for line in body.splitlines() if " " in line]
                fields["packages"] = dict(lines)
            case _:
                rows = tuple(line.removeprefix("- ") for line in body.splitlines() if line)
                fields["records"][title.strip("`")] = () if rows == ("empty",) else rows
    return Contents(**fields)


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_committed_pages_match_the_output_of_the_command(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    contents = read_page(text)
    assert contents.page() == text
    assert len(contents.programs) >= 10
    if contents.records:
        assert set(contents.records) == set(PROVIDERS)
        assert set(PACKAGES.values()) <= set(contents.programs)
    else:
        assert set(contents.owners) <= set(contents.programs)
        assert all(contents.packages[owner] for owner in contents.owners.values())
        assert {"python3", "git", "gsettings"} <= set(contents.commands)


def test_every_distribution_and_the_phone_have_a_page() -> None:
    assert {path.stem for path in COMMITTED} == {*DISTRIBUTIONS, "phone"}
