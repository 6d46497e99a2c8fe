"""Renderers in containers without network, capabilities or writable files."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, cast

from docker.errors import APIError, NotFound
from docker.types import LogConfig
from requests.exceptions import RequestException

from evaluators.rendering.errors import RendererError
from foundation.clock import SYSTEM_CLOCK
from foundation.errors import RequirementError
from images.engine import open_client
from provisioning.container_names import LABEL, LABEL_STATE
from provisioning.desktop.container.link import ExecTransport

if TYPE_CHECKING:
    from pathlib import Path

    from docker import DockerClient
    from docker.models.containers import Container

    from provisioning.desktop.container.link import Stream

_log = logging.getLogger(__name__)

LABEL_RENDERER = "mesocosm.renderer"
MEMORY_MIB = 1024
"""Includes files; LibreOffice with a document of ordinary size uses about 350 MiB."""
MAX_PROCESSES = 256
FILES_MIB = 512
_ENGINE_TIMEOUT_S = 60.0
_WRITABLE = ("/tmp", "/home")  # noqa: S108 - the container's
"""Its folders in memory: of LibreOffice, and of documents that ask where they are."""
LEFT_S = 300.0
"""Age at which a container that does not run is a leftover."""
_STREAMS = {"stdin": 1, "stdout": 1, "stderr": 1, "stream": 1}


def open_renderer(image: str, state_dir: Path) -> ExecTransport:
    """Start a container and return its standard streams; closing them removes it.

    The container also ends, and is removed, when this process ends, because its input does; `remove_leftovers`
    removes what was created and never started.

    Args:
        image: docker tag of the renderer's image.
        state_dir: the appliance's state folder, by which its containers are found.

    Raises:
        RendererError: the engine refused.
        RequirementError: the engine does not answer.
    """
    client = open_client(_ENGINE_TIMEOUT_S)
    try:
        container = _create(client, image, state_dir)
        stream = container.attach_socket(params=_STREAMS)
        container.start()
    except (APIError, RequestException) as exc:
        client.close()
        raise RendererError("The renderer's container does not start.", str(exc)) from exc
    _log.debug("renderer %s started from %s", container.short_id, image)

    def end() -> None:
        # The engine takes a fraction of a second, which the view need not wait for.
        threading.Thread(target=_remove, args=(client, container), daemon=True).start()

    return ExecTransport(cast("Stream", stream), end)


def remove_leftovers(state_dir: Path, *, older_than_s: float = LEFT_S) -> list[str]:
    """Remove renderers that do not run; return their names.

    A renderer ends when the process ends that opened it, and the engine removes it. What remains was
    created by a process that was killed before it started the container, or ended with the engine.

    Args:
        state_dir: the appliance's state folder.
        older_than_s: their least age.

    Raises:
        RequirementError: the engine does not answer.
    """
    client = open_client(_ENGINE_TIMEOUT_S)
    filters: dict[str, str | list[str] | bool] = {
        "label": [LABEL_RENDERER, f"{LABEL_STATE}={state_dir}"],
        "status": ["created", "exited", "dead"],
    }
    try:
        found = client.containers.list(all=True, sparse=True, filters=filters)
        old = [one for one in found if SYSTEM_CLOCK.now_s() - one.attrs["Created"] > older_than_s]
        for container in old:
            container.remove(force=True)
    except NotFound:
        return []  # another process was faster; the next call removes the rest
    except (APIError, RequestException) as exc:
        raise RequirementError("The Docker engine does not remove renderers.", str(exc)) from exc
    finally:
        client.close()
    return [str(container.id)[:12] for container in old]


def _create(client: DockerClient, image: str, state_dir: Path) -> Container:
    return client.containers.create(
        image,
        labels={LABEL: "1", LABEL_STATE: str(state_dir), LABEL_RENDERER: "1"},
        stdin_open=True,
        init=True,
        auto_remove=True,
        network_mode="none",
        cap_drop=["ALL"],
        security_opt=["no-new-privileges:true"],
        read_only=True,
        tmpfs=dict.fromkeys(_WRITABLE, f"mode=1777,size={FILES_MIB}m,nosuid,nodev"),
        mem_limit=f"{MEMORY_MIB}m",
        memswap_limit=f"{MEMORY_MIB}m",
        pids_limit=MAX_PROCESSES,
        log_config=LogConfig(type="none"),
    )


def _remove(client: DockerClient, container: Container) -> None:
    """Remove a container, which removes itself when it ends."""
    try:
        container.remove(force=True)
    except NotFound:
        pass
    except (APIError, RequestException) as exc:
        _log.debug("renderer %s: %s", container.short_id, exc)
    finally:
        client.close()
