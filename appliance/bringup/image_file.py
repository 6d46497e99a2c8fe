"""The file that an image is moved in: a sparse tar archive, compressed by zstd.

::

    export.json     what the image is, what its memory state depends on, size and SHA-256 of each member
    image/…         the files of the image, and its manifest
    folder/…        its folder in the registry
    template/…      the memory state that forks start from, if there is one
"""

from __future__ import annotations

import subprocess
import tarfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from foundation.errors import ImageBuildError, ImageCorruptError
from foundation.files import digest_bytes, digest_file, digest_json
from foundation.process import kill_group, start
from images.builder import find
from images.custom.product import ImageProduct, sizes_of
from images.manifest import FileEntry, read_manifest
from provisioning.accelerator.detection import find_accelerator
from provisioning.accelerator.host_cpu import read_host_cpu
from provisioning.desktop.qemu.domain import hardware
from provisioning.desktop.qemu.migration import StreamChecksum  # noqa: TC001 - pydantic reads it
from provisioning.links.zipapp import build_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from foundation.settings import Settings
    from images.recipe import Image, Report

EXPORT = "export.json"
IMAGE, FOLDER, TEMPLATE = "image", "folder", "template"
_FORMAT: Literal[1] = 1
_QEMU = "qemu-system-x86"
_PIECE_BYTES = 1 << 20
_LEVEL = "-3"


class Facts(BaseModel):
    """What a memory state depends on; it is loaded only where all of them are the same.

    Attributes:
        qemu: version of QEMU's package.
        accelerator: ``kvm`` or ``tcg``.
        cpu: digest of the CPU and kernel that guests under KVM see; empty under emulation.
        hardware: digest of the virtual hardware, with RAM, CPUs and screen.
        probe: digest of the program in the guest.
        access_key: digest of the public key that opens the guest's SSH server.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    qemu: str
    accelerator: str
    cpu: str
    hardware: str
    probe: str
    access_key: str

    @classmethod
    def of_host(cls, image: Image, settings: Settings) -> Facts:
        """Return those of this host for machines of an image.

        Raises:
            ImageError: the hypervisor image is not built.
            OSError: the appliance has no key.
        """
        sized = settings.model_copy(update=sizes_of(image))
        accelerator = find_accelerator(settings)
        is_kvm = accelerator.name == "kvm"
        domain = hardware(
            accelerator.name,
            memory_mib=sized.desktop_memory_mib,
            cpus=sized.desktop_cpus,
            cpu_without=accelerator.cpu_without,
            screen=ImageProduct.of(image).machine.screen or "",
        )
        return cls(
            qemu=read_manifest(find("hypervisor", settings).path).packages.get(_QEMU, ""),
            accelerator=accelerator.name,
            cpu=digest_json(read_host_cpu().model_dump(mode="json")) if is_kvm else "",
            hardware=digest_bytes(domain.encode()),
            probe=build_probe().digest,
            access_key=digest_bytes(" ".join(access_key(settings).split()[:2]).encode()),
        )

    def differences(self, other: Facts) -> tuple[str, ...]:
        """Return the names of the facts that differ."""
        return tuple(
            name for name in type(self).model_fields if getattr(self, name) != getattr(other, name)
        )


class ExportRecord(BaseModel):
    """The content of ``export.json``.

    Attributes:
        format: version of the file's schema; others are refused.
        name: name of the image, with its tag.
        parent: variant that it was made from.
        digest: digest of the image.
        is_hand_made: whether it was saved from a machine by hand.
        id: its id if it is not built here; empty if it was built.
        exported_at: UTC, ISO 8601.
        facts: what the memory state depends on.
        stream: checksum of the devices' state; None without a memory state.
        passed: names of the tests that the image passed.
        members: size and digest of each file.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1] = _FORMAT
    name: str
    parent: str
    digest: str
    is_hand_made: bool
    id: str = ""
    exported_at: str
    facts: Facts
    stream: StreamChecksum | None = None
    passed: tuple[str, ...] = ()
    members: dict[str, FileEntry]

    @property
    def has_memory(self) -> bool:
        """Return whether it has a memory state."""
        return self.stream is not None

    @property
    def size_bytes(self) -> int:
        """Return the size of all files, with their holes."""
        return sum(entry.size_bytes for entry in self.members.values())


def access_key(settings: Settings) -> str:
    """Return the public key that opens the guests' SSH servers."""
    return (settings.keys_dir / "ssh_ed25519.pub").read_text()


