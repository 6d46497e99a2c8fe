"""The recipe of the image ``android`` with the stand-in as SDK, and its backend of phones.

``MESOCOSM_EXTENSIONS=tests.standins.emulator.sdk:TABLE`` replaces Google's emulator by it everywhere.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.files import digest_tree
from foundation.settings import REPOSITORY
from images.android.recipe import AndroidRecipe
from images.catalog import ImageEntry
from images.dockerfile import DockerRecipe
from images.recipe import Image
from provisioning.phone.profile import EMULATOR
from provisioning.phone.reference.backend import PhoneBackend
from provisioning.registry import BackendEntry
from provisioning.resource import PHONE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from foundation.settings import Settings
    from images.recipe import Product, Report
    from provisioning.resource import ResourceSpec

HERE = Path(__file__).parent
SYSTEM_IMAGE = "system-images;android-34;google_apis;x86_64"
PROFILE = dataclasses.replace(
    EMULATOR, accelerator="none", devices=(), memory_mib=512, start_timeout_s=120.0
)
_SOURCE = (
    "images/__init__.py",
    "images/calendar_text.py",
    "images/phone/__init__.py",
    "images/phone/device",
)
_SDKMANAGER = r"""#!/bin/sh
# Install what is asked for; no platform is.
set -eu
[ "$1" = --install ] || exit 0
mkdir -p "$ANDROID_HOME/emulator" "$ANDROID_HOME/platform-tools"
printf '#!/bin/sh\nexec python3 /opt/standin/program.py "$@"\n' > "$ANDROID_HOME/emulator/emulator"
printf '#!/bin/sh\nexec /usr/bin/adb "$@"\n' > "$ANDROID_HOME/platform-tools/adb"
chmod 755 "$ANDROID_HOME/emulator/emulator" "$ANDROID_HOME/platform-tools/adb"
image=$ANDROID_HOME/system-images/android-34/google_apis/x86_64
mkdir -p "$image"
echo Pkg.Revision=14 > "$image/source.properties"
"""
_AVDMANAGER = r"""#!/bin/sh
# Create the virtual device, for a system image that is installed.
set -eu
[ -f "$ANDROID_HOME/system-images/android-34/google_apis/x86_64/source.properties" ]
mkdir -p "$ANDROID_AVD_HOME/mesocosm.avd"
echo "path=$ANDROID_AVD_HOME/mesocosm.avd" > "$ANDROID_AVD_HOME/mesocosm.ini"
truncate --size 512M "$ANDROID_AVD_HOME/mesocosm.avd/userdata-qemu.img"
"""


def make_tools() -> bytes:
    """Return the archive of the command-line tools, always with the same bytes."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as to:
        for name, text in (("sdkmanager", _SDKMANAGER), ("avdmanager", _AVDMANAGER)):
            entry = zipfile.ZipInfo(f"cmdline-tools/bin/{name}", (2020, 1, 1, 0, 0, 0))
            entry.external_attr = 0o755 << 16
            to.writestr(entry, text)
    return archive.getvalue()


class StandInRecipe(AndroidRecipe):
    """The recipe with the stand-in as SDK, which needs no KVM."""

    def __init__(self, settings: Settings) -> None:
        pins = {
            "tools_address": "file:///opt/mesocosm/standin.zip",
            "tools_sha256": hashlib.sha256(make_tools()).hexdigest(),
            "system_image": SYSTEM_IMAGE,
            "system_image_revision": "14",
            "device": "pixel_6",
        }
        super().__init__(settings, pins=pins, kvm=None)

    def inputs(self) -> Mapping[str, object]:
        """Return also the stand-in's own files."""
        own = {name: digest_tree(path) for name, path in self._files().items()}
        return {**super().inputs(), "standin": own}

    def requirements(self) -> Mapping[str, Callable[[], str]]:
        """Return those that any host can meet."""
        return {name: run for name, run in super().requirements().items() if "disk" not in name}

    def add_tools(self, folder: Path) -> None:
        """Add the archive of the tools."""
        (folder / "standin.zip").write_bytes(make_tools())

    def install(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        """Build the image of the recipe, then add what its system image would bring."""
        docker_id = super().install(workdir, report, needed).docker_id
        software = Image("software", self.variant, "", "", workdir, tag=docker_id)
        recipe = DockerRecipe("android", self.variant, self._files(), base="software")
        return recipe.build(workdir, report, {"software": software})

    def _files(self) -> dict[str, Path]:
        return {
            "Dockerfile": HERE / "Dockerfile",
            "program.py": HERE / "program.py",
            **{f"src/{name}": REPOSITORY / name for name in _SOURCE},
        }


def stand_in_backend(settings: Settings, spec: ResourceSpec) -> PhoneBackend:
    """Return the backend of phones with the stand-in."""
    return PhoneBackend(settings, PROFILE, image_name=spec.image)


TABLE = (
    ImageEntry("android", "tests.standins.emulator.sdk:StandInRecipe", is_on_request=True),
    BackendEntry(
        name="emulator",
        kind=PHONE,
        backend="tests.standins.emulator.sdk:stand_in_backend",
        record="provisioning.phone.reference.record:PhoneRecord",
        recorded="android-emulator",
        has_layers=True,
        images=("android",),
        host="docker",
    ),
)
