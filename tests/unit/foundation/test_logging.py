from __future__ import annotations

import logging
import re
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from foundation.errors import MachineError, ToolTimeoutError
from foundation.logging import configure_logging, log_context, suppress_logged
from foundation.masking import redact
from foundation.process import run

if TYPE_CHECKING:
    from collections.abc import Iterator

LOG = logging.getLogger("controller.some_module")


@pytest.fixture(autouse=True)
def _quiet_again() -> Iterator[None]:
    yield
    configure_logging()


def test_warnings_are_logged_and_debug_lines_on_request_only(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logging()
    LOG.debug("detail")
    LOG.warning("trouble")
    assert capsys.readouterr().err == "WARNING controller.some_module: trouble\n"
    configure_logging(verbose=True)
    LOG.debug("detail")
    line = capsys.readouterr().err
    assert re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3} DEBUG controller\.some_module: detail\n", line)


def test_lines_name_the_machine_and_the_trial(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging()
    with log_context(trial="a.0"), log_context(machine="desktop-1"):
        LOG.warning("inside")
    LOG.warning("outside")
    inside, outside = capsys.readouterr().err.splitlines()
    assert inside == "WARNING controller.some_module [trial=a.0 machine=desktop-1]: inside"
    assert outside == "WARNING controller.some_module: outside"


def test_context_does_not_leak_between_threads(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configure_logging()
    with log_context(trial="a.0"):
        thread = threading.Thread(target=LOG.warning, args=("elsewhere",))
        thread.start()
        thread.join()
    assert "trial" not in capsys.readouterr().err


def test_secrets_never_reach_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging()
    redact("")
    redact("s3cret-key")
    LOG.warning("asked with %s at %s", "s3cret-key", "http://me:pass%40word@host/v1")
    try:
        int("s3cret-key")
    except ValueError:
        LOG.exception("failed")
    text = capsys.readouterr().err
    assert "asked with *** at http://***@host/v1" in text
    assert "invalid literal for int() with base 10: '***'" in text
    assert "s3cret-key" not in text
    assert "pass" not in text


def test_every_host_command_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    program = [sys.executable, "-c", "raise SystemExit(3)"]
    with caplog.at_level(logging.DEBUG, logger="foundation"):
        run(program)
        with pytest.raises(ToolTimeoutError):
            run([sys.executable, "-c", "input()"], timeout_s=0.0, stdin=None)
    lines = [record.getMessage() for record in caplog.records]
    assert any(line.startswith("$ ") and "SystemExit(3)" in line for line in lines)
    assert any(line.endswith("ended with exit code 3") for line in lines)


def test_configuring_twice_does_not_log_twice(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging()
    configure_logging()
    LOG.warning("once")
    assert capsys.readouterr().err.count("once") == 1


def test_only_given_errors_are_suppressed_and_they_are_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = logging.getLogger("appliance.test")
    with caplog.at_level("INFO"), suppress_logged(log, "stop desktop-1", MachineError, OSError):
        raise MachineError("It is gone.")
    assert "could not stop desktop-1: It is gone." in caplog.text
    with pytest.raises(ValueError, match="other"), suppress_logged(log, "x", MachineError):
        raise ValueError("other")
