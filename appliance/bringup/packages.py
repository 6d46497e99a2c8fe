"""Install lock files into the Python environment that runs this: ``python packages.py LOCK...``.

uv takes a third of pip's time. It does not read pip's configuration, so pip's index settings are
translated for it. If uv cannot be installed or fails, pip is used instead. Both check the hash of
each package, so its origin does not matter. Packages without a wheel are built with one shared
setuptools instead of one per package. This only requires pip: no other package is installed yet.
"""

from __future__ import annotations

import ast
import compileall
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

INSTALLER_LOCK = Path(__file__).with_name("installer.lock")
SETUPTOOLS = "setuptools>=77"
_FILES_OF_OTHER_PYTHONS = 2
"""Value of `quiet` for `compileall`: print nothing, not even about files for other Pythons."""


def main(locks: list[str]) -> int:
    """Install lock files; return the exit code."""
    if not locks:
        sys.stderr.write("usage: python packages.py LOCK...\n")
        return 2
    wanted = [part for lock in locks for part in ("-r", lock)]
    return 0 if _install_by_uv(wanted) else _install_by_pip(wanted)


def pip_settings(listed: str) -> dict[str, str]:
    """Parse the output of ``pip config list``, keeping the value with the highest precedence.

    Args:
        listed: lines such as ``global.index-url='https://...'`` or ``:env:.cert='/etc/...'``.

    Returns:
        Values by name without its section, such as ``index-url``.
    """
    ranked: dict[str, tuple[int, str]] = {}
    for line in listed.splitlines():
        key, equals, value = line.partition("=")
        place, _, name = key.rpartition(".")
        if not equals or not name:
            continue
        rank = 2 if place == ":env:" else 1 if place == "install" else 0
        if rank >= ranked.get(name, (0, ""))[0]:
            ranked[name] = (rank, str(ast.literal_eval(value)))
    return {name: value for name, (_, value) in ranked.items()}


def uv_environment(settings: dict[str, str]) -> dict[str, str]:
    """Translate pip's settings to environment variables of uv.

    Source: uv's reference, *Environment variables*.
    """
    environment = {
        # As pip does. The hashes identify each package, regardless of the index.
        "UV_INDEX_STRATEGY": "unsafe-best-match",
        "UV_PYTHON": sys.executable,
    }
    names = {
        "index-url": "UV_DEFAULT_INDEX",
        "extra-index-url": "UV_INDEX",
        "trusted-host": "UV_INSECURE_HOST",
        "cert": "SSL_CERT_FILE",
        "client-cert": "SSL_CLIENT_CERT",
        "timeout": "UV_HTTP_TIMEOUT",
    }
    for name, variable in names.items():
        if values := settings.get(name, "").split():
            environment[variable] = " ".join(values)
    if links := settings.get("find-links", "").split():
        environment["UV_FIND_LINKS"] = ",".join(links)
    if proxy := settings.get("proxy", ""):
        environment |= {"HTTP_PROXY": proxy, "HTTPS_PROXY": proxy}
    return environment


def _install_by_uv(wanted: list[str]) -> bool:
    with tempfile.TemporaryDirectory(prefix="mesocosm-uv-") as folder:
        fetch = ("--no-deps", "--no-compile", "--target", folder, "--require-hashes")
        if _pip("install", *fetch, "-r", str(INSTALLER_LOCK)):
            return False
        uv = [str(Path(folder) / "bin/uv"), "pip", "install", "--no-deps"]
        listed = subprocess.run(
            [sys.executable, "-m", "pip", "config", "list"],
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        ).stdout
        environment = {**os.environ, **uv_environment(pip_settings(listed))}
        packages = ("--no-build-isolation", "--compile-bytecode", "--require-hashes", *wanted)
        return all(
            subprocess.run([*uv, *arguments], env=environment, check=False).returncode == 0
            for arguments in ((SETUPTOOLS,), packages)
        )


def _install_by_pip(wanted: list[str]) -> int:
    install = ("install", "--no-deps", "--no-compile")
    failed = _pip(*install, SETUPTOOLS) or _pip(
        *install, "--no-build-isolation", "--require-hashes", *wanted
    )
    if not failed:
        folder = sysconfig.get_path("purelib")
        compileall.compile_dir(folder, quiet=_FILES_OF_OTHER_PYTHONS, workers=0)
    return failed


def _pip(*arguments: str) -> int:
    options = ("--disable-pip-version-check", "--no-input")
    argv = [sys.executable, "-m", "pip", arguments[0], *options, *arguments[1:]]
    return subprocess.run(argv, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
