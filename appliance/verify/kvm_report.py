"""The report of a verification, as plain text that fits 80 columns."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from appliance.verify.phone import Finding

_WIDTH = 80
_INDENT = " " * 27


def finding_lines(finding: Finding) -> str:
    """Return a finding as one line, with further lines indented if it is long."""
    head = f"{finding.state:<5} {finding.name:<11} {finding.seconds:>6.1f} s"
    message = finding.message or finding.what
    return textwrap.fill(
        message,
        _WIDTH,
        initial_indent=f"{head:<27}",
        subsequent_indent=_INDENT,
        break_on_hyphens=False,
    )


def summary(findings: Sequence[Finding]) -> str:
    """Return the last line: how many checks passed, failed or were skipped."""
    counts = {
        state: sum(finding.state == state for finding in findings)
        for state in ("pass", "fail", "skip")
    }
    verdict = "FAILED" if counts["fail"] else "PASSED"
    return f"{verdict}: {counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped"


def report_text(
    command: str, when: str, facts: Mapping[str, str], findings: Sequence[Finding]
) -> str:
    """Return the whole report.

    Args:
        command: the command that made it.
        when: time of its beginning.
        facts: about the host, by name.
        findings: of the checks, in order.
    """
    wide = max(map(len, facts), default=0) + 2
    shown = [
        textwrap.fill(
            value,
            _WIDTH,
            initial_indent=f"{name + ':':<{wide}}",
            subsequent_indent=" " * wide,
            break_on_hyphens=False,
            break_long_words=False,
        )
        for name, value in facts.items()
        if value
    ]
    lines = [f"{command}, {when}", "", *shown, "", *map(finding_lines, findings), ""]
    return "\n".join([*lines, summary(findings), ""])
