"""Tests of Debian 12, the desktop if Ubuntu's archive is unreachable: image, rewinds and the suite smoke.

If the other tests run on another distribution, these few tests cover this one. Its desktop is booted
once for all of them, on another worker, in parallel with the other tests on VMs.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from foundation.process import run
from foundation.settings import get_settings
from provisioning.protocols import READY
from tests.integration.test_forks import sh
from tests.standins.appliance import NEEDS_APPLIANCE
from tests.standins.saved_desktop import lease_saved_desktop
from tests.tiers import IS_NIGHTLY

DEBIAN = "debian-12"
REWINDS = 20 if IS_NIGHTLY else 5
TASKS = "*" if IS_NIGHTLY else "*-dark-style"
"""`make test` runs one, on a desktop and a phone; nightly.smoke runs all of them three times."""
_BUILD_S = 1500

pytestmark = [
    pytest.mark.docker,
    pytest.mark.vm,
    pytest.mark.slow,
    pytest.mark.timeout(2 * _BUILD_S),
    pytest.mark.xdist_group(DEBIAN),
    NEEDS_APPLIANCE,
    pytest.mark.skipif(
        get_settings().distribution == DEBIAN, reason=f"all other tests run on {DEBIAN}"
    ),
]


def on_debian(*args: str, timeout_s: float = _BUILD_S) -> dict[str, Any]:
    """Run a command with a Debian desktop and return its JSON output.

    Raises:
        AssertionError: the command failed.
    """
    ended = run(
        [sys.executable, "-m", "appliance.cli.main", *args, "--json"],
        timeout_s=timeout_s,
        env={"MESOCOSM_DISTRIBUTION": DEBIAN},
    )
    assert ended.exit_code == 0, ended.stderr.decode()[-2000:]
    report: dict[str, Any] = json.loads(ended.stdout)
    return report


def test_image_is_complete_and_its_desktop_as_reviewed() -> None:
    on_debian("image", "build", "desktop")
    report = on_debian("image", "verify", "desktop")
    assert [image["screen"] for image in report["images"] if "screen" in image] == ["as reviewed"]


def test_oracle_passes_smoke() -> None:
    report = on_debian("run", "smoke", "--task", TASKS, "--agent", "oracle", "--parallel", "2")
    assert report["verdicts"]["PASS"] == sum(report["verdicts"].values()) > 0


def test_rewinds_are_verified() -> None:
    settings = get_settings().model_copy(update={"distribution": DEBIAN})
    with lease_saved_desktop(settings) as desktop:
        for _ in range(REWINDS):
            sh(desktop, "head -c 1M /dev/urandom > ~/dirt; setsid sleep 1000 > /dev/null 2>&1 &")
            report = desktop.snapshots.rewind(READY)
            assert (report.path, report.differences) == ("rewind", ())
