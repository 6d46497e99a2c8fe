from __future__ import annotations

from appliance.verify.kvm_report import finding_lines, report_text, summary
from appliance.verify.phone import Finding

PASSED = Finding("boot", "A desktop boots.", "pass", 131.26, "booted and saved")
FAILED = Finding("rewind", "Rewinds are exact.", "fail", 7.0, "a long message with words " * 6)
SKIPPED = Finding("fork", "Forks are exact.", "skip", 0.0)


def test_lines_fit_80_columns_and_are_aligned() -> None:
    assert finding_lines(PASSED) == "pass  boot         131.3 s booted and saved"
    first, *others = finding_lines(FAILED).splitlines()
    assert first.startswith("fail  rewind         7.0 s a long message")
    assert others
    assert all(len(line) <= 80 for line in (first, *others))
    assert all(line.startswith(" " * 27) for line in others)
    assert finding_lines(SKIPPED).endswith("Forks are exact.")


def test_one_failure_fails_the_whole() -> None:
    assert summary([PASSED, SKIPPED]) == "PASSED: 1 passed, 0 failed, 1 skipped"
    assert summary([PASSED, FAILED]) == "FAILED: 1 passed, 1 failed, 0 skipped"


def test_report_has_facts_findings_and_the_result() -> None:
    facts = {"CPU": "2 x EPYC", "CPU flags": " ".join(["avx512_vbmi2"] * 20), "nothing": ""}
    text = report_text("mesocosm verify kvm", "2026-11-27 UTC", facts, [PASSED])
    assert text.startswith("mesocosm verify kvm, 2026-11-27 UTC\n\nCPU:       2 x EPYC\n")
    assert "nothing" not in text
    assert text.endswith("booted and saved\n\nPASSED: 1 passed, 0 failed, 0 skipped\n")
    assert all(len(line) <= 80 for line in text.splitlines())
