from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foundation.errors import InvalidActionError, LinkProtocolError
from foundation.process import CommandResult
from images.phone.device.shell.command_line import split_plain
from provisioning.phone.adb.input import PhoneInput, PhoneTree, parse_hierarchy
from provisioning.phone.adb.screen import PhoneScreen
from provisioning.phone.reference.digest import PhoneDigest
from provisioning.protocols import Bounds, StateKind
from tests.standins.fake_adb_device import FakeAdbDevice

if TYPE_CHECKING:
    from provisioning.phone.adb.device import AdbDevice

NODE = (
    '<node text="A &amp; B" resource-id="x:id/y" class="android.widget.Button" content-desc="d" '
    'clickable="true" enabled="true" bounds="[0,10][20,40]">{}</node>'
)
END = "UI hierchary dumped to: /dev/tty\n"


class Typist:
    """Accepts commands like a phone, and records what they type."""

    def __init__(self, exit_code: int = 0) -> None:
        self.typed = ""
        self.exit_code = exit_code

    def shell(self, command: str, timeout_s: float = 10.0) -> CommandResult:
        argv = split_plain(command)
        assert argv is not None
        if argv[:2] == ["input", "text"]:
            self.typed += argv[2].replace("%s", " ")
        elif argv[1] == "keyevent":
            self.typed += {"ENTER": "\n", "TAB": "\t"}.get(argv[2], "")
        return CommandResult((command,), self.exit_code, b"", b"Error: no")

    def read(self, command: str, timeout_s: float = 10.0) -> bytes:
        return b"error: no screen"


def typist(exit_code: int = 0) -> tuple[Typist, PhoneInput]:
    device = Typist(exit_code)
    return device, PhoneInput(cast("AdbDevice", device))


@given(st.text(st.characters(exclude_characters="\0\r", codec="utf-8"), max_size=200))
def test_any_text_is_typed_unchanged(text: str) -> None:
    hands, keyboard = typist()
    keyboard.text(text)
    assert hands.typed == text


@pytest.mark.parametrize("name", ["", "A B", "HOME;reboot", "$(id)"])
def test_invalid_key_name_never_reaches_the_phone(name: str) -> None:
    hands, keyboard = typist()
    with pytest.raises(InvalidActionError):
        keyboard.key("HOME", name)
    assert hands.typed == ""


def test_key_rejected_by_the_phone_is_invalid() -> None:
    with pytest.raises(InvalidActionError, match="does not have all of these keys"):
        typist(255)[1].key("NOTHING")


# --- typing on Android itself ---


def android(*methods: str) -> tuple[FakeAdbDevice, PhoneInput]:
    fake_device = FakeAdbDevice(methods=list(methods))
    return fake_device, PhoneInput(cast("AdbDevice", fake_device))


def test_android_types_unicode_by_an_input_method_and_restores_its_own() -> None:
    fake_device, keyboard = android("com.android.adbkeyboard/.AdbIME", "org.keys/.Ime")
    keyboard.text("ASCII\n你好 🙂")
    assert fake_device.typed == "ASCII\n你好 🙂"
    assert fake_device.method == "org.keys/.Ime"


def test_android_without_the_input_method_suggests_to_install_it() -> None:
    fake_device, keyboard = android("org.keys/.Ime")
    with pytest.raises(InvalidActionError, match="ADBKeyBoard"):
        keyboard.text("你好")
    assert fake_device.typed == ""


# --- the tree, once a frame ---


def test_hierarchy_is_read_once_per_frame_if_frames_are_numbered() -> None:
    fake_device = FakeAdbDevice(frame=7)
    device = cast("AdbDevice", fake_device)
    tree = PhoneTree(device, PhoneScreen(device))
    assert [tree.elements() for _ in range(3)] == [tree.elements()] * 3
    assert fake_device.dumps == 1
    fake_device.frame = 8
    tree.elements()
    assert fake_device.dumps == 2
    tree.forget()
    tree.elements()
    assert fake_device.dumps == 3


