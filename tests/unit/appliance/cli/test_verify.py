"""`mesocosm verify kvm`: what it prints, writes and returns."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from appliance.cli.main import main
from appliance.verify import kvm as desktops
from appliance.verify import kvm_host
from foundation.errors import MachineError
from foundation.settings import Settings, get_settings
from provisioning.fleet import local

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from appliance.verify.phone import Finding

FACTS = {"CPU": "2 x EPYC"}


class Fleet:
    """A fleet that remembers its settings."""

    settings: list[Settings] = []  # noqa: RUF012 - shared with the test

    def __init__(self, settings: Settings, *, say: Callable[[str], None]) -> None:
        say("a line of progress")
        self.settings.append(settings)


@pytest.fixture
def verified(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[desktops.Plan]:
    """The plans that desktops were verified by; the host's KVM is usable."""
    plans: list[desktops.Plan] = []
    Fleet.settings.clear()

    class Verification(desktops.KvmVerification):
        def run(self) -> list[Finding]:
            plans.append(self._plan)
            self.check("boot", "A desktop boots.", lambda: "booted")
            return self.findings

    monkeypatch.setenv("MESOCOSM_STATE_DIR", str(tmp_path))
    get_settings.cache_clear()
    monkeypatch.setattr(local, "LocalFleet", Fleet)
    monkeypatch.setattr(desktops, "KvmVerification", Verification)
    monkeypatch.setattr(kvm_host, "check_accelerator", lambda _settings: "It works.")
    monkeypatch.setattr(kvm_host, "check_speed", lambda _settings: "12 times as fast")
    monkeypatch.setattr(kvm_host, "host_facts", lambda _settings: FACTS)
    return plans


def test_lines_are_printed_and_the_report_is_written(
    verified: list[desktops.Plan], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    report = tmp_path / "report.txt"
    argv = ["verify", "kvm", "--accelerator", "tcg", "--quick", "--output", str(report)]
    assert main(argv) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines] == [
        ["pass", "accelerator"],
        ["pass", "speed"],
        ["pass", "boot"],
        ["PASSED:", "3"],
    ]
    text = report.read_text()
    assert text.startswith("mesocosm verify kvm --accelerator tcg --quick, 20")
    assert "CPU: 2 x EPYC" in text
    assert text.endswith("\n".join([*lines[:-1], "", lines[-1], ""]))
    assert verified == [desktops.QUICK]
    (settings,) = Fleet.settings
    assert (settings.desktop, settings.desktop_reset, settings.desktop_pool) == ("vm", "fork", "0")
    assert settings.accelerator == "tcg"


def test_json_is_alone_on_standard_output(
    verified: list[desktops.Plan], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", "kvm", "--json"]) == 0
    captured = capsys.readouterr()
    shown = json.loads(captured.out)
    assert (shown["ok"], shown["host"]) == (True, FACTS)
    assert [check["name"] for check in shown["checks"]] == ["accelerator", "speed", "boot"]
    assert "PASSED" in captured.err
    assert verified == [desktops.Plan(rewinds=20, forks=20, at_once=8)]


def test_unusable_kvm_ends_the_verification_unless_it_is_required(
    verified: list[desktops.Plan],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(_settings: Settings) -> str:
        raise MachineError("Desktops cannot run under KVM here.", "It is slow.")

    monkeypatch.setattr(kvm_host, "check_accelerator", fail)
    assert main(["verify", "kvm"]) == 1
    assert "FAILED: 0 passed, 1 failed" in capsys.readouterr().out
    assert not verified
    assert main(["verify", "kvm", "--accelerator", "kvm"]) == 1
    assert "FAILED: 2 passed, 1 failed" in capsys.readouterr().out
    assert len(verified) == 1


@pytest.mark.usefixtures("verified")
def test_unknown_accelerator_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", "kvm", "--accelerator", "tgc"]) == 2
    assert "Did you mean 'tcg'?" in capsys.readouterr().err
