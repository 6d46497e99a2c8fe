"""Runs in a machine: one command or file operation of the sandbox, for the user that runs it.

Sent as source with each request (``python3 -I -c``): standard library only, Python 3.9. Arguments
are the operation and its operands; errors are one JSON line on standard error.
"""

import base64
import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import typing

INLINE_BYTES = 300_000
GRACE_S = 0.3
SUBREAPER = 36  # Source: linux/prctl.h, PR_SET_CHILD_SUBREAPER


def main(arguments: typing.List[str]) -> int:
    operations: typing.Dict[str, typing.Callable[..., None]] = {
        "exec": execute,
        "write": write,
        "read": read,
    }
    try:
        operations[arguments[0]](*arguments[1:])
    except OSError as exc:
        report = {"error": type(exc).__name__, "text": exc.strerror or str(exc)}
        sys.stderr.write(json.dumps(report))
        return 9
    return 0


def write(path: str, mode: str) -> None:
    """Write standard input to a file, "w" or "a", and make its folders."""
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, mode + "b") as file:
        file.write(sys.stdin.buffer.read())


def read(path: str, offset: str, count: str, removes: str) -> None:
    """Write a part of a file to standard output, and its size to standard error."""
    if os.path.isdir(path):
        raise IsADirectoryError(21, "Is a directory")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(int(offset))
        sys.stdout.buffer.write(file.read(int(count)))
    sys.stderr.write(json.dumps({"size": size}))
    if removes == "1" and int(offset) + int(count) >= size:
        os.unlink(path)


def execute(spec_path: str) -> None:
    """Run a command described by standard input, or by a file that is then removed."""
    if spec_path:
        with open(spec_path, "rb") as file:
            spec = json.loads(file.read())
        os.unlink(spec_path)
    else:
        spec = json.loads(sys.stdin.buffer.read())
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    source = open(spec["input"] or os.devnull, "rb")
    try:
        process = subprocess.Popen(
            spec["argv"],
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=spec["cwd"],
            env={**os.environ, **spec["env"]},
            start_new_session=True,
        )
    except FileNotFoundError as exc:
        answer({"code": 127, "error": f"{exc.filename or spec['argv'][0]}: not found"}, b"", b"")
        return
    finally:
        source.close()
        if spec["input"]:
            os.unlink(spec["input"])
    pipes = (process.stdout, process.stderr)
    streams = [Stream(pipe, spec["limit"]) for pipe in pipes if pipe is not None]
    try:
        code = process.wait(spec["timeout"])
    except subprocess.TimeoutExpired:
        kill_tree(process)
        answer({"timeout": True}, b"", b"")
        return
    for stream in streams:
        stream.thread.join(GRACE_S)
    out, err = (bytes(stream.kept) for stream in streams)
    is_cut = any(stream.is_cut for stream in streams)
    answer({"code": 128 - code if code < 0 else code, "cut": is_cut}, out, err)


class Stream:
    """Reads a pipe up to a limit, and drops the rest."""

    def __init__(self, pipe: typing.IO[bytes], limit: int) -> None:
        self.kept = bytearray()
        self.is_cut = False
        self.pipe = pipe
        self.limit = limit
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        while True:
            data = os.read(self.pipe.fileno(), 1 << 16)
            if not data:
                return
            room = self.limit - len(self.kept)
            self.kept += data[:room]
            self.is_cut = self.is_cut or len(data) > room


def kill_tree(process: "subprocess.Popen[bytes]") -> None:
    """Kill a command with all its descendants, also those in sessions of their own."""
    for _ in range(5):
        targets = descendants(os.getpid())
        if not targets:
            return
        for pid in targets:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        process.poll()
        time.sleep(0.05)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return


def descendants(root: int) -> typing.List[int]:
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            parents[int(name)] = int(fields[1])
    found = [root]
    for pid in found:
        found += [child for child, parent in parents.items() if parent == pid]
    return found[1:]


def answer(about: typing.Dict[str, typing.Any], out: bytes, err: bytes) -> None:
    """Print the result; long outputs are left in files, for `read`."""
    for name, data in (("out", out), ("err", err)):
        if len(data) <= INLINE_BYTES:
            about[name] = base64.b64encode(data).decode()
        else:
            handle, path = tempfile.mkstemp(prefix="mesocosm-")
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            about[name + "_file"] = path
    print(json.dumps(about))


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # threads may still read from programs in the background
