"""Trees as layers in the Docker engine: built natively, found again by their content.

A layer is an image of the engine, ``mesocosm/layer:<key>``. It is made by running a step's script in a
container of the layer below it. A container of a killed build is removed by the next build.
"""

from __future__ import annotations

import importlib.util
import io
import logging
import shlex
import shutil
import stat
import subprocess
import tarfile
from contextlib import closing
from dataclasses import dataclass, replace
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.errors import ImageBuildError, RequirementError
from foundation.files import digest_json, write_atomic
from foundation.process import kill_group, run, start
from images.custom.provision import INPUTS
from images.debian_program import get_program, make_debian_program
from images.engine import connect, find_image, import_rootfs, read_packages
from images.host import read_authorities, read_pip_conf, read_proxies

if TYPE_CHECKING:
    from collections.abc import Sequence

    from docker import DockerClient
    from docker.models.containers import Container

    from images.custom.archive import PackageArchive
    from images.custom.provision import Layer
    from images.recipe import Report

_log = logging.getLogger(__name__)

_REPOSITORY = "mesocosm/layer"
_LABEL, _BUILDS = "mesocosm.image", "mesocosm.builds"
"""Labels of layers and of containers of builds: the name of the image. They differ, since a container
has the labels of its layer, too, and one that a user started must not be removed."""
TREES = "tree"
"""Name under which the trees of shipped desktops are labelled: images share them."""
_KEY_DIGITS = 16
_STATUS = "/var/lib/dpkg/status"
_DEBIAN = "debian"
_TREE_FORMAT = 2
"""Changes when the layers of equal disks differ."""
_STEP_S = 3600
_TIMEOUT_S = 900.0
_TAIL_LINES = 25
_NOT_IN_IMAGES = ("./.dockerenv", "./dev/*", "./proc/*", "./sys/*", "./run/*")
_TOOLS, _SCRIPT = ".tools", "step.sh"
_REPLACED = ("hostname", "hosts", "resolv.conf", "mtab")
"""Files of ``/etc`` that the engine replaces in every container, and so in what it exports."""
_KEPT = "etc/.mesocosm-kept"
"""Folder in which layers keep those files."""
_CLEAN = ": > /etc/machine-id\nrm -rf /var/log/*.log /var/log/apt /tmp/* /var/tmp/*\n"
_PIP_OPTIONS = "--disable-pip-version-check --no-cache-dir"


