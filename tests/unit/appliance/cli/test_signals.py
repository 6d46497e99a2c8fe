from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from foundation.clock import wait_until

if TYPE_CHECKING:
    from pathlib import Path

ENDS_SLOWLY = """
import sys, threading
from appliance.cli.main import main
threading.Thread(target=threading.Event().wait).start()  # as one that ends a machine
sys.exit(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_second_signal_during_shutdown_exits_without_a_traceback(
    tmp_path: Path, number: signal.Signals
) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs/mesocosm.jsonl").touch()
    with subprocess.Popen(  # noqa: TID251
        [sys.executable, "-c", ENDS_SLOWLY, "settings"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "MESOCOSM_STATE_DIR": str(tmp_path)},
    ) as process:
        log = tmp_path / "logs/mesocosm.jsonl"
        try:
            assert wait_until(
                lambda: log.is_file() and b"ended with exit code 0" in log.read_bytes(),
                timeout_s=60,
            )
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, err.decode()) == (130, "")
    assert b"MESOCOSM_STATE_DIR" in out
