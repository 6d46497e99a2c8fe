"""What a machine holds, read from this host and from a phone in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from appliance.base.errors import ActionError
from appliance.base.process import CommandResult, run
from appliance.verify.contents import Contents, read_contents
from controller.actions.phone_shell import PACKAGES
from controller.actions.setup_phone import add_contact, add_message
from images.phone.device.apps.directory import APPS
from provisioning.fake import FakeDesktop, FakePhone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from provisioning.protocols import Machine


class HostDesktop:
    """Runs the commands on this host, as a guest would."""

    info = FakeDesktop().info

    def run(self, argv: Sequence[str], *, timeout_s: float) -> CommandResult:
        return run(argv, timeout_s=timeout_s)


def test_a_desktop_is_asked_for_programs_packages_and_commands() -> None:
    found = read_contents(cast("Machine", HostDesktop()))
    assert {"sh", "ls"} <= set(found.commands)
    assert found.packages["dash"][0].isdigit()
    assert all(" " not in key for key in found.programs)
    page = found.page()
    assert page.startswith("# What is on desktop:fake (000000000000)\n")
    assert "## Commands" in page


def test_a_phone_shows_its_packages_and_first_content() -> None:
    phone = FakePhone()
    add_contact(phone, "Ada Lovelace", "+44 20 1234")
    add_message(phone, "555", "Where are you?")
    found = read_contents(phone)
    assert found.programs["com.android.settings"] == "Settings"
    assert found.records["content://sms"] == ("address=555, type=1, body=Where are you?",)
    assert found.records["content://call_log/calls"] == ()
    assert "- empty" in found.page()
    assert found.to_dict()["fonts"] == []


def test_labels_are_those_of_the_reference_phone() -> None:
    listed = {app.label: app.package for app in APPS.values() if app.is_listed}
    assert listed == PACKAGES


def test_a_machine_that_cannot_be_asked_says_so() -> None:
    with pytest.raises(ActionError, match="/bin/sh failed"):
        read_contents(FakeDesktop())


def test_an_empty_machine_has_a_short_page() -> None:
    assert Contents("x").page() == "# What is on x\n"
