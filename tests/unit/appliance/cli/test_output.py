from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

from appliance.cli import output
from appliance.cli.main import main
from appliance.cli.output import print_table
from controller.store.runs import Store
from foundation.settings import get_settings

if TYPE_CHECKING:
    from pathlib import Path

WORDS = ("desktop-9c41be", "reference-phone", "desktop:ubuntu-24.04", "20261121-080000-aaaa")
NOTE = "some words that can be wrapped anywhere, as long as one likes them to be"


@pytest.fixture(params=[20, 80, 400])
def columns(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    width: int = request.param
    monkeypatch.setattr(output, "console_out", lambda: Console(width=width))
    return width


@pytest.mark.parametrize("has_box", [True, False])
def test_table_cuts_no_word(
    columns: int, has_box: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    table = Table("machine", "backend", "image", "run", "note", title="all of them")
    if not has_box:
        table.box = None
    table.columns[0].no_wrap = True
    table.add_row(*WORDS, NOTE)
    print_table(table)
    shown = capsys.readouterr().out
    assert all(word in shown for word in (*WORDS, *NOTE.split()))
    assert "…" not in shown
    longest = max(len(line.rstrip()) for line in shown.splitlines())
    assert longest <= max(columns, 4 + len("image: desktop:ubuntu-24.04"))


def test_cells_without_room_go_below_their_row_with_titles(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "console_out", lambda: Console(width=40))
    table = Table("run", "state", "why", "by")
    table.add_row("20261121-080000-aaaa", "queued", "[red]its machine[/] is used by another", "")
    table.add_row("20261121-080000-bbbb", "ended", Text("[1/3]"), "nightly")
    print_table(table)
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "run                  state",
        "20261121-080000-aaaa queued",
        "    why: its machine is used by another",
        "20261121-080000-bbbb ended",
        "    why: [1/3] · by: nightly",
    ]


def test_table_that_fits_is_unchanged(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("a", "b", box=None, pad_edge=False)
    table.add_row("1", "two words")
    print_table(table)
    assert [line.rstrip() for line in capsys.readouterr().out.splitlines()] == [
        "a  b",
        "1  two words",
    ]


@pytest.mark.libvirt
def test_ids_are_not_cut_at_80_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tiny: Path
) -> None:
    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    get_settings.cache_clear()
    output.console_out.cache_clear()
    assert main(["run", str(tiny), "--agent", "oracle", "--fleet", "fake", "-t", "dark-style"]) == 0
    capsys.readouterr()
    (run,) = Store(tmp_path / "runs").names()
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
    (tmp_path / "remotes.yaml").write_text(
        "machines:\n  - name: a-lab-with-a-long-name-17\n    host: 192.0.2.7\n    user: student\n"
        f"    host_key: {key}\n    reset: {{command: [reimage]}}\n"
    )
    assert main(["run", str(tiny), "--agent", "noop", "--fleet", "fake", "-t", "dark-style"]) == 0
    (_, other) = Store(tmp_path / "runs").names()
    queued = ["smoke", "--agent", "oracle"]
    assert main(["queue", "add", *queued]) == 0
    nightly = ["--cron", "0 2 * * *", "--timezone", "Europe/Berlin"]
    assert main(["schedule", "add", "a-name-of-some-length", *queued, *nightly]) == 0
    capsys.readouterr()
    for argv, name in (
        (["queue", "list"], "trials: -"),
        (["schedule", "list"], "a-name-of-some-length"),
        (["compare", run, other], other),
        (["results"], run),
        (["results", run], run),
        (["results", "prune", "--older-than", "0", "--keep", "0"], run),
        (["machine", "list"], "desktop-remote-a-lab-with-a-long-name-17"),
        (["evaluators", "list"], "sheet_names_equal"),
        (["image", "list"], "hypervisor"),
        (["settings"], "MESOCOSM_STATE_DIR"),
        (["status"], "hypervisor"),
        (["suite", "show", str(tiny)], "dark-style"),
        (["suite", "list"], "smoke"),
    ):
        assert main(argv) == 0
        shown = capsys.readouterr().out
        assert "…" not in shown, argv
        assert max(map(len, shown.splitlines())) <= 80, argv
        assert name in shown
