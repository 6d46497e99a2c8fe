"""The Docker engine: connection, error mapping, and operations for builders."""

from __future__ import annotations

import io
import logging
import os
import re
import socket
import tarfile
from contextlib import closing, contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from foundation.errors import EngineError, ImageBuildError, RequirementError
from images.host import read_authorities, read_pip_conf, read_proxies

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from docker import DockerClient

    from foundation.errors import MesocosmError
    from images.recipe import Report

_log = logging.getLogger(__name__)

_STEP = re.compile(r"^Step (\d+)/(\d+) : (.*)")
_AUTHORITIES = ".host/ca-certificates.crt"
_PIP_CONF = ".host/pip.conf"
_DEFAULT_HOST = "unix:///var/run/docker.sock"
BUILD_TIMEOUT_S = 1800.0
_NEGOTIATION_TIMEOUT_S = 60
_PING_TIMEOUT_S = 10.0
_LOOK_MEMORY = "256m"


@contextmanager
def connect(
    timeout_s: float = 60.0, *, doing: str = "", refusal: type[MesocosmError] = EngineError
) -> Iterator[DockerClient]:
    """Connect to this host's Docker engine, and map its errors to ours.

    Args:
        timeout_s: timeout of each request.
        doing: the operation, for error messages, such as ``start a phone's container``.
        refusal: error to raise if the engine refuses the operation; its code becomes a metric
            label.

    Raises:
        EngineError: the engine refused the operation; or another `refusal`.
        RequirementError: the engine does not answer.
    """
    from docker.errors import APIError  # noqa: PLC0415
    from requests.exceptions import RequestException  # noqa: PLC0415

    client = open_client(timeout_s)
    try:
        yield client
    except APIError as exc:
        details = str(exc.explanation or exc)
        brief = f"The Docker engine could not {doing or 'perform the operation'}."
        raise refusal(brief, details=details) from exc
    except RequestException as exc:
        raise unreachable(exc) from exc
    finally:
        client.close()


def open_client(timeout_s: float = 60.0) -> DockerClient:
    """Return a client of the Docker engine; the caller must close it.

    Raises:
        RequirementError: the engine does not answer.
    """
    import docker  # noqa: PLC0415
    from docker.errors import DockerException  # noqa: PLC0415
    from requests.exceptions import RequestException  # noqa: PLC0415

    try:
        _touch_socket(timeout_s)
        return docker.from_env(timeout=int(timeout_s), version=_api_version(_host()))
    except (DockerException, RequestException, OSError) as exc:
        raise unreachable(exc) from exc


def require_engine(timeout_s: float = _PING_TIMEOUT_S) -> None:
    """Check that the Docker engine answers.

    Raises:
        RequirementError: it does not answer in time.
        EngineError: it refused the request.
    """
    with connect(timeout_s, doing="answer") as client:
        client.ping()


def unreachable(exc: Exception) -> RequirementError:
    """Return the error for an engine that does not answer, or refuses this user."""
    if "permission denied" in str(exc).lower():
        return RequirementError(
            "This user may not use the Docker engine.",
            details=str(exc),
            resolution="Run this as root, or add the user to the group docker and log in again.",
        )
    return RequirementError(
        "The Docker engine does not answer.",
        details=str(exc),
        resolution="Start it (`systemctl start docker`, or `dockerd &` without "
        "systemd), or run `make up`, which starts it. `mesocosm doctor` diagnoses it.",
    )


@cache
def _api_version(_address: str) -> str:
    """Negotiate the version of an engine's API, once per process, because it costs a request.

    Raises:
        DockerException: the engine does not answer.
    """
    import docker  # noqa: PLC0415

    with closing(docker.from_env(timeout=_NEGOTIATION_TIMEOUT_S)) as client:
        return str(client.api.api_version)


def _host() -> str:
    return os.environ.get("DOCKER_HOST") or _DEFAULT_HOST


def _touch_socket(timeout_s: float) -> None:
    """Connect to the engine's Unix socket once; the SDK leaks a socket if that fails."""
    host = _host()
    if host.startswith("unix://"):
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(timeout_s)
            probe.connect(host.removeprefix("unix://"))


def find_image(client: DockerClient, reference: str) -> str | None:
    """Return the ID (``sha256:...``) of an image by tag or ID, or None."""
    from docker.errors import ImageNotFound  # noqa: PLC0415

    try:
        return str(client.images.get(reference).id)
    except ImageNotFound:
        return None


