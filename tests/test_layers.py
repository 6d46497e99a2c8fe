"""Packages import only from lower layers (docs/architecture.md)."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path

import networkx as nx
import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
# From the lowest to the highest layer; the longest matching prefix applies.
LAYERS = (
    # Parts of `mesocosm` that are distributed without the appliance; tables that it also needs.
    "mesocosm.authoring",
    "mesocosm.client",
    "mesocosm.gym",
    "mesocosm.mcp",
    "mesocosm.inspect",
    "foundation",
    "images",
    "provisioning",
    "evaluators",
    "monitoring",
    "controller",
    "appliance",
    "mesocosm",
)
PACKAGES = sorted({name.partition(".")[0] for name in LAYERS})
# Packages in the probe's zipapp, and packages of the guest's Python.
IN_GUESTS = {"mss", "pyautogui", "Xlib", "jeepney", "gi", "jupyter_client", "__future__"}
# Packages in the renderer, in addition to the standard library.
IN_RENDERERS = {"PIL", "pypdf", "pypdfium2", "uno"}
# Packages in a world's container, in addition to the standard library.
IN_WORLDS = {"jinja2", "starlette", "uvicorn"}
# Packages in the phone's container, in addition to the standard library.
IN_PHONES = {"PIL"}
# Modules of images that worlds and phones share; they need the standard library only.
SHARED = {"images.calendar_text"}


def layer_of(module: str) -> int | None:
    """Return the index of a module's layer; None for third-party modules."""
    hits = [name for name in LAYERS if module == name or module.startswith(f"{name}.")]
    return LAYERS.index(max(hits, key=len)) if hits else None


def name_of(path: Path) -> str:
    parts = path.relative_to(REPOSITORY).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def sources() -> tuple[Path, ...]:
    """Return all modules, without those of shipped suites, which are loaded like any suite."""
    found = (path for name in PACKAGES for path in sorted((REPOSITORY / name).rglob("*.py")))
    suites = REPOSITORY / "evaluators/suites"
    return tuple(path for path in found if suites not in path.parent.parents)


@cache
def imports(path: Path) -> tuple[tuple[int, str], ...]:
    """Return line and module of every import of a file, including those in functions and for types."""
    imported_modules: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            imported_modules += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            imported_modules += [
                (node.lineno, f"{node.module}.{alias.name}") for alias in node.names
            ]
    return tuple(imported_modules)


def test_the_walk_sees_the_project() -> None:
    names = {name_of(path) for path in sources()}
    assert {"foundation.errors", "controller", "monitoring.collector"} <= names


def test_no_part_imports_what_is_right_of_it() -> None:
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{line}: {name_of(path)} imports {module}"
        for path in sources()
        for line, module in imports(path)
        if (to := layer_of(module)) is not None
        and (own := layer_of(name_of(path))) is not None
        and to > own
    ]
    assert wrong == []


def test_the_product_does_not_import_its_tests_or_examples() -> None:
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{line}: {module}"
        for path in sources()
        for line, module in imports(path)
        if module.partition(".")[0] in {"tests", "examples"}
    ]
    assert wrong == []


def test_a_wrong_import_would_be_seen(tmp_path: Path) -> None:
    path = tmp_path / "evil.py"
    path.write_text("def f():\n    from controller.episode.session import Trial\n")
    ((line, module),) = imports(path)
    assert (line, module) == (2, "controller.episode.session.Trial")
    assert (layer_of(module) or 0) > (layer_of("foundation.errors") or 0)
    assert layer_of("mesocosm") == len(LAYERS) - 1
    assert layer_of("numpy.typing") is None


@cache
def import_graph() -> nx.DiGraph[str]:
    """Return the graph of imports between modules, including those in functions and for types."""
    modules = {name_of(path): path for path in sources()}
    graph: nx.DiGraph[str] = nx.DiGraph()
    for name, path in modules.items():
        for _, target in imports(path):
            target_module = target if target in modules else target.rpartition(".")[0]
            if target_module in modules and target_module != name:
                graph.add_edge(name, target_module)
    return graph


