"""Stop the appliance and, with a purge, remove everything from the disk."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from docker.errors import APIError, ImageNotFound

from appliance.bringup.machines import remove_machines, stop_machines
from appliance.bringup.service import stop_service
from appliance.bringup.up import STATE_MARK
from appliance.services.compose import Compose
from appliance.services.engine import docker_client, engine_answers, stop_engine
from controller.executors.cluster.control import ClusterControl
from foundation.errors import MesocosmError, RequirementError, UsageError
from images.builder import list_manifests
from images.manifest import Manifest
from images.recipe import is_own_tag
from provisioning.machine_folder import iter_folders
from provisioning.phone.adb.server import AdbServer

if TYPE_CHECKING:
    from collections.abc import Callable

    from appliance.bringup.steps import Steps
    from controller.executors.cluster.records import Role
    from foundation.settings import Settings

    _Work = Callable[[Settings], str]


def take_down(settings: Settings, steps: Steps, *, purge: bool) -> None:
    """Stop runs, schedules, machines, services, the adb server, and the docker engine if we started it.

    Works from any partial state and skips what does not exist. Continues after a failed step and
    raises its error at the end.

    Args:
        settings: of the appliance.
        steps: shows the progress.
        purge: also remove images, results and all other state of the appliance.

    Raises:
        UsageError: the folder to purge is not marked by a bring-up.
        RequirementError: the appliance belongs to another user; nothing was stopped.
        MesocosmError: the error of the first step that failed.
    """
    if purge:
        require_own(settings.state_dir)
    require_rights(settings.state_dir)
    failures: list[MesocosmError] = []

    def attempt(name: str, work: _Work) -> None:
        try:
            with steps.step(name) as step:
                step.note = work(settings)
        except MesocosmError as exc:
            failures.append(exc)

    attempt("cluster", _stop_cluster)
    attempt("runs and schedules", stop_service)
    if engine_answers():
        attempt("machines", _remove_machines if purge else _stop_machines)
        attempt("services", _purge_services if purge else _remove_services)
        if purge:
            attempt("docker images", _remove_images)
    attempt("adb server", _stop_adb)
    attempt("docker engine", stop_engine)
    if purge and not failures:
        attempt("state", _remove_state)
    if failures:
        raise failures[0]


def _stop_cluster(settings: Settings) -> str:
    """Stop the nodes of this appliance in a cluster of hosts."""
    control = ClusterControl(settings)
    roles: tuple[Role, ...] = ("host", "head")
    return ", ".join(role for role in roles if control.stop(role)) or "none"


def require_own(state_dir: Path) -> None:
    """Check that a folder is an appliance's state before anything in it is removed.

    Raises:
        UsageError: it is not, or it is a system folder.
    """
    resolved = state_dir.resolve()
    if not resolved.exists():
        return
    is_ours = (resolved / STATE_MARK).is_file()
    if not is_ours or len(resolved.parts) <= 2 or resolved == Path.home():  # noqa: PLR2004
        raise UsageError(
            f"{state_dir} was not purged: it does not look like an appliance's state.",
            details=f"It has no file {STATE_MARK}, or it is a system folder.",
            resolution="Set MESOCOSM_STATE_DIR to the appliance's folder.",
        )


def require_rights(state_dir: Path) -> None:
    """Check that an appliance belongs to this user before anything of it is stopped.

    A user in the group docker could stop the containers of any user's appliance.

    Raises:
        RequirementError: the state folder belongs to another user, or does not exist and the user
            is not root.
    """
    resolution = "Run this as the user who brought the appliance up, or set MESOCOSM_STATE_DIR."
    if not state_dir.exists():
        if os.geteuid() != 0:
            raise RequirementError(
                "There is no appliance to take down.",
                details=f"{state_dir} does not exist.",
                resolution=resolution,
            )
    elif not os.access(state_dir, os.R_OK | os.W_OK | os.X_OK):
        raise RequirementError(
            f"The appliance in {state_dir} belongs to another user: nothing was stopped.",
            resolution=resolution,
        )


def describe_purge(settings: Settings) -> str:
    """Return a sentence on what a purge would remove."""
    runs = [path for path in settings.runs_dir.glob("[!.]*") if path.is_dir()]
    counts = {
        "runs": len(runs),
        "images": len(list_manifests(settings)),
        "machines": len(list(iter_folders(settings))),
    }
    held = ", ".join(f"{count} {name}" for name, count in counts.items())
    return f"It removes {settings.state_dir} ({held}) and the appliance's containers and volumes."


def _remove_machines(settings: Settings) -> str:
    return ", ".join(remove_machines(settings)) or "none"


def _stop_machines(settings: Settings) -> str:
    return ", ".join(stop_machines(settings)) or "none"


def _remove_services(settings: Settings) -> str:
    settings.container_environment.unlink(missing_ok=True)
    return ", ".join(Compose(settings).remove(volumes=False)) or "none"


def _purge_services(settings: Settings) -> str:
    return ", ".join(Compose(settings).remove(volumes=True)) or "none"


def _remove_images(settings: Settings) -> str:
    """Remove from the engine the images that this state folder's manifests name, and their stages.

    Manifests that were copied here with their images name tags of another appliance: those images
    are kept. So are images that any container, running or not, was created from: that container
    belongs to another appliance, as ours are already gone.
    """
    rows = [row for _, row in list_manifests(settings) if isinstance(row, Manifest)]
    named = {row.docker_tag for row in rows if row.docker_tag}
    ours = {tag for tag in named if is_own_tag(tag, settings.owner)}
    with docker_client(timeout_s=300) as client:
        images = client.images.list(all=True)
        present = {tag: str(image.id) for image in images for tag in image.tags if tag in named}
        tags = {tag: image for tag, image in present.items() if tag in ours}
        parents = {str(image.id): str(image.attrs.get("ParentId", "")) for image in images}
        tagged = {str(image.id) for image in images if image.tags}
        stages = [
            parent
            for parent in parents
            if parent not in tagged and _is_built_on(parent, tags, parents)
        ]
        used = {str(container["ImageID"]) for container in client.api.containers(all=True)}
        going = [tag for tag, image in tags.items() if image not in used]
        for tag in going:
            client.images.remove(tag, force=True)
        # Remaining build stages; most were removed together with the tags built on them.
        for stage in stages:
            with suppress(ImageNotFound, APIError):
                client.images.remove(stage)
    kept = [tag for tag in present if tag not in going]
    note = f"; kept: {', '.join(kept)} (others own or use them)" if kept else ""
    return (", ".join(going) or "none") + note


def _is_built_on(image: str, tags: dict[str, str], parents: dict[str, str]) -> bool:
    """Return whether an image was built on one of ours."""
    while image := parents.get(image, ""):
        if image in tags.values():
            return True
    return False


def _stop_adb(settings: Settings) -> str:
    server = AdbServer(settings)
    if not server.is_running():
        return "was not running"
    server.stop()
    return "stopped"


def _remove_state(settings: Settings) -> str:
    """Remove the content of the folder, and the folder itself unless it is a mount point."""
    if not settings.state_dir.exists():
        return "does not exist"
    for path in sorted(settings.state_dir.iterdir(), key=lambda path: path.name == STATE_MARK):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    if not settings.state_dir.is_mount():
        settings.state_dir.rmdir()
    return f"{settings.state_dir} is empty"
