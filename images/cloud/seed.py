"""Instructions for cloud-init: a NoCloud seed, an ISO image with the label ``CIDATA``.

In addition to cloud-init's own files it contains ``recipe.tar``, which the guest unpacks to
`RECIPE_IN_GUEST`; cloud-init runs its ``install.sh`` last, before powering off.
Source: cloud-init documentation, NoCloud; ECMA-119 and Joliet by pycdlib.
"""

from __future__ import annotations

import io
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

LABEL = "CIDATA"
RECIPE_IN_GUEST = "/run/mesocosm-recipe"
OUTPUT_SERIAL = "mesocosm-out"
_UNPACK = (
    f"mkdir -p {RECIPE_IN_GUEST} /run/mesocosm-seed"
    f" && mount -o ro /dev/disk/by-label/{LABEL} /run/mesocosm-seed"
    f" && tar -x -C {RECIPE_IN_GUEST} -f /run/mesocosm-seed/recipe.tar"
    " && umount /run/mesocosm-seed"
)
_APT_CONF = 'APT::Install-Recommends "false";\nDpkg::Options:: "--force-unsafe-io";\n'


@dataclass(frozen=True, slots=True)
class Seed:
    """The cloud-init seed of one machine.

    Attributes:
        instance_id: cloud-init runs again when it changes.
        hostname: host name of the guest.
        packages: packages to install; if empty, the guest does not query its archives.
        mirror: mirror of the guest's distribution; empty keeps the image's own.
        firefox: URL and ASCII-armoured key of Mozilla's archive, or None.
        recipe: files of ``recipe.tar``, by name; must contain ``install.sh``.
    """

    instance_id: str
    hostname: str
    packages: Sequence[str]
    recipe: Mapping[str, Path]
    mirror: str = ""
    firefox: tuple[str, str] | None = None

    def user_data(self) -> str:
        """Return the cloud-config."""
        config: dict[str, Any] = {
            "hostname": self.hostname,
            "users": [],
            "ssh_pwauth": False,
            # The recipe sets the host key and the locale.
            "ssh_genkeytypes": ["ed25519"],
            "locale": False,
            "bootcmd": [["sh", "-c", _UNPACK], *self._prepare()],
            "apt": self._apt(),
            "package_update": bool(self.packages),
            "packages": list(self.packages),
            "runcmd": [["sh", f"{RECIPE_IN_GUEST}/install.sh"]],
            "power_state": {"mode": "poweroff", "timeout": 120, "condition": True},
        }
        body = yaml.safe_dump(config, sort_keys=False, width=1000)
        return f"#cloud-config\n{body}"

    def meta_data(self) -> str:
        """Return the metadata."""
        return yaml.safe_dump({"instance-id": self.instance_id, "local-hostname": self.hostname})

    def network_config(self) -> str:
        """Return the network configuration of the build: DHCP on any network card."""
        card = {"match": {"name": "e*"}, "dhcp4": True, "dhcp6": False}
        return yaml.safe_dump({"version": 2, "ethernets": {"nic": card}})

    def write(self, path: Path) -> None:
        """Write the ISO image."""
        import pycdlib  # noqa: PLC0415  # for builds only

        tar = pack(self.recipe)
        texts = {
            "user-data": self.user_data().encode(),
            "meta-data": self.meta_data().encode(),
            "network-config": self.network_config().encode(),
            "recipe.tar": tar,
        }
        iso = pycdlib.PyCdlib()
        iso.new(interchange_level=3, vol_ident=LABEL, joliet=3, rock_ridge="1.09")
        for name, data in texts.items():
            plain = name.upper().replace("-", "_")
            plain = plain if "." in plain else f"{plain}."
            out = io.BytesIO(data)
            iso.add_fp(out, len(data), f"/{plain};1", rr_name=name, joliet_path=f"/{name}")
        iso.write(str(path))
        iso.close()

    def _prepare(self) -> list[list[str]]:
        """Return the recipe's commands that must run before packages are installed."""
        acts = {
            "prepare.sh": f"MESOCOSM_RECIPE_DIR={RECIPE_IN_GUEST} sh {RECIPE_IN_GUEST}/prepare.sh /",
            "firefox.pref": f"cp {RECIPE_IN_GUEST}/firefox.pref /etc/apt/preferences.d/",
        }
        return [["sh", "-c", act] for name, act in acts.items() if name in self.recipe]

    def _apt(self) -> dict[str, Any]:
        config: dict[str, Any] = {"conf": _APT_CONF, "preserve_sources_list": not self.mirror}
        if self.mirror:
            for place in ("primary", "security"):
                config[place] = [{"arches": ["default"], "uri": self.mirror}]
        if self.firefox:
            uri, key = self.firefox
            line = f"deb [signed-by=$KEY_FILE] {uri} mozilla main"
            config["sources"] = {"mozilla.list": {"source": line, "key": key}}
        return config


def pack(files: Mapping[str, Path]) -> bytes:
    """Pack files and folders into a reproducible tar."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, path in sorted(files.items()):
            tar.add(path, name, recursive=False, filter=_plain)
            if path.is_dir():
                for below in sorted(path.rglob("*")):
                    place = f"{name}/{below.relative_to(path)}"
                    tar.add(below, place, recursive=False, filter=_plain)
    return out.getvalue()


def _plain(info: tarfile.TarInfo) -> tarfile.TarInfo:
    info.uid = info.gid = info.mtime = 0
    info.uname = info.gname = "root"
    return info
