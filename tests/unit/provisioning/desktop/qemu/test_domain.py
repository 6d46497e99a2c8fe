from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from provisioning.desktop.qemu.domain import DomainSpec, domain_xml, hardware

GOLDEN = Path(__file__).parents[4] / "golden"
FOLDER = Path("/state/machines/desktop-abc123")
SPEC = DomainSpec(
    name="desktop-abc123",
    accelerator="tcg",
    memory_mib=3072,
    cpus=2,
    folder=FOLDER,
    kernel=Path("/state/images/desktop/1f/vmlinuz"),
    initrd=Path("/state/images/desktop/1f/initrd.img"),
    ssh_port=20022,
    mac="52:54:00:12:34:56",
)


@pytest.mark.parametrize("accelerator", ["tcg", "kvm"])
def test_domain_xml_matches_the_golden_file(accelerator: str) -> None:
    written = domain_xml(dataclasses.replace(SPEC, accelerator=accelerator))

    assert written == (GOLDEN / f"domain-{accelerator}.xml").read_text()


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        # A comma in a path is doubled, or QEMU parses the rest as an option.
        ("fork", {"ram": Path("/state/templates/1c58,2fc9/ram"), "is_incoming": True}),
        ("template", {"ram": Path("/state/templates/.build-1c58/ram"), "is_template": True}),
    ],
)
def test_forks_and_templates_differ_in_their_memory(name: str, changes: dict[str, Any]) -> None:
    written = domain_xml(dataclasses.replace(SPEC, **changes))

    assert written == (GOLDEN / f"domain-{name}.xml").read_text()


def test_guest_has_no_outgoing_network_and_one_forwarded_port() -> None:
    assert "user,id=net0,restrict=on,hostfwd=tcp::20022-:22" in domain_xml(SPEC)
    assert "<interface" not in domain_xml(SPEC)


def test_names_are_escaped_in_the_xml() -> None:
    odd = dataclasses.replace(SPEC, folder=Path('/a"b<c>&d'))

    assert '/a"b<c>' not in domain_xml(odd)
    assert "&amp;d" in domain_xml(odd)


def test_hardware_description_depends_on_hardware_but_not_on_names() -> None:
    kinds = {
        hardware(accelerator, memory_mib=memory_mib, cpus=cpus)
        for accelerator in ("tcg", "kvm")
        for memory_mib in (2048, 3072)
        for cpus in (1, 2)
    }
    assert len(kinds) == 8
    assert 'policy="disable"' in hardware("tcg", memory_mib=2048, cpus=1)
    assert not any("/state" in kind or "desktop-" in kind for kind in kinds)
