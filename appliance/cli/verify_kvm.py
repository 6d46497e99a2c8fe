"""``mesocosm verify kvm``: verify desktops under KVM on this host."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path  # noqa: TC003 - typer reads it
from typing import TYPE_CHECKING, Annotated

import typer

from appliance.cli.moments import moment
from appliance.cli.output import JsonOption, console_err, console_out, print_json, say

if TYPE_CHECKING:
    from collections.abc import Callable

    from appliance.verify.phone import Finding
    from foundation.settings import Settings

_ACCELERATORS = ("kvm", "tcg")


def kvm(
    accelerator: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="kvm runs the checks even if KVM is slow here; tcg runs them in software emulation.",
        ),
    ] = "",
    quick: Annotated[
        bool, typer.Option("--quick", help="Repeat less: 3 rewinds, 3 forks, 2 at once.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write a report, with facts about this host."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Verify desktops under KVM: boot, save, rewind, fork, several at once, clock, identity, speed.

    Needs the appliance up. The desktops that it makes are removed. The report names neither this
    host nor its users or addresses, so that you can send it.
    """
    from appliance.verify.kvm_host import host_facts
    from appliance.verify.kvm_report import finding_lines, report_text, summary
    from foundation.clock import SYSTEM_CLOCK
    from foundation.files import write_atomic

    settings = _settings(accelerator)
    when = f"{moment(SYSTEM_CLOCK.now_s())} UTC"
    console = console_err() if json else console_out()

    def show(line: str) -> None:
        console.print(line, markup=False, soft_wrap=True)

    findings = _verify(settings, lambda finding: show(finding_lines(finding)), quick=quick)
    facts = host_facts(settings)
    if output:
        options = [f" --accelerator {accelerator}" if accelerator else "", " --quick" * quick]
        command = f"mesocosm verify kvm{''.join(options)}"
        write_atomic(output, report_text(command, when, facts, findings))
    is_ok = all(finding.state != "fail" for finding in findings)
    if json:
        print_json({"ok": is_ok, "host": facts, "checks": [asdict(row) for row in findings]})
    show(summary(findings))
    if not is_ok:
        raise typer.Exit(1)


def _settings(accelerator: str) -> Settings:
    """Return settings under which every desktop that is leased is a new fork.

    Raises:
        UnknownNameError: there is no such accelerator.
    """
    from foundation.errors import UnknownNameError
    from foundation.settings import get_settings

    if accelerator and accelerator not in _ACCELERATORS:
        raise UnknownNameError.of("accelerator", accelerator, _ACCELERATORS)
    changes = {"desktop": "vm", "desktop_reset": "fork", "desktop_pool": "0"}
    if accelerator:
        changes["accelerator"] = accelerator
    return get_settings().model_copy(update=changes)


def _verify(settings: Settings, tick: Callable[[Finding], None], *, quick: bool) -> list[Finding]:
    """Verify the host, then desktops, unless there are none to verify."""
    from appliance.verify.kvm import QUICK, KvmVerification, Plan
    from appliance.verify.kvm_host import check_accelerator, check_speed
    from provisioning.fleet.local import LocalFleet

    fleet = LocalFleet(settings, say=say)
    verification = KvmVerification(fleet, QUICK if quick else Plan(), tick)
    verification.check("accelerator", "This host runs guests.", lambda: check_accelerator(settings))
    is_usable = verification.findings[0].state == "pass"
    if is_usable or settings.accelerator == "kvm":
        verification.check("speed", "Guests are fast.", lambda: check_speed(settings))
        verification.run()
    else:
        why = "The ten checks of desktops were not run; --accelerator kvm runs them all the same."
        verification.skip("desktops", "Desktops keep their promises.", why)
    return verification.findings
