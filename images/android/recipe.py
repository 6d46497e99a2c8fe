"""Google's emulator: built only by users who accept Google's licence, never redistributed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.errors import EngineError, ImageBuildError
from foundation.files import digest_file
from images.android.requirements import (
    KVM,
    LICENCE,
    MEMORY_MIB,
    MIN_ENGINE_BYTES,
    MIN_STATE_BYTES,
    engine_root,
    require_cpu,
    require_device,
    require_disk,
    require_kvm_inside,
    require_licence,
    require_memory,
)
from images.dockerfile import DockerRecipe
from images.engine import connect
from images.recipe import Product

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from foundation.settings import Settings
    from images.recipe import Image, Report

HERE = Path(__file__).parent
SAVED = "saved"
"""Folder of the image's files, with the virtual device and its snapshot in ``saved.tar``."""
_SCRIPTS = ("Dockerfile", "install.sh", "emulator.sh", "prepare.sh", "entrypoint.sh")
_SUMS = "SHA256SUMS"
_PREPARE_TIMEOUT_S = 3600
_MAX_PROCESSES = 4096


class AndroidRecipe:
    """Recipe of the emulator, one virtual device, the user's APKs, and a snapshot to resume from.

    The Dockerfile installs the software. The virtual device is then created and saved in a container
    that has ``/dev/kvm``, which builds lack; it is a sparse archive beside the manifest, because a
    layer of that size takes minutes to commit and again to copy up in each container.

    Args:
        settings: licence acceptance and the folder of APKs.
        pins: versions and digests; by default, those of ``pins.json``.
        kvm: KVM's device; None for software that does not need it.
    """

    name = "android"
    needs = ("base",)

    def __init__(
        self,
        settings: Settings,
        *,
        pins: Mapping[str, str] | None = None,
        kvm: Path | None = KVM,
    ) -> None:
        self._settings = settings
        self._kvm = kvm
        self._pins: dict[str, str] = dict(pins or json.loads((HERE / "pins.json").read_text()))

    @property
    def variant(self) -> str:
        """The version of Android, such as ``android-34``."""
        return self._pins["system_image"].split(";")[1]

    def inputs(self) -> Mapping[str, object]:
        """Return scripts, pins and digests of the APKs; the licence acceptance is not an input."""
        return {
            "files": {name: digest_file(HERE / name) for name in _SCRIPTS},
            "pins": self._pins,
            "apks": {path.name: digest for path, digest in self._apks()},
        }

    def requirements(self) -> Mapping[str, Callable[[], str]]:
        """Return what it needs of the host, by name.

        Each function returns a note, or raises RequirementError with a cause and a resolution.
        """
        settings, device = self._settings, self._kvm
        known: dict[str, Callable[[], str]] = {
            "licence": lambda: require_licence(settings),
            "cpu": require_cpu,
            "memory": require_memory,
        }
        if device is not None:
            known["kvm"] = lambda: require_device(device)
        return known | {
            "engine disk": lambda: require_disk(
                engine_root(), MIN_ENGINE_BYTES, "the Docker engine's folder"
            ),
            "state disk": lambda: require_disk(
                settings.images_dir, MIN_STATE_BYTES, "the state folder"
            ),
        }

    def require(self) -> None:
        """Check that this host can build and run it.

        Raises:
            RequirementError: it lacks something; nothing was fetched.
        """
        for check in self.requirements().values():
            check()

    def try_kvm(self, image: str) -> str:
        """Check that the user of a phone's container can open KVM; return a note.

        Args:
            image: Docker tag of any image with a shell.

        Raises:
            RequirementError: it cannot.
        """
        if self._kvm is None:
            return "needs no KVM"
        return require_kvm_inside(image, self._kvm)

    def build(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        """Install the emulator, then create and save the virtual device.

        Raises:
            RequirementError: the licence was not accepted, or the host lacks something.
            ImageBuildError: a step failed, or an APK does not match its checksum.
        """
        self.require()
        report("kvm", None, self.try_kvm(needed["base"].tag or ""))
        installed = self.install(workdir, report, needed)
        report("prepare", None, "booting the virtual device once for its snapshot")
        saved = workdir / SAVED
        saved.mkdir()
        self._prepare(str(installed.docker_id), saved)
        return Product(
            docker_id=installed.docker_id,
            packages=installed.packages,
            notes={"licence": f"accepted by the builder: {LICENCE}", **self._pins},
        )

    def install(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        """Build the image with the software; the work folder is as empty afterwards as before.

        Raises:
            ImageBuildError: a step failed, or an APK does not match its checksum.
        """
        apks, tools = workdir / "apks", workdir / "tools"
        apks.mkdir()
        tools.mkdir()
        for path, _ in self._apks():
            (apks / path.name).write_bytes(path.read_bytes())
        try:
            files = {name: HERE / name for name in _SCRIPTS} | {"apks": apks, "tools": tools}
            self.add_tools(tools)
            args = {name.upper(): value for name, value in self._pins.items()}
            args["LICENCE_ACCEPTED"] = "yes"
            recipe = DockerRecipe("android", self.variant, files, args)
            return recipe.build(workdir, report, needed)
        finally:
            for folder in (apks, tools):
                for path in folder.iterdir():
                    path.unlink()
                folder.rmdir()

    def add_tools(self, folder: Path) -> None:
        """Add files that the build finds in ``/opt/mesocosm``; the SDK needs none."""

    def _prepare(self, image: str, saved: Path) -> None:
        """Run prepare.sh in a container, which writes its archive to a folder of this host."""
        saved.chmod(0o777)  # the container's user is another one; the folders above are private
        device = self._kvm
        with connect(
            _PREPARE_TIMEOUT_S, doing="prepare the virtual device", refusal=EngineError
        ) as client:
            container = client.containers.create(
                image,
                entrypoint=["/usr/bin/tini", "--", "/bin/sh", "/opt/mesocosm/prepare.sh"],
                devices=[f"{device}:{device}:rw"] if device else [],
                group_add=[str(device.stat().st_gid)] if device else [],
                cap_drop=["ALL"],
                security_opt=["no-new-privileges:true"],
                network_mode="none",
                mem_limit=f"{MEMORY_MIB}m",
                pids_limit=_MAX_PROCESSES,
                volumes=["/data", f"{saved}:/saved:rw"],
            )
            try:
                container.start()
                ended = container.wait(timeout=_PREPARE_TIMEOUT_S)
                if ended["StatusCode"] != 0:
                    raise ImageBuildError(
                        "The virtual device could not be prepared.",
                        details=container.logs(tail=40).decode(errors="replace"),
                    )
            finally:
                container.remove(force=True, v=True)
        saved.chmod(0o755)

    def _apks(self) -> list[tuple[Path, str]]:
        """Return the user's APKs and their digests, verified against SHA256SUMS.

        Raises:
            ImageBuildError: an APK has no line there, or another digest.
        """
        folder = self._settings.android_apks_dir
        if folder is None:
            return []
        try:
            lines = (folder / _SUMS).read_text().splitlines()
        except OSError as exc:
            raise ImageBuildError(
                f"{folder} has no {_SUMS}.",
                details=str(exc),
                resolution=f"Create it: `cd {folder} && sha256sum *.apk > {_SUMS}`.",
            ) from exc
        wanted = {
            name.lstrip(" *"): digest for digest, _, name in (x.partition(" ") for x in lines)
        }
        apks = [(path, digest_file(path)) for path in sorted(folder.glob("*.apk"))]
        for path, digest in apks:
            if wanted.get(path.name) != digest:
                raise ImageBuildError(
                    f"{path.name} does not match its checksum in {_SUMS}.",
                    details=f"Its SHA-256 is {digest}, expected {wanted.get(path.name, 'none')}.",
                )
        if missing := wanted.keys() - {path.name for path, _ in apks}:
            raise ImageBuildError(f"{folder} does not contain {', '.join(sorted(missing))}.")
        return apks
