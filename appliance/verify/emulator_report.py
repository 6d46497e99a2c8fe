"""The report of `appliance.verify.emulator`, which users can send."""

from __future__ import annotations

import importlib.metadata
import platform
import textwrap
from typing import TYPE_CHECKING

from foundation.errors import MesocosmError
from images.builder import find
from images.engine import connect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from appliance.verify.phone import Finding
    from foundation.settings import Settings

_WIDTH = 78
_NAME_CHARS = 12


def finding_line(finding: Finding) -> str:
    """Return a finding as text, at most 78 characters wide."""
    head = f"{finding.state:5}{finding.name:{_NAME_CHARS}} {finding.seconds:6.1f} s  "
    return textwrap.fill(
        finding.message or finding.what,
        _WIDTH,
        initial_indent=head,
        subsequent_indent=" " * len(head),
        break_long_words=False,
        break_on_hyphens=False,
    )


def summary(findings: Sequence[Finding]) -> str:
    """Return one line with the counts."""
    counts = {
        state: sum(row.state == state for row in findings) for state in ("pass", "fail", "skip")
    }
    return f"{counts['pass']} passed, {counts['fail']} failed, {counts['skip']} skipped"


def host_facts(settings: Settings) -> dict[str, str]:
    """Return what the result depends on; neither names nor addresses of the host."""
    facts = {
        "mesocosm": importlib.metadata.version("mesocosm"),
        "kernel": platform.release(),
        "machine": platform.machine(),
    }
    try:
        with connect(doing="name its version") as client:
            info = client.info()
        facts["docker"] = (
            f"{info['ServerVersion']}, {info['Driver']}, cgroup {info['CgroupVersion']}"
        )
        facts["image"] = f"{find('android', settings).digest[:12]}"
    except MesocosmError as exc:
        facts.setdefault("docker", exc.brief)
        facts["image"] = "not built"
    return facts


def report_text(when: str, facts: Mapping[str, str], findings: Sequence[Finding]) -> str:
    """Return the report: command, time, host, one line per check, counts."""
    rows = [f"{name:12}{value}" for name, value in facts.items()]
    lines = [finding_line(finding) for finding in findings]
    return "\n".join(
        ["mesocosm verify emulator", when, "", *rows, "", *lines, "", summary(findings), ""]
    )