def write_file(staging: Path, file: Path, total_bytes: int, report: Report) -> None:
    """Write a folder, whose links are followed, as such a file.

    Args:
        staging: the folder.
        file: file to create or replace.
        total_bytes: about what the archive's size will be.
        report: receives progress.

    Raises:
        ImageBuildError: it cannot be written, also because the disk is full.
        ToolMissingError: tar or zstd is missing.
    """
    names = [EXPORT, *(name for name in (IMAGE, FOLDER, TEMPLATE) if (staging / name).exists())]
    tar = ["tar", "--create", "--dereference", "--sparse", "--numeric-owner", "--file=-"]
    tar += ["--exclude=.checked", "--exclude=template.json", f"--directory={staging}", *names]
    with _pipe(
        tar, ["zstd", "-q", "-T0", _LEVEL, "-f", "-o", str(file)], total_bytes, report
    ) as ends:
        if any(ends.values()):
            raise ImageBuildError(
                f"{file} could not be written.",
                details="\n".join(text for text in ends.values() if text),
                resolution="Check the free space of its file system.",
            )


def read_record(file: Path) -> ExportRecord:
    """Read the record of a file, without the rest.

    Raises:
        ImageCorruptError: it is no such file, or of another format.
    """
    zstd = start(["zstd", "-q", "-dc", str(file)])
    try:
        with tarfile.open(fileobj=zstd.stdout, mode="r|") as tar:
            first = tar.next()
            member = tar.extractfile(first) if first and first.name == EXPORT else None
            return ExportRecord.model_validate_json(member.read() if member else b"")
    except (tarfile.TarError, ValidationError, OSError) as exc:
        raise ImageCorruptError(
            f"{file} is not an exported image, or of another version.",
            details=str(exc)[:400],
            resolution="Export it again with `mesocosm image export`.",
        ) from exc
    finally:
        kill_group(zstd)
        zstd.communicate()


def extract(file: Path, folder: Path, record: ExportRecord, report: Report) -> None:
    """Extract a file into an empty folder, and verify every member.

    Raises:
        ImageCorruptError: it is truncated, or a member is missing, unexpected or differs.
    """
    tar = ["tar", "--extract", "--sparse", "--no-same-owner", "--file=-", f"--directory={folder}"]
    unzip = ["zstd", "-q", "-dc", str(file)]
    with _pipe(unzip, tar, record.size_bytes, report) as ends:
        if any(ends.values()):
            raise ImageCorruptError(
                f"{file} is truncated or damaged.",
                details="\n".join(text for text in ends.values() if text),
                resolution="Copy it again, or export it again with `mesocosm image export`.",
            )
    report("verify", None, "comparing checksums")
    present = {
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_symlink() or not path.is_dir()
    } - {EXPORT}
    wrong = [f"{name}: missing" for name in sorted(record.members.keys() - present)]
    wrong += [f"{name}: unexpected" for name in sorted(present - record.members.keys())]
    for name in sorted(present & record.members.keys()):
        path, entry = folder / name, record.members[name]
        if path.is_symlink() or not path.is_file():
            wrong.append(f"{name}: not a file")
        elif path.stat().st_size != entry.size_bytes or digest_file(path) != entry.sha256:
            wrong.append(f"{name}: its content differs")
    if wrong:
        raise ImageCorruptError(
            f"{file} is damaged: checksums differ.",
            details="\n".join(wrong),
            resolution="Copy it again, or export it again with `mesocosm image export`.",
        )


@contextmanager
def _pipe(
    source: list[str], sink: list[str], total_bytes: int, report: Report
) -> Iterator[dict[str, str]]:
    """Run two programs, the output of one the input of the other.

    Yields:
        What went wrong in each, by its name; empty texts if nothing did.
    """
    reader = start(source)
    try:
        writer = start(sink, stdin=subprocess.PIPE)
    except BaseException:
        kill_group(reader)
        reader.communicate()
        raise
    try:
        assert reader.stdout is not None and writer.stdin is not None  # noqa: S101, PT018
        done = 0
        try:
            while data := reader.stdout.read(_PIECE_BYTES):
                writer.stdin.write(data)
                done += len(data)
                report("copy", min(1.0, done / max(1, total_bytes)), f"{done >> 20} MiB")
            writer.stdin.close()
        except BrokenPipeError:
            kill_group(reader)
            with suppress(BrokenPipeError):
                writer.stdin.close()
        writer.stdin = None
        ends = {}
        for name, program in ((sink[0], writer), (source[0], reader)):
            errors = program.communicate()[1]
            text = errors.decode(errors="replace").strip()
            ends[name] = (text or f"{name} ended with {program.returncode}") * bool(
                program.returncode
            )
        yield ends
    finally:
        for program in (reader, writer):
            kill_group(program)
            program.wait()


def member_names(root: Path) -> list[str]:
    """Return the paths of all files of a staging folder, links followed, without the record."""
    names = []
    for top in (IMAGE, FOLDER, TEMPLATE):
        place = root / top
        if place.exists():
            real = place.resolve()
            names += [
                f"{top}/{path.relative_to(real)}"
                for path in sorted(real.rglob("*"))
                if path.is_file() and path.name not in {".checked", "template.json"}
            ]
    return names


def path_of(staging: Path, name: str) -> Path:
    """Return the path of a member in a staging folder."""
    return staging / Path(name)
