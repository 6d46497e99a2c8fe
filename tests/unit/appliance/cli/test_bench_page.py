from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from appliance.bench.fork import proportional_mib
from appliance.bench.page import put_section, section
from appliance.bench.rows import Row
from foundation.errors import MachineError

if TYPE_CHECKING:
    from pathlib import Path


def written(command: str, seconds: float) -> str:
    row = Row("rewind", "what it covers", samples_s=[seconds], extra={"load_mean_s": 0.61234})
    return section(command, [row], versions={"accelerator": "tcg"}, now_s=0.0, cores=2)


def test_section_has_conditions_and_percentiles() -> None:
    text = written("mesocosm bench reset -n 1", 1.2)
    assert text.startswith("## `mesocosm bench reset -n 1`\n")
    assert "1970-01-01, 2 cores, accelerator tcg" in text
    assert (
        "| rewind | 1 | 0 | 1.200 | 1.200 | 1.200 | what it covers | load_mean_s 0.6123 |" in text
    )


def test_repeated_benchmark_replaces_its_own_section_only(tmp_path: Path) -> None:
    page = tmp_path / "benchmarks.md"
    put_section(page, written("mesocosm bench reset -n 1", 1.0))
    put_section(page, written("mesocosm bench fork -n 1", 2.0))
    put_section(page, written("mesocosm bench reset -n 100", 3.0))

    text = page.read_text()
    assert text.startswith("# Benchmarks\n")
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## `mesocosm bench fork -n 1`",
        "## `mesocosm bench reset -n 100`",
    ]
    assert "1.000" not in text
    assert "2.000" in text
    assert "3.000" in text


def test_proportional_memory_is_of_the_named_machine(tmp_path: Path) -> None:
    for pid, name, kib in (("7", "desktop-a", 1024), ("8", "desktop-ab", 307200)):
        (tmp_path / pid).mkdir()
        (tmp_path / pid / "cmdline").write_bytes(f"qemu\0-name\0guest={name},debug\0".encode())
        (tmp_path / pid / "smaps_rollup").write_text(
            f"Rss: 9 kB\nPss:   {kib} kB\nPss_Dirty: 1 kB\n"
        )
    assert proportional_mib("desktop-ab", tmp_path) == 300
    with pytest.raises(MachineError, match="desktop-b"):
        proportional_mib("desktop-b", tmp_path)
