from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

import pytest

from foundation import process
from foundation.errors import RequirementError
from provisioning.links import zipapp

if TYPE_CHECKING:
    from pathlib import Path


def test_archive_is_reproducible() -> None:
    first = zipapp.build_probe()
    zipapp.build_probe.cache_clear()
    assert zipapp.build_probe() == first
    assert first.digest[:12] in first.file_name


def test_archive_holds_the_probe_and_its_wheels_without_compiled_code() -> None:
    with zipfile.ZipFile(io.BytesIO(zipapp.build_probe().data)) as archive:
        names = archive.namelist()
        assert archive.read("provisioning/__init__.py") == b""
    assert {"__main__.py", "provisioning/probe/serving/server.py", "mss/__init__.py"} <= set(names)
    assert not [name for name in names if name.endswith((".pyc", ".so"))]
    assert not [name for name in names if name.startswith("provisioning/") and "probe" not in name][
        1:
    ]


def test_python_xlib_is_packed_with_used_extensions_only() -> None:
    with zipfile.ZipFile(io.BytesIO(zipapp.build_probe().data)) as archive:
        names = {name for name in archive.namelist() if name.startswith("Xlib/ext/")}
    assert names == {f"Xlib/ext/{name}.py" for name in ("__init__", "ge", "res", "shape", "xtest")}


def test_older_fork_of_python_xlib_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = tmp_path / "Xlib"
    older.mkdir()
    (older / "__init__.py").touch()
    real_location = zipapp._location
    monkeypatch.setattr(zipapp, "_location", lambda n: older if n == "Xlib" else real_location(n))
    with pytest.raises(RequirementError, match=r"python-xlib 0\.33"):
        zipapp.build_probe.__wrapped__()


def test_changed_content_has_another_digest() -> None:
    members = {"a": b"1", "b": b"2"}
    assert zipapp._digest(members) != zipapp._digest({"a": b"12", "b": b""})
    assert zipapp._digest(members) != zipapp._digest({"a": b"1", "c": b"2"})


def test_archive_runs(tmp_path: object) -> None:
    path = f"{tmp_path}/{zipapp.build_probe().file_name}"
    with open(path, "wb") as file:  # noqa: PTH123
        file.write(zipapp.build_probe().data)
    done = process.run(["python3", "-I", path, "--stdio"], stdin=b"")
    assert zipapp.build_probe().digest.encode() in done.stdout
