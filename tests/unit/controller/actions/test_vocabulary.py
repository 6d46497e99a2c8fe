from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.actions.vocabulary import setup_tools
from controller.wiring import open_suite
from evaluators.loading.suite import list_suites
from foundation.errors import SpecError

if TYPE_CHECKING:
    from pathlib import Path


def test_shipped_suites_use_existing_names_only() -> None:
    assert len(open_suite("smoke").tasks) == 8
    for name in list_suites():
        suite = open_suite(name)
        assert suite.tasks
        assert not suite.left_out


def test_setup_operations_match_the_documented_ones() -> None:
    assert {place: set(tools) for place, tools in setup_tools().items()} == {
        "desktop": {
            *("put_file", "copy_files", "make_dir", "keep_reference", "run"),
            *("set_gsetting", "start_app", "start_program", "open_document", "trust_worlds"),
            *("serve_pages", "add_bookmarks", "add_history", "open_tabs"),
        },
        "phone": {
            *("add_task", "add_contact", "add_message", "add_call", "add_event", "add_row"),
            *("put_file", "put_setting", "open_app", "sign_in"),
        },
        "session": set(),
        "world": {"deliver_mail", "add_order", "add_event", "add_contact", "store_file"},
    }


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("do: add_contact", "do: add_contcat", "add_contact"),
        ("do: open_app", "do: start_app", "start_app"),
        ("with: {name: HOME}", "with: {name: HOEM}", "name"),
        ("check: app_in_front", "check: app_in_fornt", "app_in_front"),
    ],
)
def test_misspelt_name_is_reported_with_its_line(
    tiny: Path, tmp_path: Path, right: str, wrong: str, message: str
) -> None:
    for path in tiny.iterdir():
        (tmp_path / path.name).write_text(path.read_text())
    broken = tmp_path / "two-apps.yaml"
    assert right in broken.read_text()
    broken.write_text(broken.read_text().replace(right, wrong))
    with pytest.raises(SpecError, match=r"two-apps\.yaml:\d+") as caught:
        open_suite(str(tmp_path))
    assert message in str(caught.value)


def test_unknown_key_is_rejected_when_the_suite_is_read(tiny: Path, tmp_path: Path) -> None:
    for path in tiny.iterdir():
        (tmp_path / path.name).write_text(path.read_text())
    file = tmp_path / "write-file.yaml"
    file.write_text(f"{file.read_text()}  - {{on: desktop, do: key, with: {{keys: [Retrun]}}}}\n")
    with pytest.raises(
        SpecError, match=r"There is no key called 'Retrun'\. Did you mean 'Return'\?"
    ):
        open_suite(str(tmp_path))
    assert open_suite(str(tmp_path), ["answer"]).left_out
