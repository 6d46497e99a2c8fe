"""The device conformance suite of phones: behaviour that providers, agents and evaluators rely on.

It runs on any phone that supports ADB: the reference phone, an emulator, a physical one. It opens
the phone's Settings and its home screen, and writes one setting and one folder, both of which it
removes. With a console, it also saves, loads and deletes a snapshot.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from foundation.clock import SYSTEM_CLOCK
from foundation.errors import MesocosmError, UsageError
from provisioning.phone.adb.device import AdbDevice
from provisioning.phone.adb.endpoint import TcpEndpoint
from provisioning.phone.adb.input import PhoneInput, PhoneTree
from provisioning.phone.adb.screen import PhoneScreen
from provisioning.phone.adb.server import AdbServer
from provisioning.phone.reference.console import ConsoleClient

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from foundation.clock import Clock
    from foundation.process import CommandResult
    from foundation.settings import Settings

TOKEN_NAME = ".emulator_console_auth_token"  # noqa: S105 - the name of a file
State = Literal["pass", "fail", "skip"]


class PhoneUnderTest:
    """The phone and the parts of the provider that control it.

    Args:
        device: the phone over ADB.
        console: opens a session with its console; None if it has none.
        clock: for waiting.
    """

    def __init__(
        self,
        device: AdbDevice,
        console: Callable[[], ConsoleClient] | None = None,
        *,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self.device = device
        self.console = console
        self.clock = clock
        self.screen = PhoneScreen(device, clock=clock)
        self.tree = PhoneTree(device)
        self.input = PhoneInput(device, self.screen)

    def shell(self, command: str, timeout_s: float = 20.0) -> CommandResult:
        """Run a command line in the phone's shell."""
        return self.device.shell(command, timeout_s)


@dataclass(frozen=True, slots=True)
class Check:
    """One requirement for a phone.

    Attributes:
        name: short, lower case.
        what: one line on the requirement.
        run: raises `MesocosmError` if it is not met; returns a reason if it cannot be checked.
    """

    name: str
    what: str
    run: Callable[[PhoneUnderTest], str | None]


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one check.

    Attributes:
        name: of the check.
        what: the requirement.
        state: ``pass``, ``fail`` or ``skip``.
        seconds: how long it took.
        message: why it failed or was skipped.
    """

    name: str
    what: str
    state: State
    seconds: float
    message: str = ""


def find_phone(
    serial: str,
    settings: Settings,
    *,
    adb_port: int | None = None,
    console: str = "",
    token_file: Path | None = None,
    timeout_s: float = 30.0,
) -> PhoneUnderTest:
    """Connect to a phone and, if it has one, its console.

    Args:
        serial: ``HOST:PORT``, or a serial from ``adb devices``, such as ``emulator-5554``.
        settings: locate socket and key of the appliance's adb server.
        adb_port: loopback port of another adb server that already knows the phone.
        console: ``HOST:PORT``; port N of this host by default for ``emulator-N``.
        token_file: contains the token for the console's ``auth`` command.
        timeout_s: for connecting.

    Raises:
        PhoneUnauthorizedError: the phone rejects the key of that adb server.
        LinkError: it cannot be reached.
        UsageError: the console's address or token is invalid.
    """
    endpoint = None if adb_port is None else TcpEndpoint(adb_port)
    device = AdbDevice(AdbServer(settings, endpoint=endpoint), serial)
    emulator = re.fullmatch(r"emulator-(\d+)", serial)
    if emulator and not console:
        console = f"127.0.0.1:{emulator[1]}"
    if not console:
        device.wait(timeout_s)
        return PhoneUnderTest(device)
    host, _, port = console.rpartition(":")
    token_file = token_file or Path.home() / TOKEN_NAME
    if not host or not port.isdigit() or not token_file.is_file():
        raise UsageError(
            f"Cannot sign in to the console {console}.",
            details=f"This needs HOST:PORT and a token in the file {token_file}.",
            resolution="Specify the console with --console and the token's file with --token-file.",
        )
    token = token_file.read_text().strip()
    device.wait(timeout_s)
    return PhoneUnderTest(device, lambda: ConsoleClient((host, int(port)), token))


def verify_phone(
    phone: PhoneUnderTest,
    checks: Sequence[Check],
    tick: Callable[[Finding], None] = lambda _finding: None,
) -> list[Finding]:
    """Run all checks, even if some fail.

    Args:
        phone: it must be connected.
        checks: such as `appliance.verify.phone_checks.CHECKS`.
        tick: called with each finding.
    """
    findings = []
    for check in checks:
        finding = _run(check, phone)
        tick(finding)
        findings.append(finding)
    return findings


def _run(check: Check, phone: PhoneUnderTest) -> Finding:
    start_s = phone.clock.monotonic_s()
    state: State = "pass"
    try:
        reason = check.run(phone) or ""
        state = "skip" if reason else "pass"
    except MesocosmError as exc:
        reason, state = f"{exc.brief} {exc.details}".strip(), "fail"
    return Finding(check.name, check.what, state, phone.clock.monotonic_s() - start_s, reason)
