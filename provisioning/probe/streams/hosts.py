"""Names of services in the guest's hosts file."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

HOSTS_FILE = "/etc/hosts"
_MARK = "# mesocosm"
# A file that is mounted, as in containers, cannot be replaced.
_NOT_REPLACEABLE = frozenset({errno.EBUSY, errno.EXDEV, errno.EROFS})


class HostsFile:
    """The lines of a hosts file that belong to the appliance, marked by a comment.

    Args:
        path: path of the file.
    """

    def __init__(self, path: str = HOSTS_FILE) -> None:
        self._path = path

    def put(self, names: Mapping[str, Sequence[str]]) -> None:
        """Replace the appliance's lines; readers see the old or the new file, nothing between.

        Args:
            names: names by address; empty removes all lines.

        Raises:
            OSError: the file cannot be written.
        """
        before = self._read()
        lines = [line for line in before.splitlines(keepends=True) if not _is_own(line)]
        if lines and not lines[-1].endswith("\n"):
            lines[-1] += "\n"
        lines += [f"{address}\t{' '.join(row)}\t{_MARK}\n" for address, row in names.items()]
        after = "".join(lines)
        if after != before:
            self._write(after.encode("utf-8", "surrogateescape"))

    def _read(self) -> str:
        try:
            with open(self._path, encoding="utf-8", errors="surrogateescape") as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def _write(self, data: bytes) -> None:
        new = f"{self._path}.mesocosm"
        try:
            fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o644)
            with open(fd, "wb") as file:
                file.write(data)
                os.fchmod(fd, 0o644)
            os.replace(new, self._path)
        except OSError as exc:
            with contextlib.suppress(OSError):
                os.unlink(new)
            if exc.errno not in _NOT_REPLACEABLE:
                raise
            self._overwrite(data)

    def _overwrite(self, data: bytes) -> None:
        """Write over the file in place, and cut it afterwards, so that it is never empty."""
        fd = os.open(self._path, os.O_WRONLY | os.O_NOFOLLOW)
        try:
            os.pwrite(fd, data, 0)
            os.ftruncate(fd, len(data))
        finally:
            os.close(fd)


def _is_own(line: str) -> bool:
    return line.rstrip().endswith(_MARK)