def test_no_modules_import_each_other_in_a_circle() -> None:
    circles = [sorted(part) for part in nx.strongly_connected_components(import_graph())]
    assert [part for part in sorted(circles) if len(part) > 1] == []


def folder_graph(package: str) -> nx.DiGraph[str]:
    """Return the graph of imports between the folders and modules directly inside a package."""
    graph: nx.DiGraph[str] = nx.DiGraph()
    for importer, imported in import_graph().edges:
        if importer.startswith(f"{package}.") and imported.startswith(f"{package}."):
            start, end = (
                name.removeprefix(f"{package}.").partition(".")[0] for name in (importer, imported)
            )
            graph.add_edge(start, end)
    graph.remove_edges_from(nx.selfloop_edges(graph))
    return graph


def test_no_folders_of_a_package_import_each_other_in_a_circle() -> None:
    names = {name_of(path) for path in sources()}
    packages = {
        ".".join(name.split(".")[:end]) for name in names for end in range(1, name.count(".") + 1)
    }
    assert {"provisioning", "controller.service"} <= packages
    circles = {
        package: sorted(part)
        for package in sorted(packages)
        for part in nx.strongly_connected_components(folder_graph(package))
        if len(part) > 1
    }
    assert circles == {}


def guest_files(folder: str) -> list[Path]:
    return sorted((REPOSITORY / folder).rglob("*.py"))


def test_the_probe_imports_itself_the_standard_library_and_its_wheels_only() -> None:
    files = guest_files("provisioning/probe")
    assert files
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{line}: {module}"
        for path in files
        for line, module in imports(path)
        if not module.startswith("provisioning.probe")
        and module.partition(".")[0] not in sys.stdlib_module_names | IN_GUESTS
    ]
    assert wrong == []


@pytest.mark.parametrize("folder", ["provisioning/probe", "evaluators/desktop"])
def test_what_runs_in_guests_is_python_3_9(folder: str) -> None:
    for path in guest_files(folder):
        ast.parse(path.read_text(), filename=str(path), feature_version=(3, 9))


def test_the_renderer_imports_nothing_of_the_host_side() -> None:
    files = guest_files("images/renderer/program")
    assert files
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{line}: {module}"
        for path in files
        for line, module in imports(path)
        if not module.startswith("images.renderer.program.")
        and module.partition(".")[0] not in sys.stdlib_module_names | IN_RENDERERS
    ]
    assert wrong == []
    for path in files:
        ast.parse(path.read_text(), filename=str(path), feature_version=(3, 10))


def test_the_world_imports_nothing_of_the_host_side() -> None:
    files = guest_files("images/world/program")
    assert files
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{line}: {module}"
        for path in files
        for line, module in imports(path)
        if not module.startswith(("images.world.program.", *(f"{name}." for name in SHARED)))
        and module.partition(".")[0] not in sys.stdlib_module_names | IN_WORLDS
    ]
    assert wrong == []


def test_the_phone_imports_nothing_of_the_host_side() -> None:
    device = guest_files("images/phone/device")
    assert device
    own = {path.stem for path in device} | {path.parent.name for path in device} | {"images"}
    wrong = [
        f"{path.relative_to(REPOSITORY)}:{line}: {module}"
        for path in device
        for line, module in imports(path)
        if module.partition(".")[0] not in sys.stdlib_module_names | IN_PHONES | own
        or (
            module.startswith("images.")
            and not module.startswith(("images.phone.device", *(f"{name}." for name in SHARED)))
        )
    ]
    assert wrong == []


@pytest.mark.parametrize("name", sorted(SHARED))
def test_what_images_share_needs_the_standard_library_only(name: str) -> None:
    path = REPOSITORY / f"{name.replace('.', '/')}.py"
    assert [
        module
        for _, module in imports(path)
        if module.partition(".")[0] not in sys.stdlib_module_names
    ] == []