@dataclass(frozen=True)
class LayerStore:
    """The layers of one appliance.

    Attributes:
        owner: identifies the appliance among others on the host; see `Settings.owner`.
        image: name of the image that is built, for labels.
        report: receives progress.
    """

    owner: str
    image: str
    report: Report

    @property
    def label(self) -> str:
        """Return the label of its layers, with its value."""
        return f"{_LABEL}={self._value}"

    @property
    def build_label(self) -> str:
        """Return the label of containers that build it, with its value."""
        return f"{_BUILDS}={self._value}"

    @property
    def _value(self) -> str:
        return self.image + (f"-{self.owner}" if self.owner else "")

    def tag(self, key: str) -> str:
        """Return the tag of a layer."""
        return f"{_REPOSITORY}:{key[:_KEY_DIGITS]}" + (f"-{self.owner}" if self.owner else "")

    def _of(self, image: str) -> LayerStore:
        return replace(self, image=image)

    def has(self, key: str) -> bool:
        """Return whether a layer exists."""
        with connect(doing="find a layer") as client:
            return find_image(client, self.tag(key)) is not None

    def import_tree(self, root: Path, key: str, workdir: Path) -> None:
        """Make a folder a layer.

        Args:
            root: the tree; it is removed.
            key: key of the layer.
            workdir: for a temporary archive of the tree.

        Raises:
            ToolError: tar failed.
            EngineError: the engine refused.
        """
        self.report("tree", None, "packing the parent's tree")
        (root / _KEPT).mkdir(mode=0o700)
        _copy_files(root / "etc", root / _KEPT)
        tar = workdir / "tree.tar"
        left_out = [f"--exclude={pattern}" for pattern in _NOT_IN_IMAGES]
        argv = ["tar", "-C", str(root), "--numeric-owner", "--xattrs", "--anchored", *left_out]
        argv += ["--xattrs-include=security.capability", "-cf", str(tar), "."]
        run(argv, timeout_s=_TIMEOUT_S).require()
        shutil.rmtree(root)
        self.report("tree", None, "importing the parent's tree into the Docker engine")
        with connect(_TIMEOUT_S, doing="import a tree") as client:
            image = import_rootfs(client, tar, [f"LABEL {self._of(TREES).label}", 'CMD ["true"]'])
            client.images.get(image).tag(self.tag(key))
        tar.unlink()

    def build(
        self, layer: Layer, parent: str, key: str, workdir: Path, archive: PackageArchive
    ) -> None:
        """Make a layer on top of another one.

        Args:
            layer: what to do.
            parent: key of the layer below.
            key: key of the new layer.
            workdir: for the inputs of the step.
            archive: the distribution's packages.

        Raises:
            ImageBuildError: the script failed; its tree is kept, and the error says how to open it.
        """
        inputs = workdir / "step"
        self._stage(layer, inputs, archive)
        with connect(_STEP_S, doing=f"build {layer.label!r}") as client:
            if layer.needs_packages and not (archive.tools.is_dir() and archive.is_fresh):
                archive.prepare(self._read(client, parent, _STATUS))
            if layer.programs and archive.distribution.vendor != _DEBIAN:
                status = self._read(client, parent, _STATUS).decode()
                for name in layer.programs:
                    make_debian_program(
                        get_program(name), status, archive.settings, inputs, self.report
                    )
            container = self._create(client, layer, parent, inputs, archive)
            try:
                tail = self._run(container)
                code = int(container.wait(timeout=60)["StatusCode"])
                if code != 0:
                    raise self._failure(container, layer, tail, code)
                built = container.commit(changes=[f"LABEL {self.label}"])
                built.tag(self.tag(key))
            finally:
                container.remove(force=True)
        shutil.rmtree(inputs)

    def export(self, key: str, root: Path) -> dict[str, str]:
        """Extract the tree of a layer into a new folder; return its packages by name.

        Raises:
            ImageBuildError: tar failed.
            EngineError: the engine refused.
        """
        root.mkdir()
        # Names in the engine's archives do not begin with a dot.
        left_out = [f"--exclude={pattern.removeprefix('./')}" for pattern in _NOT_IN_IMAGES]
        argv = ["tar", "-C", str(root), "--numeric-owner", "--xattrs", "--anchored", *left_out]
        argv += ["--xattrs-include=security.capability", "-xpf", "-"]
        with connect(_TIMEOUT_S, doing="read a layer") as client:
            packages = read_packages(client, self.tag(key))
            container = client.containers.create(self.tag(key), labels={_BUILDS: self._value})
            tar = start(argv, stdin=subprocess.PIPE)
            try:
                assert tar.stdin is not None  # noqa: S101
                for chunk in client.api.export(str(container.id)):
                    tar.stdin.write(chunk)
                _, errors = tar.communicate()
            finally:
                kill_group(tar)
                container.remove(force=True)
        if tar.returncode != 0:
            raise ImageBuildError("A layer could not be read.", errors.decode(errors="replace"))
        _copy_files(root / _KEPT, root / "etc")
        shutil.rmtree(root / _KEPT)
        return packages

    def remove_leftovers(self) -> int:
        """Remove and count containers of killed builds; the caller must be the only builder."""
        with connect(doing="remove leftovers") as client:
            leftovers = client.containers.list(all=True, filters={"label": self.build_label})
            for container in leftovers:
                container.remove(force=True)
        return len(leftovers)

    def remove_others(self, keys: Sequence[str]) -> list[str]:
        """Remove the layers of this image that are not among some; return their tags.

        Layers that are below others stay.
        """
        removed: list[str] = []
        from docker.errors import APIError  # noqa: PLC0415

        kept = {self.tag(key) for key in keys}
        with connect(doing="remove old layers") as client:
            for image in client.images.list(filters={"label": self.label}):
                for tag in image.tags:
                    if tag.startswith(f"{_REPOSITORY}:") and tag not in kept:
                        try:
                            client.images.remove(tag, noprune=False)
                            removed.append(tag)
                        except APIError as exc:
                            if exc.status_code not in {HTTPStatus.CONFLICT, HTTPStatus.NOT_FOUND}:
                                raise
                            _log.debug("the layer %s stays: %s", tag, exc)
        return removed

    def _stage(self, layer: Layer, inputs: Path, archive: PackageArchive) -> None:
        """Copy what a script needs into one folder."""
        shutil.rmtree(inputs, ignore_errors=True)
        inputs.mkdir(parents=True)
        for name, source in layer.inputs.items():
            target = inputs / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, dirs_exist_ok=True)
            else:
                shutil.copy(source, target)
        environment = {"LC_ALL": "C.UTF-8", **read_proxies()}
        if layer.needs_pip:
            environment |= _stage_pip(inputs / _TOOLS)
        if layer.needs_packages:
            environment |= archive.container_environment()
        # In the script and not in the container, so that no layer contains addresses of proxies.
        lines = [f"export {name}={shlex.quote(value)}" for name, value in environment.items()]
        script = "\n".join(["set -eu", *lines, layer.script, _CLEAN])
        write_atomic(inputs / _TOOLS / _SCRIPT, script)
        for path in (inputs, *inputs.rglob("*")):
            is_program = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o755 if is_program else 0o644)

    def _create(
        self,
        client: DockerClient,
        layer: Layer,
        parent: str,
        inputs: Path,
        archive: PackageArchive,
    ) -> Container:
        volumes = [f"{inputs}:{INPUTS}:ro"]
        if layer.needs_packages:
            volumes += [f"{archive.apt}:{archive.apt}:rw", f"{archive.tools}:{archive.tools}:ro"]
        return client.containers.create(
            self.tag(parent),
            command=["timeout", "-k", "5", str(_STEP_S), "sh", f"{INPUTS}/{_TOOLS}/{_SCRIPT}"],
            network_mode="host",
            volumes=volumes,
            labels={_BUILDS: self._value},
        )

    def _run(self, container: Container) -> list[str]:
        """Run a container to its end; return the last lines of its output."""
        container.start()
        tail: list[str] = []
        rest = b""
        with closing(container.logs(stream=True, follow=True)) as stream:
            for chunk in stream:
                *lines, rest = (rest + chunk).split(b"\n")
                for raw in lines:
                    line = raw.decode(errors="replace").rstrip()
                    self.report("", None, line)
                    tail = [*tail[-_TAIL_LINES:], line]
        return [*tail, rest.decode(errors="replace")]

    def _failure(
        self, container: Container, layer: Layer, tail: list[str], code: int
    ) -> ImageBuildError:
        """Keep the tree of a failed step, and return the error."""
        tag = f"mesocosm/failed:{self.image}" + (f"-{self.owner}" if self.owner else "")
        container.commit(changes=[f"LABEL {self.label}"]).tag(tag)
        brief = f"The step {layer.label!r} failed with exit code {code}."
        return ImageBuildError(
            brief,
            details="\n".join([brief, *(line for line in tail if line)]),
            resolution=f"Its tree is kept. To look into it: docker run -it --rm {tag} bash",
        )

    def _read(self, client: DockerClient, key: str, path: str) -> bytes:
        """Return the content of a file of a layer."""
        container = client.containers.create(self.tag(key), labels={_BUILDS: self._value})
        try:
            chunks, _ = container.get_archive(path)
            with tarfile.open(fileobj=io.BytesIO(b"".join(chunks))) as tar:
                member = tar.extractfile(tar.next() or path)
                return b"" if member is None else member.read()
        finally:
            container.remove(force=True)


