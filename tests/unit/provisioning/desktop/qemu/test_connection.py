"""The connection to libvirt's own test driver, with fixed replies of QEMU."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import libvirt
import libvirt_qemu
import pytest

from foundation.errors import MachineError, RequirementError
from provisioning.desktop.qemu.connection import Hypervisor

if TYPE_CHECKING:
    from collections.abc import Iterator

DOMAIN = "test"  # libvirt's test driver has one domain, of this name


@pytest.fixture
def hypervisor() -> Iterator[Hypervisor]:
    made = Hypervisor("test:///default")
    yield made
    made.close()


def reply(monkeypatch: pytest.MonkeyPatch, text: str) -> list[str]:
    """Let QEMU answer with a text; return the list of its requests."""
    requests: list[str] = []

    def answer(_domain: object, request: str, _flags: int) -> str:
        requests.append(request)
        return text

    monkeypatch.setattr(libvirt_qemu, "qemuMonitorCommand", answer)
    return requests


def test_every_qmp_exchange_is_logged(
    hypervisor: Hypervisor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    requests = reply(monkeypatch, '{"return": {"status": "running"}}')
    with caplog.at_level(logging.DEBUG, logger="provisioning"):
        assert hypervisor.qmp(DOMAIN, "query-status") == {"status": "running"}
    assert json.loads(requests[0]) == {"execute": "query-status", "arguments": {}}
    (line,) = (record.getMessage() for record in caplog.records)
    assert line == f'QMP test: {requests[0]} -> {{"return": {{"status": "running"}}}}'


def test_long_replies_are_cut_in_the_log_only(
    hypervisor: Hypervisor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    reply(monkeypatch, "x" * 5000)
    with caplog.at_level(logging.DEBUG, logger="provisioning"):
        assert hypervisor.monitor(DOMAIN, "info mtree") == "x" * 5000
    (line,) = (record.getMessage() for record in caplog.records)
    assert line.startswith("HMP test: info mtree -> xxx")
    assert len(line) < 600


def test_rejected_command_is_logged_and_raised(
    hypervisor: Hypervisor, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    reply(monkeypatch, '{"error": {"class": "GenericError", "desc": "no such device"}}')
    with (
        caplog.at_level(logging.DEBUG, logger="provisioning"),
        pytest.raises(MachineError, match="refused device_del") as caught,
    ):
        hypervisor.qmp(DOMAIN, "device_del", {"id": "x"})
    assert caught.value.details == "no such device"
    assert "no such device" in caplog.text


def test_broken_connection_is_attributed_to_the_hypervisor(
    hypervisor: Hypervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    hypervisor.require()
    broken = libvirt.libvirtError("lost")
    broken.err = (38, libvirt.VIR_FROM_RPC, "Cannot recv data: reset", 2, "", None, None, -1, -1)

    def break_off(*_arguments: object) -> str:
        raise broken

    monkeypatch.setattr(libvirt_qemu, "qemuMonitorCommand", break_off)
    with pytest.raises(RequirementError, match="lost"):
        hypervisor.qmp(DOMAIN, "query-status")


def test_missing_hypervisor_is_an_unmet_requirement() -> None:
    with pytest.raises(RequirementError):
        Hypervisor("qemu+unix:///system?socket=/nonexistent/libvirt-sock").require()


def test_ended_connection_is_reopened(hypervisor: Hypervisor) -> None:
    assert hypervisor.state(DOMAIN) == "running"
    connection = hypervisor._connection
    assert connection is not None
    connection.close()
    assert hypervisor.state(DOMAIN) == "running"
    hypervisor.require()
