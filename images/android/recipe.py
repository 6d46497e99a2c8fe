"""Google's emulator: built only by users who accept Google's licence, never redistributed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.errors import ImageBuildError, RequirementError
from foundation.files import digest_file
from images.dockerfile import DockerRecipe
from images.engine import connect
from images.recipe import Product

if TYPE_CHECKING:
    from collections.abc import Mapping

    from foundation.settings import Settings
    from images.recipe import Image, Report

HERE = Path(__file__).parent
KVM = Path("/dev/kvm")
LICENCE = "https://developer.android.com/studio/terms"
_SCRIPTS = ("Dockerfile", "install.sh", "prepare.sh", "entrypoint.sh")
_SUMS = "SHA256SUMS"
_PREPARE_TIMEOUT_S = 1800
_MEMORY = "6g"


class AndroidRecipe:
    """Recipe of the emulator, one virtual device, the user's APKs, and a snapshot to resume from.

    The Dockerfile installs the software. The snapshot is then taken in a container that has
    ``/dev/kvm``, which builds lack, and that container becomes the image.

    Args:
        settings: licence acceptance and the folder of APKs.
    """

    name = "android"
    needs = ("base",)

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pins: dict[str, str] = json.loads((HERE / "pins.json").read_text())

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

    def build(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        """Install the emulator and take the snapshot.

        Raises:
            RequirementError: the licence was not accepted, or ``/dev/kvm`` is missing.
            ImageBuildError: a step failed, or an APK does not match its checksum.
        """
        self._require()
        apks = workdir / "apks"
        apks.mkdir()
        for path, _ in self._apks():
            (apks / path.name).write_bytes(path.read_bytes())
        files = {name: HERE / name for name in _SCRIPTS} | {"apks": apks}
        args = {name.upper(): value for name, value in self._pins.items()}
        recipe = DockerRecipe("android", self.variant, files, {**args, "LICENCE_ACCEPTED": "yes"})
        installed = recipe.build(workdir, report, needed)
        for path in apks.iterdir():
            path.unlink()
        apks.rmdir()
        report("prepare", None, "booting the virtual device once for its snapshot")
        return Product(
            docker_id=_prepare(str(installed.docker_id)),
            packages=installed.packages,
            notes={"licence": f"accepted by the builder: {LICENCE}", **self._pins},
        )

    def _require(self) -> None:
        if not self._settings.accept_android_sdk_licence:
            raise RequirementError(
                "The licence of Google's Android SDK has not been accepted.",
                details=f"The emulator and its system images belong to Google; read {LICENCE}.",
                resolution="Run `mesocosm image build android --accept-android-sdk-licence`.",
            )
        if not KVM.exists():
            raise RequirementError(
                "Google's emulator requires KVM, but this host has no /dev/kvm.",
                resolution="Use the reference phone, which needs no KVM: `mesocosm image build phone`.",
            )

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


def _prepare(image: str) -> str:
    """Run prepare.sh in a container with KVM, commit it, and return the image's ID."""
    from docker.errors import DockerException  # noqa: PLC0415
    from requests.exceptions import RequestException  # noqa: PLC0415

    with connect() as client:
        container = client.containers.create(
            image,
            entrypoint=["/bin/sh", "/opt/mesocosm/prepare.sh"],
            devices=[f"{KVM}:{KVM}:rw"],
            group_add=[str(KVM.stat().st_gid)],
            cap_drop=["ALL"],
            network_mode="none",
            mem_limit=_MEMORY,
        )
        try:
            container.start()
            ended = container.wait(timeout=_PREPARE_TIMEOUT_S)
            if ended["StatusCode"] != 0:
                raise ImageBuildError(
                    "The virtual device could not be prepared.",
                    details=container.logs(tail=40).decode(errors="replace"),
                )
            entrypoint = 'ENTRYPOINT ["/bin/sh", "/opt/mesocosm/entrypoint.sh"]'
            return str(container.commit(changes=entrypoint).id)
        except (DockerException, RequestException) as exc:
            raise ImageBuildError("The virtual device could not be prepared.", str(exc)) from exc
        finally:
            container.remove(force=True)
