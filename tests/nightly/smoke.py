"""Run each task of the suite smoke three times with the oracle, and require that all trials pass."""

from __future__ import annotations

import json
import sys

from foundation.process import run

REPEATS = 3


def main() -> int:
    """Return 0 if every trial passed, else 1."""
    argv = [sys.executable, "-m", "appliance.cli.main", "run", "smoke", "--agent", "oracle"]
    argv += ["--repeats", str(REPEATS), "--parallel", "2", "--json"]
    ended = run(argv, timeout_s=3600)
    try:
        counts = json.loads(ended.stdout)["verdicts"]
    except (ValueError, KeyError):
        sys.stderr.write(ended.stderr.decode(errors="replace"))
        return 1
    total = sum(counts.values())
    print(f"{counts['PASS']} of {total} passed")  # noqa: T201 - the job's summary
    return 0 if counts["PASS"] == total > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
