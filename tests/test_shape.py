"""Rules for every file of the project."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from foundation import errors
from foundation.process import run

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGES = (
    "mesocosm",
    "foundation",
    "appliance",
    "images",
    "provisioning",
    "evaluators",
    "monitoring",
    "controller",
)

# Hosts of package and image registries, which must be configured on the host.
REGISTRY = re.compile(
    r"pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|ghcr\.io|quay\.io|gcr\.io|docker\.io/"
    r"|hub\.docker\.com|deb\.debian\.org|(?:archive|security|ports)\.ubuntu\.com",
    re.IGNORECASE,
)
# Home folders, except that of the guests' user.
HOME = re.compile(r"/home/(?!user\b|XX)\w+")


def tracked() -> list[Path]:
    listed = run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=REPOSITORY
    )
    names = listed.require().stdout.decode().split("\0")
    return [path for name in names if name and (path := REPOSITORY / name).is_file()]


def texts() -> list[tuple[str, str]]:
    """Return name and text of every text file of the project, except this one."""
    named_texts = []
    for path in tracked():
        data = path.read_bytes()
        if b"\0" not in data and path != Path(__file__).resolve():
            named_texts.append((str(path.relative_to(REPOSITORY)), data.decode()))
    return named_texts


def modules() -> list[Path]:
    return [path for name in PACKAGES for path in sorted((REPOSITORY / name).rglob("*.py"))]


LOCKS = {
    "requirements.lock": 50,
    "requirements-dev.lock": 50,
    "requirements-ray.lock": 50,
    "appliance/bringup/installer.lock": 1,
    "images/renderer/requirements.lock": 2,
}
"""All lock files, with the minimum number of packages in each."""


def test_no_registry_host_is_named() -> None:
    assert [
        (name, match.group()) for name, text in texts() if (match := REGISTRY.search(text))
    ] == []


def test_no_path_of_the_machine_it_was_written_on() -> None:
    here = f"{REPOSITORY}/"
    wrong = [name for name, text in texts() if here in text or HOME.search(text)]
    assert wrong == []


def test_lock_files_hold_no_addresses() -> None:
    locks = [(name, text) for name, text in texts() if name.endswith(".lock")]
    assert {name for name, _ in locks} == LOCKS.keys()
    assert [name for name, text in locks if "://" in text or "--index-url" in text] == []


def test_every_package_of_a_lock_has_hashes() -> None:
    for name, least in LOCKS.items():
        text = (REPOSITORY / name).read_text()
        pins = re.findall(r"^\S+==.*", text, re.MULTILINE)
        hashed = re.findall(r"^\S+==.* \\\n    --hash=sha256:[0-9a-f]{64}\b", text, re.MULTILINE)
        assert len(pins) == len(hashed) >= least, name


def test_every_module_says_what_it_is_for() -> None:
    silent = [
        str(path.relative_to(REPOSITORY))
        for path in modules()
        if not (ast.get_docstring(ast.parse(path.read_text())) or "").strip()
    ]
    assert silent == []


def all_errors() -> list[type[errors.MesocosmError]]:
    error_types: list[type[errors.MesocosmError]] = [errors.MesocosmError]
    for error in error_types:
        error_types += error.__subclasses__()
    return [error for error in error_types if error.__module__ == errors.__name__]


def test_error_codes_are_unique_and_each_class_has_its_own() -> None:
    own = [error.__dict__.get("code") for error in all_errors()]
    assert None not in own
    assert len(own) == len(set(own))


def test_the_error_tree_in_the_docstring_is_the_real_one() -> None:
    drawn = set(re.findall(r"\b\w+Error\b", errors.__doc__ or ""))
    assert drawn == {error.__name__ for error in all_errors()}


def test_errors_that_others_define_are_errors_of_the_tree() -> None:
    defined = re.compile(r"^class (\w+Error)\((\w+)\)", re.MULTILINE)
    known = {error.__name__ for error in all_errors()}
    foreign = [
        f"{path.relative_to(REPOSITORY)}: {name}({base})"
        for path in modules()
        if not path.is_relative_to(REPOSITORY / "provisioning/probe")
        and not path.is_relative_to(REPOSITORY / "images/phone/device")
        and not path.is_relative_to(REPOSITORY / "images/renderer/program")
        and not path.is_relative_to(REPOSITORY / "images/world/program")
        and path.name != "errors.py"
        for name, base in defined.findall(path.read_text())
        if base not in known
    ]
    assert foreign == []


@pytest.mark.parametrize("name", ["help", "up", "down", "test", "lint", "bench", "clean"])
def test_make_help_names_every_target(name: str) -> None:
    shown = run(["make", "-s", "help"], cwd=REPOSITORY).require().stdout.decode()
    assert re.search(rf"^  make {name}\s+\w", shown, re.MULTILINE)


OWN_ERRORS = {name for name, value in vars(errors).items() if isinstance(value, type)}
INSIDE = (
    "provisioning/probe/",
    "images/phone/device/",
    "images/renderer/program/",
    "images/world/program/",
)
"""Code that runs in guests, where the project's logging does not exist."""


def test_no_error_of_the_project_is_suppressed_without_a_log_record() -> None:
    """Verify that code uses `foundation.logging.suppress_logged`, which suppresses and logs."""
    silent = []
    for path in modules():
        name = str(path.relative_to(REPOSITORY))
        if name.startswith(INSIDE):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress"):
                suppressed = {ast.unparse(argument) for argument in node.args}
                if suppressed & (OWN_ERRORS | {"Exception", "BaseException"}):
                    silent.append(f"{name}:{node.lineno}")
    assert silent == []