def pull(client: DockerClient, reference: str, *, deadline_s: int, report: Report) -> str | None:
    """Get an image from the engine or a registry; None if neither has it.

    Args:
        client: client of the engine.
        reference: such as ``debian:12-slim``.
        deadline_s: how long the registry may take to answer.
        report: receives the progress of the pull.
    """
    _log.info("pulling %s", reference)
    import docker  # noqa: PLC0415
    from docker.errors import DockerException  # noqa: PLC0415
    from requests.exceptions import RequestException  # noqa: PLC0415

    if image_id := find_image(client, reference):
        return image_id
    repository, _, tag = reference.partition(":")
    quick = docker.from_env(timeout=deadline_s)
    try:
        quick.images.get_registry_data(reference)
        report("pull", None, f"pulling {reference}")
        return str(client.images.pull(repository, tag or "latest").id)
    except (DockerException, RequestException) as exc:
        report("pull", 1.0, f"no registry provides {reference}: {exc}")
        return None
    finally:
        quick.close()


def import_rootfs(client: DockerClient, tar: Path, changes: Sequence[str]) -> str:
    """Import a root file system's tar as an image with one layer, and return its ID.

    Args:
        client: the engine.
        tar: the archive, uncompressed or in a compression that the engine supports.
        changes: Dockerfile instructions to apply.
    """
    _log.info("importing %s", tar)
    reply = str(client.api.import_image(src=str(tar), changes=list(changes)))
    match = re.search(r"sha256:[0-9a-f]{64}", reply)
    if not match:
        raise ImageBuildError(
            "The docker engine could not import the root file system.", reply[-2000:]
        )
    return match.group()


def build_context(files: Mapping[str, Path], out: Path) -> None:
    """Write the tar of a build context: the files, and the host's authorities and pip.conf.

    Owners and times are omitted, so that the engine's layer cache depends only on content.

    Args:
        files: files or folders on the host by their path in the context.
        out: the tar to write.
    """

    def plain(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
        if "__pycache__" in info.name.split("/"):
            return None
        info.uid = info.gid = 0
        info.uname = info.gname = "root"
        info.mtime = 0
        info.mode = 0o755 if info.isdir() or info.mode & 0o100 else 0o644
        return info

    with tarfile.open(out, "w", format=tarfile.GNU_FORMAT) as tar:
        for name, path in sorted(files.items()):
            tar.add(path.resolve(), arcname=name, filter=plain)
        for name, data in (
            (_AUTHORITIES, read_authorities()),
            (_PIP_CONF, read_pip_conf(f"/{_AUTHORITIES}")),
        ):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))


def build_dockerfile(
    client: DockerClient, context: Path, args: Mapping[str, str], report: Report
) -> str:
    """Build the Dockerfile in a context, and return the image's ID; leaves no container behind.

    Args:
        client: the engine.
        context: the tar of the build context.
        args: build arguments.
        report: receives steps and output.

    Raises:
        ImageBuildError: a step failed; with the last lines of its output.
    """
    from docker.errors import APIError  # noqa: PLC0415

    tail: list[str] = []
    built = ""
    try:
        with context.open("rb") as file:
            events = client.api.build(
                fileobj=file,
                custom_context=True,
                network_mode="host",
                buildargs={**read_proxies(), **args},
                rm=True,
                forcerm=True,
                decode=True,
                timeout=int(BUILD_TIMEOUT_S),
            )
            for event in events:
                built = _read_event(event, tail, report) or built
    except APIError as exc:
        raise ImageBuildError("The docker engine refused the build.", str(exc)) from exc
    if not built:
        raise ImageBuildError("A step of the Dockerfile failed.", "\n".join(tail[-25:]))
    return built


def _read_event(event: dict[str, Any], tail: list[str], report: Report) -> str | None:
    """Report one event of a build; return the image's ID if the event contains it."""
    text = str(event.get("stream") or event.get("error") or event.get("status") or "")
    for line in text.splitlines():
        if not line.strip():
            continue
        tail.append(line)
        del tail[:-50]
        if step := _STEP.match(line):
            done, total, what = int(step[1]) - 1, int(step[2]), step[3]
            report(f"step {step[1]}/{step[2]}", done / total, what)
        else:
            report("", None, line)
    image_id = event.get("aux", {}).get("ID")
    return str(image_id) if image_id else None


def read_packages(client: DockerClient, image: str) -> dict[str, str]:
    """Return the version of each Debian package in an image; empty if it has no dpkg."""
    from docker.errors import ContainerError  # noqa: PLC0415

    try:
        raw = client.containers.run(
            image,
            entrypoint=["dpkg-query"],
            command=["-W", "-f", "${Package} ${Version}\n"],
            network_mode="none",
            mem_limit=_LOOK_MEMORY,
            memswap_limit=_LOOK_MEMORY,
            pids_limit=64,
            remove=True,
        )
    except ContainerError:
        return {}
    return parse_packages(raw.decode())


def parse_packages(text: str) -> dict[str, str]:
    r"""Parse the output of ``dpkg-query -W -f '${Package} ${Version}\n'``."""
    rows = (line.split() for line in text.splitlines())
    return {row[0]: row[1] for row in rows if len(row) == 2}  # noqa: PLR2004
