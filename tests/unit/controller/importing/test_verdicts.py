"""Verdicts of imported tasks beside those of the original functions.

Each sample has the form of a published task, named by the beginning of its id, with words, values and
files of our own. What the original function returns on the right and on the wrong result was read in
its source and is written down here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from tests.evaluator_cases.file_builders import encoded, noise
from tests.evaluator_cases.phone.records import calls, messages
from tests.standins.foreign_tasks import (
    BRIGHTER,
    CALL,
    CRAB_HOME,
    MESSAGE,
    VIM,
    Judge,
    cloud_file,
    command,
    crab,
    import_one,
    osworld,
    rule,
    vm_file,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Sample:
    """A task, and what its original function says.

    Attributes:
        original: the function, and the published task that has this form.
        content: the file.
        right: makes a result for which the original function returns 1 or True.
        wrong: makes one for which it returns 0 or False.
        node: the node that stands for the function.
        files: the user's files.
    """

    original: str
    content: dict[str, Any]
    right: Callable[[Judge], object]
    wrong: Callable[[Judge], object]
    node: str = "result"
    files: Mapping[str, bytes] = field(default_factory=dict)


def writes(path: str, data: str | bytes) -> Callable[[Judge], object]:
    return lambda judge: judge.desktop.write(path, data)


_LAKE = noise(3)
_DARK = encoded((_LAKE * 0.7).astype("uint8"))
_BRIGHT = encoded((_LAKE * 1.1).clip(0, 255).astype("uint8"))
_XCU = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Writer/DefaultFont"><prop oor:name="Standard" oor:op="fuse"><value>{}</value></prop></item>
<item oor:path="/org.openoffice.Office.Writer/Layout"><prop oor:name="Zoom"><value>Gentium</value></prop></item>
</oor:items>
"""
_GIMPRC = "# GIMP gimprc\n\n(theme {})\n(undo-levels 5)\n"
_VIM_TASK = crab((VIM, {"file_path": f"{CRAB_HOME}/poem", "content": "two roads"}))
_EDIT = crab(
    (
        BRIGHTER,
        {
            "image_path_before_edit": f"{CRAB_HOME}/assets/lake.png",
            "image_path_after_edit": f"{CRAB_HOME}/assets/bright.png",
        },
    )
)
_SMS = crab((MESSAGE, {"content": "The bus leaves at ten", "number": "0445550199"}))
_DIAL = crab((CALL, {"number": "044-555-0199"}))

_GET = ("/usr/bin/gsettings", "get", "org.gnome.desktop.screensaver", "lock-enabled")

