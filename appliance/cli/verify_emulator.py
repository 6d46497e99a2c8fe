"""``mesocosm verify emulator``: verify Google's emulator on this host."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path  # noqa: TC003 - typer reads it
from typing import Annotated

import typer

from appliance.cli.moments import moment
from appliance.cli.output import JsonOption, console_err, console_out, print_json


def emulator(
    quick: Annotated[
        bool, typer.Option("--quick", help="Rewind 3 times instead of 20, and start one phone.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the report to a file.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Verify Google's emulator: requirements, start, conformance, save, rewinds, clock, stop.

    Needs its image (`mesocosm image build android`); without it, verifies the requirements only. The
    phones that it makes are removed. The report names no user and no address.
    """
    from appliance.verify.emulator import EmulatorVerification
    from appliance.verify.emulator_report import finding_line, host_facts, report_text, summary
    from foundation.clock import SYSTEM_CLOCK
    from foundation.files import write_atomic
    from foundation.settings import get_settings

    settings = get_settings().model_copy(update={"phone": "emulator"})
    console = console_err() if json else console_out()

    def show(line: str) -> None:
        console.print(line, markup=False, highlight=False, soft_wrap=True)

    verification = EmulatorVerification(
        settings, lambda finding: show(finding_line(finding)), is_quick=quick
    )
    findings = verification.run()
    facts = host_facts(settings)
    if output:
        when = f"{moment(SYSTEM_CLOCK.now_s())} UTC"
        write_atomic(output, report_text(when, facts, findings))
    is_ok = all(finding.state != "fail" for finding in findings)
    if json:
        print_json({"ok": is_ok, "host": facts, "checks": [asdict(row) for row in findings]})
    show(summary(findings))
    if not is_ok:
        raise typer.Exit(1)
