"""Turn the steps of an image into shell scripts with their input files."""

from __future__ import annotations

import posixpath
import shlex
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from foundation.files import canonical_json, digest_bytes, digest_json, digest_tree
from images.custom.steps import HOME, all_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from images.custom.declaration import ImageFile
    from images.custom.steps import Archive, FileCopy, Owner, Step, UserData

INPUTS = "/run/mesocosm-build"
"""Where a script finds its input files."""
AUTOSTART = f"{HOME}/.config/autostart"
_TOOLS = Path(__file__).parent / "files"
_POLICY = "/usr/sbin/policy-rc.d"
_USER = "runuser -u user -- env HOME=/home/user USER=user LOGNAME=user"


@dataclass(frozen=True)
class Layer:
    """A change of a tree.

    Attributes:
        label: one line on what it does.
        script: shell script, run as root in the tree with ``set -eu``.
        inputs: files and folders on this host by name; the script finds them in `INPUTS`.
        needs_packages: whether the script needs the distribution's archive.
        needs_pip: whether it needs pip.
        programs: names of `images.debian_program.PROGRAMS`; on Ubuntu the script finds their packages in `INPUTS`.
    """

    label: str
    script: str
    inputs: Mapping[str, Path] = field(default_factory=dict)
    needs_packages: bool = False
    needs_pip: bool = False
    programs: tuple[str, ...] = ()

    def key(self, parent: str) -> str:
        """Return the digest of everything that determines the tree after it.

        Args:
            parent: key of the tree before it.
        """
        inputs = {name: digest_tree(path) for name, path in self.inputs.items()}
        return digest_json({"parent": parent, "script": self.script, "inputs": inputs})


def layers_of(folder: Path, content: ImageFile) -> list[Layer]:
    """Return the layers of an image, in order.

    Args:
        folder: folder of the image.
        content: its declaration.
    """
    layers = [_of_step(folder, step) for step in content.steps]
    if content.locale or content.timezone:
        layers.insert(0, _of_system(content.locale, content.timezone))
    if content.session.start:
        layers.append(_of_start(content))
    return layers


def _of_step(folder: Path, step: Step) -> Layer:
    inputs = {source: folder / source for _, source in step.sources()}
    match step.action:
        case "packages":
            return Layer(step.label, _install(step.packages), needs_packages=True)
        case "programs":
            script = _install_programs(step.programs)
            return Layer(
                step.label, script, inputs, needs_packages=True, programs=tuple(step.programs)
            )
        case "debs":
            files = [f"{INPUTS}/{entry.file}" for entry in step.debs]
            return Layer(step.label, _install(files), inputs, needs_packages=True)
        case "archives":
            script = "".join(_extract(entry) for entry in step.archives)
        case "pip":
            wanted = shlex.join(step.pip)
            script = f"$MESOCOSM_PIP install --no-compile -- {wanted}\n"
            return Layer(step.label, script, inputs, needs_pip=True)
        case "files":
            script = "".join(_copy(entry) for entry in step.files)
        case "run":
            script = _run(step.run or "", step.run_as or "root")
        case "settings":
            script = _set(all_settings(step.settings))
        case "fonts":
            names = " ".join(shlex.quote(f"{INPUTS}/{font}") for font in step.fonts)
            target = "/usr/local/share/fonts"
            script = f"install -d {target}\ninstall -m 644 {names} {target}/\nfc-cache -f\n"
        case _:
            script, more = _fill(step.data) if step.data else ("", {})
            inputs |= more
    return Layer(step.label, script, inputs)


def _install(wanted: Iterable[str]) -> str:
    """Install packages; services are not started, as nothing runs."""
    return _install_words(shlex.join(wanted))


def _install_words(words: str) -> str:
    return (
        f"printf '#!/bin/sh\\nexit 101\\n' > {_POLICY}\nchmod 755 {_POLICY}\n"
        f"trap 'rm -f {_POLICY}' EXIT\n"
        "export DEBIAN_FRONTEND=noninteractive\n"
        f"$MESOCOSM_APT -q -y install -- {words}\n"
    )


def _install_programs(names: Iterable[str]) -> str:
    """Install programs from the packages that were made for this distribution, or from its archive."""
    lines = [
        f'if [ -f {INPUTS}/{name}.deb ]; then set -- "$@" {INPUTS}/{name}.deb; else set -- "$@" {name}; fi'
        for name in names
    ]
    return "set --\n" + "\n".join(lines) + "\n" + _install_words('"$@"')


def _place(staged: str, target: str, owner: Owner, mode: str = "") -> str:
    """Copy the content of a staged folder into a folder, whose own attributes stay as they are.

    Args:
        staged: shell words: folder of the tree, which is removed.
        target: folder to copy into; created with its parents if missing.
        owner: owner of what is copied, and of created folders below the home folder.
        mode: permission bits of files; empty to keep them.
    """
    quoted = shlex.quote(target)
    lines = [
        f"chown -R {owner}: {staged}",
        f"chmod -R go-w {staged}",
        f"find {staged} -type f -exec chmod {mode} {{}} +" if mode else "",
        _make_folder(target, owner),
        f"tar -C {staged} -cf - . | tar -C {quoted} --no-overwrite-dir -xpf -",
        f"rm -rf {staged}",
    ]
    return "\n".join(line for line in lines if line) + "\n"


def _make_folder(target: str, owner: Owner) -> str:
    """Create a folder; those below the home folder belong to the owner."""
    if not target.startswith(f"{HOME}/"):
        return f"mkdir -p {shlex.quote(target)}"
    parts = posixpath.relpath(target, HOME).split("/")
    folders = [posixpath.join(HOME, *parts[: count + 1]) for count in range(len(parts))]
    return "\n".join(
        f"[ -d {shlex.quote(path)} ] || install -d -o {owner} -g {owner} {shlex.quote(path)}"
        for path in folders
    )


