"""Main loop of helper processes: read requests from standard input and answer them one by one."""

from __future__ import annotations

import os
import select
import traceback
from typing import TYPE_CHECKING, Any

from provisioning.probe.errors import ProbeError
from provisioning.probe.serving.framing import LineSplitter, decode, encode
from provisioning.probe.serving.params import Params
from provisioning.probe.serving.workers import MAX_WORKER_LINE_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


_TIDY_EVERY_S = 1.0


def claim_streams() -> tuple[int, int]:
    """Redirect standard input and output away from other code; return the original descriptors."""
    in_fd, out_fd = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return in_fd, out_fd


def serve(
    ops: Mapping[str, Callable[[Params], Any]],
    in_fd: int,
    out_fd: int,
    *,
    is_tidy: Callable[[], bool] = lambda: True,
    tidy: Callable[[], None] = lambda: None,
    wakers: Mapping[Callable[[], int], Callable[[], object]] | None = None,
) -> None:
    """Answer requests until the probe exits.

    Args:
        ops: operations by name.
        in_fd: where requests arrive.
        out_fd: where replies go.
        is_tidy: returns whether the operations left nothing to do.
        tidy: called while no request arrives and something is left to do.
        wakers: functions that return a descriptor, -1 for none, each with a function that is called
            when it becomes readable.
    """
    splitter = LineSplitter(MAX_WORKER_LINE_BYTES)
    while True:
        # An unused probe must not wake up.
        awake = {fd: act for find, act in (wakers or {}).items() if (fd := find()) >= 0}
        timeout_s = None if is_tidy() else _TIDY_EVERY_S
        ready, _, _ = select.select([in_fd, *awake], [], [], timeout_s)
        if not ready:
            tidy()
        for fd in ready:
            if fd in awake:
                awake[fd]()
        if in_fd not in ready:
            continue
        data = os.read(in_fd, 1 << 16)
        if not data:
            return
        for line in splitter.feed(data):
            write_all(out_fd, encode(_answer(ops, decode(line.data)), MAX_WORKER_LINE_BYTES))


def write_all(fd: int, data: bytes) -> None:
    """Write all bytes."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def failure(request_id: int, exc: BaseException) -> dict[str, Any]:
    """Return the reply that reports an exception."""
    if isinstance(exc, ProbeError):
        body = {"type": exc.kind, "message": exc.message}
    else:
        message = "".join(traceback.format_exception_only(type(exc), exc)).strip()
        body = {"type": "failed", "message": message}
    return {"id": request_id, "ok": False, "error": body}


def _answer(ops: Mapping[str, Callable[[Params], Any]], request: dict[str, Any]) -> dict[str, Any]:
    request_id = int(request["id"])
    try:
        result = ops[str(request["op"])](Params(request["params"], float(request["timeout_s"])))
    except Exception as exc:  # noqa: BLE001 - the boundary: the probe must get an answer
        return failure(request_id, exc)
    return {"id": request_id, "ok": True, "result": result}
