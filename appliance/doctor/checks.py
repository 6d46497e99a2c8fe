"""The list of all checks, and functions that run them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from appliance.doctor.appliance import check_alerts, check_machines, check_services
from appliance.doctor.check import Check, ask_all
from appliance.doctor.hardware import (
    check_cpu,
    check_disk,
    check_kept_kvm,
    check_kvm,
    check_memory,
)
from appliance.doctor.network import (
    check_base_archive,
    check_clock,
    check_desktop_archives,
    check_ports,
    check_registry,
)
from appliance.doctor.programs import (
    check_build_tools,
    check_compose,
    check_docker,
    check_libvirt,
    check_python,
    check_qemu,
    tool_check,
)
from appliance.doctor.recorded import OF_THE_HOST, record_findings, with_recorded

if TYPE_CHECKING:
    from collections.abc import Callable

    from appliance.doctor.check import Answer
    from foundation.settings import Settings

DEADLINE_S = 8.5
CHECKS = (
    Check("cpu", check_cpu, needed=False),
    Check("kvm", check_kvm, needed=False),
    Check("memory", check_memory),
    Check("disk", check_disk),
    Check("python", check_python),
    Check("docker", check_docker),
    Check("compose", check_compose),
    Check("qemu", check_qemu, needed=False),
    Check("libvirt", check_libvirt, needed=False),
    Check("adb", tool_check("adb", "adb", "version")),
    Check("mmdebstrap", tool_check("mmdebstrap", "mmdebstrap", "--version")),
    Check("build-tools", check_build_tools),
    Check("ports", check_ports),
    Check("archive", check_base_archive),
    Check("desktop-archive", check_desktop_archives),
    Check("registry", check_registry, needed=False),
    Check("clock", check_clock, needed=False),
    Check("services", check_services),
    Check("alerts", check_alerts, needed=False),
    Check("machines", check_machines, needed=False),
)


def examine(settings: Settings, on_answer: Callable[[Answer], None] | None = None) -> list[Answer]:
    """Run all checks in parallel, in less than ten seconds even if one hangs.

    In a container, findings about the host are those that were last recorded there.
    """
    if settings.place == "container":
        checks = with_recorded(CHECKS, settings)
        return ask_all(checks, settings, deadline_s=DEADLINE_S, on_answer=on_answer)
    answers = ask_all(CHECKS, settings, deadline_s=DEADLINE_S, on_answer=on_answer)
    record_findings(answers, settings)
    return answers


def examine_host(settings: Settings) -> None:
    """Record findings that need the host, for the worker's container; reuses a known KVM result."""
    checks = [
        Check("kvm", check_kept_kvm, needed=False) if check.name == "kvm" else check
        for check in CHECKS
        if check.name in OF_THE_HOST
    ]
    record_findings(ask_all(checks, settings, deadline_s=DEADLINE_S), settings)