def _extract(entry: Archive) -> str:
    source = shlex.quote(f"{INPUTS}/{entry.file}")
    if entry.file.endswith(".zip"):
        unpack = f"python3 -m zipfile -e {source} $staged/all"
    else:
        unpack = f"tar -C $staged/all --no-same-owner -xf {source}"
    strip = "".join(f"inner=$inner/{'*'}\n" for _ in range(entry.strip))
    return (
        "staged=$(mktemp -d /var/tmp/step.XXXXXX)\nmkdir $staged/all $staged/content\n"
        f"{unpack}\ninner=$staged/all\n{strip}"
        "chmod 755 $staged/content\n"
        'for path in $inner; do tar -C "$path" -cf - . | tar -C $staged/content -xpf -; done\n'
        + _place("$staged/content", entry.to, entry.owner)
        + "rm -rf $staged\n"
    )


def _copy(entry: FileCopy) -> str:
    """Copy a file to its path, or a folder's content into a folder."""
    owner, mode = entry.effective_owner, entry.mode or ""
    source, target = f"{INPUTS}/{entry.source}", entry.to
    name, folder = shlex.quote(posixpath.basename(target)), posixpath.dirname(target)
    single = _place("$staged", folder, owner, mode)
    several = _place("$staged", target, owner, mode)
    return (
        "staged=$(mktemp -d /var/tmp/step.XXXXXX)\nchmod 755 $staged\n"
        f"if [ -d {shlex.quote(source)} ]; then\n"
        f"cp -R {shlex.quote(source)}/. $staged/\n{several}"
        f"else\ncp {shlex.quote(source)} $staged/{name}\n{single}fi\n"
    )


def _run(command: str, owner: Owner) -> str:
    quoted = shlex.quote(command)
    if owner == "root":
        return f"cd {INPUTS}\nHOME=/root sh -eu -c {quoted}\n"
    return f"cd {INPUTS}\n{_USER} sh -eu -c {quoted}\n"


def _set(settings: list[tuple[str, str, str]]) -> str:
    """Set settings as the user, in a session bus of their own: they need no running desktop."""
    commands = "\n".join(shlex.join(("gsettings", "set", *setting)) for setting in settings)
    script = shlex.quote(f"set -eu\n{commands}\n")
    return f"{_USER} GSETTINGS_BACKEND=dconf dbus-run-session -- sh -c {script}\n"


def _fill(data: UserData) -> tuple[str, dict[str, Path]]:
    """Return the script that copies the user's data, and the inputs that it needs besides them."""
    parts = []
    for target, source in data.copies().items():
        quoted = shlex.quote(f"{INPUTS}/{source}")
        parts.append(
            "staged=$(mktemp -d /var/tmp/step.XXXXXX)\nchmod 755 $staged\n"
            f"if [ -d {quoted} ]; then cp -R {quoted}/. $staged/; else cp {quoted} $staged/; fi\n"
            + _place("$staged", target, "user")
        )
    if not data.bookmarks:
        return "".join(parts), {}
    rows = [
        {"Title": bookmark.title, "URL": bookmark.url, "Placement": "toolbar"}
        for bookmark in data.bookmarks
    ]
    program = "add_bookmarks.py"
    parts.append(f"python3 {INPUTS}/.tools/{program} {shlex.quote(canonical_json(rows))}\n")
    return "".join(parts), {f".tools/{program}": _TOOLS / program}


def _of_system(locale: str | None, timezone: str | None) -> Layer:
    lines = []
    if locale:
        name = f"{locale.partition('.')[0]}.UTF-8"
        language = name.partition("_")[0]
        lines += [
            # Translations in packages that later steps install are kept.
            f"echo 'path-include=/usr/share/locale/{language}*' > /etc/dpkg/dpkg.cfg.d/zz-locale",
            f"echo '{name} UTF-8' >> /etc/locale.gen",
            "locale-gen > /dev/null",
            f"echo 'LANG={name}' > /etc/default/locale",
        ]
    if timezone:
        lines += [
            f"[ -e /usr/share/zoneinfo/{timezone} ]",
            f"ln -sfn /usr/share/zoneinfo/{timezone} /etc/localtime",
            f"echo {timezone} > /etc/timezone",
        ]
    label = f"system: {' '.join(filter(None, (locale, timezone)))}"
    return Layer(label, "\n".join(lines) + "\n")


def _of_start(content: ImageFile) -> Layer:
    """Let the session start programs; each has an entry of its own."""
    script = f"{_make_folder(AUTOSTART, 'user')}\n"
    for command in content.session.start:
        entry = textwrap.dedent(
            f"""\
            [Desktop Entry]
            Type=Application
            Name={content.name}
            Exec=sh -c {_exec_quoted(command)}
            X-GNOME-Autostart-enabled=true
            """
        )
        path = f"{AUTOSTART}/{content.name}-{digest_bytes(command.encode())[:8]}.desktop"
        script += f"printf %s {shlex.quote(entry)} > {path}\nchown user: {path}\n"
    return Layer(f"start: {' '.join(content.session.start)}"[:80], script)


def _exec_quoted(command: str) -> str:
    """Return a command as one argument of the key ``Exec``.

    Source: freedesktop.org, *Desktop Entry Specification*: quoting, field codes, escapes of strings.
    """
    escaped = command.replace("\\", "\\\\").replace('"', '\\"').replace("`", "\\`")
    escaped = escaped.replace("$", "\\$").replace("%", "%%").replace("\n", " ")
    return '"' + escaped.replace("\\", "\\\\") + '"'
