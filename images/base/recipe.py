"""The Debian that docker images are based on, from a registry or built from its archive."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from foundation.errors import ImageBuildError
from foundation.files import digest_file
from images.bootstrap import bootstrap
from images.distribution import BASE, source_lines
from images.engine import (
    build_context,
    build_dockerfile,
    connect,
    import_rootfs,
    pull,
    read_packages,
)
from images.host import read_apt_options
from images.recipe import Product

if TYPE_CHECKING:
    from collections.abc import Mapping

    from docker import DockerClient

    from foundation.settings import Settings
    from images.recipe import Image, Report

HERE = Path(__file__).parent
REGISTRY_DEADLINE_S = 5


class BaseRecipe:
    """Recipe of the base of the appliance's docker images.

    Args:
        settings: may name mirrors.
    """

    name = "base"
    needs: tuple[str, ...] = ()

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._distribution = BASE

    @property
    def variant(self) -> str:
        """The distribution's name."""
        return self._distribution.name

    def inputs(self) -> Mapping[str, object]:
        """Return the digest of the Dockerfile; the variant covers the rest."""
        return {"dockerfile": digest_file(HERE / "Dockerfile")}

    def build(self, workdir: Path, report: Report, needed: Mapping[str, Image]) -> Product:
        """Get the bare system and configure it for the host's archives."""
        del needed
        context = workdir / "context.tar"
        with connect() as client:
            bare, origin = self._get_bare(client, workdir, report)
            build_context(self._write_files(workdir), context)
            built = build_dockerfile(client, context, {"BASE": bare}, report)
            packages = read_packages(client, built)
        _empty(workdir)
        if not packages:
            raise ImageBuildError("The base image has no package list.")
        return Product(docker_id=built, packages=packages, notes={"origin": origin})

    def _get_bare(self, client: DockerClient, workdir: Path, report: Report) -> tuple[str, str]:
        """Return the ID and origin of the bare image."""
        reference = self._distribution.registry_image
        report("registry", None, f"requesting {reference}")
        if pulled := pull(client, reference, deadline_s=REGISTRY_DEADLINE_S, report=report):
            return pulled, f"registry image {reference}"
        rootfs = workdir / "rootfs.tar"
        bootstrap(self._distribution, self._settings, rootfs, report, packages=["ca-certificates"])
        report("import", None, "importing the root file system into the docker engine")
        bare = import_rootfs(client, rootfs, ['CMD ["/bin/bash"]'])
        return bare, f"mmdebstrap of {self._distribution.suite}"

    def _write_files(self, workdir: Path) -> dict[str, Path]:
        """Write the apt settings of the image and return the files of its build context."""
        apt = workdir / "apt"
        conf = apt / "apt.conf.d"
        conf.mkdir(parents=True)
        lines = source_lines(self._distribution, self._settings)
        (apt / "sources.list").write_text("\n".join(lines) + "\n")
        options = [
            *read_apt_options(),
            'Acquire::https::CAInfo "/etc/mesocosm/host-authorities.crt";',
            'APT::Install-Recommends "false";',
        ]
        (conf / "90mesocosm").write_text("\n".join(options) + "\n")
        return {"Dockerfile": HERE / "Dockerfile", "apt": apt}


def _empty(workdir: Path) -> None:
    """Remove everything that was needed only for the build."""
    for path in sorted(workdir.rglob("*"), reverse=True):
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink()