def _copy_files(source: Path, target: Path) -> None:
    """Copy the files that the engine replaces from one folder to another; links stay links."""
    for name in _REPLACED:
        (target / name).unlink(missing_ok=True)
        if (source / name).exists() or (source / name).is_symlink():
            shutil.copy2(source / name, target / name, follow_symlinks=False)


def tree_key(digest: str) -> str:
    """Return the key of the layer with the tree of a parent's disk.

    Args:
        digest: digest of the parent's image.
    """
    return digest_json({"tree": _TREE_FORMAT, "image": digest})


def _stage_pip(folder: Path) -> dict[str, str]:
    """Copy this host's pip, which desktops lack, and its settings; return variables for scripts.

    Raises:
        RequirementError: this host has no pip.
    """
    found = importlib.util.find_spec("pip")
    if found is None or found.origin is None:
        raise RequirementError(
            "Steps with the key `pip` need pip.",
            resolution="Run `python -m ensurepip` in the appliance's virtual environment.",
        )
    shutil.copytree(Path(found.origin).parent, folder / "pip/pip")
    inside = f"{INPUTS}/{_TOOLS}"
    write_atomic(folder / "authorities.crt", read_authorities())
    write_atomic(folder / "pip.conf", read_pip_conf(f"{inside}/authorities.crt"))
    return {
        "PIP_CONFIG_FILE": f"{inside}/pip.conf",
        # Options of newer releases, which older ones ignore as variables.
        "PIP_BREAK_SYSTEM_PACKAGES": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
        "MESOCOSM_PIP": f"env PYTHONPATH={inside}/pip python3 -m pip {_PIP_OPTIONS}",
    }
