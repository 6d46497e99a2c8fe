"""Install lock files into the Python environment that runs this: ``python packages.py LOCK...``.

uv does it in a third of pip's time. It does not read pip's configuration, so it is told what that
says of indexes. Where uv cannot be had or fails, pip does the same. Either checks the hash of each
package, so it does not matter where one is from. What has no wheel is built with one setuptools
instead of one a package. Nothing but pip is needed: there is no other package yet.
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
"""As `compileall` counts: it says nothing, not even of files that this Python cannot read."""


def main(locks: list[str]) -> int:
    """Install them; the exit code is pip's."""
    if not locks:
        sys.stderr.write("usage: python packages.py LOCK...\n")
        return 2
    wanted = [word for lock in locks for word in ("-r", lock)]
    return 0 if _install_by_uv(wanted) else _install_by_pip(wanted)


def pip_settings(listed: str) -> dict[str, str]:
    """Read what ``pip config list`` prints; of several places the one that pip heeds most.

    Args:
        listed: lines such as ``global.index-url='https://...'`` or ``:env:.cert='/etc/...'``.

    Returns:
        By name without its place, such as ``index-url``.
    """
    heeded: dict[str, tuple[int, str]] = {}
    for line in listed.splitlines():
        key, equals, value = line.partition("=")
        place, _, name = key.rpartition(".")
        if not equals or not name:
            continue
        rank = 2 if place == ":env:" else 1 if place == "install" else 0
        if rank >= heeded.get(name, (0, ""))[0]:
            heeded[name] = (rank, str(ast.literal_eval(value)))
    return {name: value for name, (_, value) in heeded.items()}


def uv_environment(settings: dict[str, str]) -> dict[str, str]:
    """Translate settings of pip for uv. Source: uv's reference, *Environment variables*.

    Returns:
        Variables of uv.
    """
    environment = {
        # As pip does. The hashes say which package is meant, whichever index has it.
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
        if words := settings.get(name, "").split():
            environment[variable] = " ".join(words)
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
            subprocess.run([*uv, *words], env=environment, check=False).returncode == 0
            for words in ((SETUPTOOLS,), packages)
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


def _pip(*words: str) -> int:
    options = ("--disable-pip-version-check", "--no-input")
    argv = [sys.executable, "-m", "pip", words[0], *options, *words[1:]]
    return subprocess.run(argv, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