SAMPLES = {
    "exact_match of a setting": Sample(
        "exact_match, OSWorld a4d98375: the printed value, with its newline, equals the expected one",
        osworld(
            "exact_match",
            result=command("gsettings get org.gnome.desktop.screensaver lock-enabled"),
            expected=rule(expected="true\n"),
        ),
        lambda judge: judge.desktop.prints(_GET, "true\n"),
        lambda judge: judge.desktop.prints(_GET, "false\n"),
    ),
    "exact_match of a folder": Sample(
        "exact_match, OSWorld 869de13e: what ls prints equals the sorted names",
        osworld(
            "exact_match",
            result=command(["ls", "/home/user/Desktop/Reading"]),
            expected=rule(expected="a.pdf\nb.pdf\n"),
        ),
        lambda judge: [judge.desktop.write(f"~/Desktop/Reading/{n}.pdf", n) for n in "ba"],
        lambda judge: [judge.desktop.write(f"~/Desktop/Reading/{n}.pdf", n) for n in "bac"],
    ),
    "exact_match of a file": Sample(
        "exact_match, OSWorld 5ea617a3: the shell finds a file and prints so",
        osworld(
            "exact_match",
            result=command("[ -f /home/user/Desktop/poster.webp ] && echo 'Here.' || echo 'Not here.'"),
            expected=rule(expected="Here.\n"),
        ),
        writes("~/Desktop/poster.webp", b"RIFF"),
        writes("~/Desktop/poster.png", b"PNG"),
    ),
    "is_extension_installed by ls": Sample(
        "is_extension_installed, OSWorld 57242fad: the name is in what ls prints",
        osworld(
            "is_extension_installed",
            result=command(["ls", "/home/user/Desktop", "|", "grep", "plan.py"]),
            expected=rule(type="contain", expected="plan.py"),
        ),
        writes("~/Desktop/plan.py", "pass\n"),
        writes("~/Desktop/plan.txt", "pass\n"),
    ),
    "check_json": Sample(
        "check_json, OSWorld 74d5859f: each value at its keys equals the expected one; other keys are free",
        osworld(
            "check_json",
            result=vm_file("/home/user/app/manifest.json"),
            expected=rule(
                expect=[
                    {"key": ["name"], "method": "eq", "ref": "weather"},
                    {"key": ["icons", "64"], "method": "eq", "ref": "a.png"},
                ]
            ),
        ),
        writes("~/app/manifest.json", '{"icons": {"64": "a.png"}, "name": "weather", "x": 1}'),
        writes("~/app/manifest.json", '{"icons": {"64": "b.png"}, "name": "weather"}'),
    ),
    "compare_text_file": Sample(
        "compare_text_file, OSWorld 0ed39f63: both texts are equal",
        osworld(
            "compare_text_file",
            result=vm_file("/home/user/Desktop/list.txt"),
            expected=cloud_file("code/one/list_gold.txt"),
        ),
        writes("~/Desktop/list.txt", "pear\nplum\n"),
        writes("~/Desktop/list.txt", "pear\nPlum\n"),
        files={"code/one/list_gold.txt": b"pear\nplum\n"},
    ),
    "compare_csv": Sample(
        "compare_csv, OSWorld 3aaa4e37: both files have the same lines",
        osworld(
            "compare_csv",
            result=vm_file("/home/user/sales.csv"),
            expected=cloud_file("calc/one/sales_gold.csv"),
        ),
        writes("~/sales.csv", "name,sum\nAnn,7\n"),
        writes("~/sales.csv", "name;sum\nAnn;7\n"),
        files={"calc/one/sales_gold.csv": b"name,sum\nAnn,7\n"},
    ),
    "file_contains": Sample(
        "file_contains, OSWorld 26660ad1: every text is in the file, wherever",
        osworld(
            "file_contains",
            result=vm_file("/home/user/Test/results.txt"),
            expected=rule(expected=["Up", "Down"]),
        ),
        writes("~/Test/results.txt", "Down: 7\nUp: 3\n"),
        writes("~/Test/results.txt", "Down: 7\nup: 3\n"),
    ),
    "check_config_status": Sample(
        "check_config_status, OSWorld 7767eef2: a line has the key first and the value last",
        osworld(
            "check_config_status",
            result={"type": "gimp_config_file", "file_name": "gimprc", "dest": "gimprc"},
            expected=rule(key="theme", value='"Light"'),
        ),
        writes("~/.config/GIMP/2.10/gimprc", _GIMPRC.format('"Light"')),
        writes("~/.config/GIMP/2.10/gimprc", _GIMPRC.format('"Dark"')),
    ),
    "find_default_font": Sample(
        "find_default_font, OSWorld f178a4a9: the value of that item's property, no other",
        osworld(
            "find_default_font",
            result=vm_file("/home/user/.config/libreoffice/4/user/registrymodifications.xcu"),
            expected=rule(font_name="Gentium"),
        ),
        writes("~/.config/libreoffice/4/user/registrymodifications.xcu", _XCU.format("Gentium")),
        writes("~/.config/libreoffice/4/user/registrymodifications.xcu", _XCU.format("Carlito")),
    ),
    "check_brightness_decrease_and_structure_sim": Sample(
        "the same, OSWorld 7a4deb26: the mean is lower, and the pictures are alike once normalised",
        osworld(
            "check_brightness_decrease_and_structure_sim",
            result=vm_file("/home/user/Desktop/darker.png"),
            expected=cloud_file("gimp/one/lake.png"),
        ),
        writes("~/Desktop/darker.png", _DARK),
        writes("~/Desktop/darker.png", _BRIGHT),
        files={"gimp/one/lake.png": encoded(_LAKE)},
    ),
    "check_image_mirror": Sample(
        "check_image_mirror, OSWorld 72f83cdc: mirrored left to right, it is the other picture",
        osworld(
            "check_image_mirror",
            result=vm_file("/home/user/Desktop/turned.png"),
            expected=cloud_file("gimp/one/lake.png"),
        ),
        writes("~/Desktop/turned.png", encoded(_LAKE[:, ::-1])),
        writes("~/Desktop/turned.png", encoded(_LAKE[::-1])),
        files={"gimp/one/lake.png": encoded(_LAKE)},
    ),
    "check_file_content": Sample(
        "check_file_content, CRAB 05d0e137: the text is part of the file's",
        _VIM_TASK,
        writes("~/poem", "two roads diverged\n"),
        writes("~/poem", "two road diverged\n"),
        node="s1-written",
    ),
    "is_image_2_brighter": Sample(
        "is_image_2_brighter, CRAB (cc1adae7): the mean of the second picture is higher",
        _EDIT,
        writes("~/assets/bright.png", _BRIGHT),
        writes("~/assets/bright.png", _DARK),
        node="s1-brighter",
        files={"assets/lake.png": encoded(_LAKE)},
    ),
    "check_send_message": Sample(
        "check_send_message, CRAB (caa29623): the conversation with the number shows the sent text",
        _SMS,
        lambda judge: messages(("0445550199", "The bus leaves at ten", 2, "1"))(judge.phone),
        lambda judge: messages(("0445550100", "The bus leaves at ten", 2, "1"))(judge.phone),
        node="s1-sent",
    ),
    "check_calling_number": Sample(
        "check_calling_number, CRAB (955d8773): the number that is called has these digits",
        _DIAL,
        lambda judge: calls(("0445550199", 2, 4))(judge.phone),
        lambda judge: calls(("0445550198", 2, 4))(judge.phone),
        node="s1-called",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAMPLES)
def test_the_verdict_is_that_of_the_original(name: str, tmp_path: Path) -> None:
    sample = SAMPLES[name]
    _, suite = import_one(tmp_path, sample.content, sample.files)
    assert suite is not None
    right = Judge(suite, tmp_path / "right")
    sample.right(right)
    wrong = Judge(suite, tmp_path / "wrong")
    sample.wrong(wrong)
    assert (right.met(sample.node), wrong.met(sample.node)) == (True, False), sample.original


_ASKS_PROGRAMS = {"exact_match of a setting", "check_send_message", "check_calling_number"}
"""Samples whose fixture has no reply of its program before there is a result."""


@pytest.mark.parametrize("name", sorted(SAMPLES.keys() - _ASKS_PROGRAMS))
def test_nothing_is_no_result(name: str, tmp_path: Path) -> None:
    sample = SAMPLES[name]
    _, suite = import_one(tmp_path, sample.content, sample.files)
    assert suite is not None
    assert not Judge(suite, tmp_path / "nothing").met(sample.node)
