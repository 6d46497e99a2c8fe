"""Tests of touches that Android's command ``input`` does not have, on a simulated phone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from provisioning.phone.adb.input import PhoneInput, PhoneTree
from provisioning.protocols import MultiTouch
from tests.standins.phone import PhoneStandIn

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.adb


@pytest.fixture
def phone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PhoneStandIn]:
    stand_in = PhoneStandIn(tmp_path_factory.mktemp("phone"))
    yield stand_in
    stand_in.close()


def names(phone: PhoneStandIn) -> list[str]:
    return [element.name for element in PhoneTree(phone.device).elements() if element.name]


def screen(phone: PhoneStandIn) -> bytes:
    return phone.device.read("screencap -p", 15)


def test_pinch_zooms_the_map_in_and_out(phone: PhoneStandIn) -> None:
    phone.device.shell("am start -p com.google.android.apps.maps", 15).require()
    hand = PhoneInput(phone.device)
    assert isinstance(hand, MultiTouch)
    whole = screen(phone)
    near, far = [(300, 800), (200, 800)], [(420, 800), (520, 800)]
    hand.gesture([near, far])
    enlarged = screen(phone)
    assert enlarged != whole
    hand.gesture([near[::-1], far[::-1]])
    assert screen(phone) != enlarged


def test_two_fingers_side_by_side_scroll(phone: PhoneStandIn) -> None:
    rows = "content://com.google.android.apps.tasks/tasks --bind title:s:Errand"
    phone.device.shell(
        f"for n in $(seq 10 49); do content insert --uri {rows}$n; done;"
        "am start -p com.google.android.apps.tasks",
        30,
    ).require()
    before = names(phone)
    PhoneInput(phone.device).gesture([[(300, 900), (300, 400)], [(400, 900), (400, 400)]])
    assert names(phone) != before


def test_finger_can_be_put_down_and_lifted_elsewhere(phone: PhoneStandIn) -> None:
    phone.device.shell("input keyevent HOME", 15).require()
    hand = PhoneInput(phone.device)
    hand.button_down(360, 1000)
    assert "Search apps" not in names(phone)
    hand.button_up(360, 300)
    assert "Search apps" in names(phone)


def test_path_of_several_points_ends_at_the_last(phone: PhoneStandIn) -> None:
    phone.device.shell("input keyevent HOME", 15).require()
    PhoneInput(phone.device).drag([(360, 1000), (500, 700), (360, 300)], duration_s=0.1)
    assert "Search apps" in names(phone)


@pytest.mark.parametrize("name", ["VOLUME_UP", "THUMBS_UP", "TV_ZOOM_MODE", "BUTTON_16"])
def test_any_key_of_android_can_be_pressed(phone: PhoneStandIn, name: str) -> None:
    PhoneInput(phone.device).key(name, hold_s=0.1)