def test_hierarchy_is_read_once_per_picture_otherwise() -> None:
    fake_device = FakeAdbDevice()
    device = cast("AdbDevice", fake_device)
    tree = PhoneTree(device, PhoneScreen(device, clock=fake_device.clock), clock=fake_device.clock)
    tree.elements()
    tree.elements()
    assert fake_device.dumps == 1
    fake_device.color = (9, 9, 9)
    tree.elements()
    assert fake_device.dumps == 2


def test_fast_hierarchy_is_read_again_instead_of_a_picture() -> None:
    fake_device = FakeAdbDevice(dump_s=0.01)
    device = cast("AdbDevice", fake_device)
    tree = PhoneTree(device, PhoneScreen(device, clock=fake_device.clock), clock=fake_device.clock)
    tree.elements()
    pictures = len(fake_device.taken)
    tree.elements()
    assert (fake_device.dumps, len(fake_device.taken)) == (2, pictures)


def test_every_call_reads_the_hierarchy_without_a_screen() -> None:
    fake_device = FakeAdbDevice(frame=7)
    tree = PhoneTree(cast("AdbDevice", fake_device))
    tree.elements()
    tree.elements()
    assert fake_device.dumps == 2


@pytest.mark.parametrize("empty", [1, 2])
def test_dump_without_a_hierarchy_is_repeated_once(empty: int) -> None:
    tree = PhoneTree(cast("AdbDevice", FakeAdbDevice(empty_dumps=empty)))
    if empty == 1:
        assert [element.name for element in tree.elements()] == ["x"]
    else:
        with pytest.raises(LinkProtocolError, match="no UI hierarchy"):
            tree.elements()


def test_hierarchy_is_read_in_document_order() -> None:
    output = (
        f'<hierarchy rotation="0">{NODE.format(NODE.format(""))}{NODE.format("")}</hierarchy>{END}'
    )
    elements = parse_hierarchy(output)
    assert [element.depth for element in elements] == [0, 1, 0]
    assert elements[0].name == "A & B"
    assert elements[0].bounds == Bounds(0, 10, 20, 40)
    assert elements[0].states == {"clickable", "enabled"}
    assert elements[0].resource_id == "x:id/y"


def test_deep_hierarchy_is_parsed() -> None:
    output = "<hierarchy>" + '<node bounds="[0,0][1,1]">' * 3000 + "</node>" * 3000 + "</hierarchy>"
    assert parse_hierarchy(output)[-1].depth == 2999


@pytest.mark.parametrize(
    "output",
    [
        "",
        "ERROR: could not get idle state.",
        "<hierarchy><node></hierarchy>",
        '<!DOCTYPE x [<!ENTITY a "aa">]><hierarchy>&a;</hierarchy>',
        "<hierarchy>" + '<node bounds="[0,0][1,1]"/>' * 20_001 + "</hierarchy>",
    ],
)
@pytest.mark.slow
def test_invalid_hierarchy_is_rejected(output: str) -> None:
    with pytest.raises(LinkProtocolError):
        parse_hierarchy(output)


def test_digest_differences_are_named() -> None:
    before = PhoneDigest(parts={"settings": ["a=1", "b=2"], "gone": ["x"]}, processes=["probe"])
    after = PhoneDigest(parts={"settings": ["a=1", "b=3"]}, processes=["sleep"])
    assert before.differences(after) == (
        "process left: sleep",
        "gone: gone: x",
        "gone: new: absent",
        "settings: gone: b=2",
        "settings: new: b=3",
    )
    assert before.differences(before.model_copy(update={"processes": []})) == ()


def test_phone_summary_lists_settings_records_and_files() -> None:
    digest = PhoneDigest(
        parts={
            "settings list system": ["volume_music=5", "font_scale=1.0"],
            "content query --uri content://sms --projection _id:body": ["Row: 3 _id=4, body=hi"],
            "find /sdcard -type f -exec sha256sum {} +": [f"{'a' * 64}  /sdcard/x y", "/sdcard"],
            "dumpsys activity activities": ["topResumedActivity=..."],
        },
        processes=[],
    )
    assert digest.summary() == {
        StateKind.FILE: {"/sdcard/x y": "a" * 64, "/sdcard": ""},
        StateKind.SETTING: {"system/volume_music": "5", "system/font_scale": "1.0"},
        StateKind.PROCESS: {},
        StateKind.RECORD: {"sms _id=4, body=hi": ""},
    }
