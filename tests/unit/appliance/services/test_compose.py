"""The compose files: valid for the installed compose, closed to the network, with few rights."""

from __future__ import annotations

import os
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from appliance.services import compose as module
from appliance.services.alerts import container_user
from appliance.services.compose import (
    IMAGE_OF,
    SERVICES,
    Compose,
    find_compose,
    hypervisor_folders,
    hypervisor_memory_mib,
    project_name,
    require_compatible_compose,
)
from foundation.container_environment import load_environment
from foundation.errors import RequirementError, UsageError
from foundation.files import digest_tree
from foundation.process import find_tool, run
from foundation.settings import REPOSITORY, Settings
from images.catalog import NAMES
from tests.standins.certificate import make_certificate

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not find_tool("docker-compose") and not find_tool("docker"), reason="there is no compose"
    ),
]

IMAGES = {name: f"mesocosm/{name}:0123456789ab" for name in SERVICES}


def parsed(folder: Path, *, kvm: bool = False, **settings: Any) -> dict[str, Any]:  # noqa: ANN401
    compose = Compose(Settings(state_dir=folder, controller_port=1234, **settings), kvm=kvm)
    compose.write_env(IMAGES)
    argv = compose.argv("config")
    config: dict[str, Any] = yaml.safe_load(
        run(argv, timeout_s=60, env=compose._env()).require().stdout
    )
    return config


@cache
def _parsed_once(folder: Path) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    return parsed(folder)


@pytest.fixture
def standard(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return the configuration that compose reads without settings; tests do not change it."""
    return _parsed_once(tmp_path_factory.getbasetemp() / "compose")


def test_every_permanent_service_has_its_own_image(standard: dict[str, Any]) -> None:
    services = standard["services"]
    images = {name: IMAGE_OF.get(name, name) for name in SERVICES}
    assert set(images.values()) <= set(NAMES)
    for name, image in images.items():
        assert services[name]["image"] == IMAGES[image]


def test_ports_are_bound_to_loopback_only(standard: dict[str, Any]) -> None:
    text = REPOSITORY.joinpath("docker-compose.yml").read_text()
    ports = [
        port
        for service in yaml.safe_load(text)["services"].values()
        for port in service.get("ports", [])
    ]
    assert len(ports) == 3
    # The address of the API follows the settings, which require TLS beyond the loopback.
    closed = ("127.0.0.1:", "${MESOCOSM_SERVICE_PUBLISHED:")
    assert all(port.startswith(closed) for port in ports)
    assert "127.0.0.1" in str(standard["services"]["controller"]["ports"][1])
    assert "1234" in str(standard["services"]["controller"]["ports"])
    assert "9465" in str(standard["services"]["controller"]["ports"])


def test_prometheus_has_a_port_only_on_request(standard: dict[str, Any], tmp_path: Path) -> None:
    assert "ports" not in standard["services"]["prometheus"]
    asked = parsed(tmp_path, publish_prometheus=True, prometheus_port=4321)
    assert "127.0.0.1" in str(asked["services"]["prometheus"]["ports"])
    assert "4321" in str(asked["services"]["prometheus"]["ports"])


def test_controller_knows_its_host_names(tmp_path: Path) -> None:
    config = parsed(tmp_path, controller_hosts="localhost:8000")
    env = config["services"]["controller"]["environment"]
    assert env["MESOCOSM_CONTROLLER_HOSTS"] == "controller:9464,localhost:8000"
    assert env["MESOCOSM_CONTROLLER_PORT"] == "1234"


def test_no_service_is_privileged_and_capabilities_are_listed(standard: dict[str, Any]) -> None:
    for name, service in standard["services"].items():
        assert not service.get("privileged"), name
        assert service["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert service.get("network_mode") != "host" or name == "worker", name
        assert "pid" not in service or name == "worker", name
        assert "SYS_ADMIN" not in service.get("cap_add", []), name


def test_only_the_worker_has_the_docker_socket(standard: dict[str, Any]) -> None:
    services = standard["services"]
    holders = [
        name for name, service in services.items() if "docker.sock" in str(service.get("volumes"))
    ]
    assert holders == ["worker"]


def test_settings_and_keys_are_passed_in_a_private_file_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESOCOSM_MODEL_API_KEY", "sk-secret")
    first = parsed(tmp_path)["services"]
    assert "sk-secret" not in str(first)
    assert "sk-secret" not in (tmp_path / "compose.env").read_text()
    file = Settings(state_dir=tmp_path).container_environment
    assert "sk-secret" in file.read_text()
    assert file.stat().st_mode & 0o077 == 0
    assert parsed(tmp_path)["services"] == first
    monkeypatch.setenv("MESOCOSM_MODEL_API_KEY", "sk-other")
    changed = parsed(tmp_path)["services"]
    assert {name for name in first if changed[name] != first[name]} == {"controller", "worker"}


def test_api_is_published_with_the_configured_certificate(tmp_path: Path) -> None:
    certificate = make_certificate(tmp_path)
    chosen: dict[str, Any] = {
        "service_address": "::",
        "service_tls_cert": certificate.path,
        "service_tls_key": certificate.key_path,
    }
    with pytest.raises(UsageError, match="without TLS"):
        parsed(tmp_path / "s", service_address="0.0.0.0")  # noqa: S104
    first = parsed(tmp_path / "s", **chosen)["services"]["controller"]
    assert "::" in str(first["ports"][1])
    within: dict[str, str] = {}
    load_environment(Settings(state_dir=tmp_path / "s").container_environment, within)
    key = Path(within["MESOCOSM_SERVICE_TLS_KEY"])
    assert key.read_bytes() == certificate.key_path.read_bytes()
    assert key.is_relative_to(tmp_path / "s")
    assert key.stat().st_mode & 0o077 == 0
    renewed = make_certificate(tmp_path)
    assert renewed.path == certificate.path
    again = parsed(tmp_path / "s", **chosen)["services"]["controller"]
    assert again["labels"] != first["labels"]


def test_controller_and_worker_run_as_the_user_with_host_facts(
    standard: dict[str, Any],
) -> None:
    for name in ("controller", "worker"):
        service = standard["services"][name]
        assert service["user"] == f"{os.geteuid()}:{os.getegid()}"
        assert service["environment"]["MESOCOSM_PLACE"] == "container"
        code = service["environment"]["MESOCOSM_CODE"]
        assert code == "" or len(code.partition("-")[0]) == 40
    assert standard["services"]["worker"]["stop_grace_period"] in {"90s", "1m30s"}


def test_hypervisor_sees_machines_and_images_but_no_keys_or_runs(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path)
    mounts = [str(volume) for volume in parsed(tmp_path)["services"]["hypervisor"]["volumes"]]
    folders = {mount.split(":")[0]: mount.split(":")[1:] for mount in mounts}
    assert set(folders) == {str(folder) for folder in hypervisor_folders(settings)}
    assert all(path == target for path, (target, *_) in folders.items())
    writable = {path for path, (_, *mode) in folders.items() if "ro" not in mode}
    assert str(settings.images_dir) not in writable
    for secret in (
        settings.keys_dir,
        settings.runs_dir,
        settings.metrics_dir,
        settings.devices_dir,
    ):
        assert not any(secret.is_relative_to(path) for path in folders)
    # Owned by the user; docker would create them as root.
    assert all(Path(path).is_dir() for path in folders)


def test_hypervisor_memory_is_limited_and_it_is_killed_first(tmp_path: Path) -> None:
    hypervisor = parsed(tmp_path)["services"]["hypervisor"]
    meminfo = tmp_path / "meminfo"
    assert str(hypervisor["mem_limit"]).strip("m") == str(hypervisor_memory_mib())
    assert int(hypervisor["oom_score_adj"]) > 0
    for total_mib, limit_mib in ((24105, 22057), (3072, 1536), (512, 1024)):
        meminfo.write_text(f"MemTotal:       {total_mib << 10} kB\nMemFree:  1 kB\n")
        assert hypervisor_memory_mib(meminfo) == limit_mib


def test_guest_network_is_internal(standard: dict[str, Any]) -> None:
    config = standard
    assert config["networks"]["guests"]["internal"] is True
    assert list(config["services"]["hypervisor"]["networks"]) == ["guests"]


@pytest.mark.parametrize("kvm", [False, True])
def test_kvm_device_is_mounted_only_if_kvm_works(tmp_path: Path, kvm: bool) -> None:
    hypervisor = parsed(tmp_path, kvm=kvm)["services"]["hypervisor"]
    assert ("/dev/kvm" in str(hypervisor.get("devices", ""))) is kvm


def test_missing_variable_suggests_mesocosm_up(tmp_path: Path) -> None:
    compose = Compose(Settings(state_dir=tmp_path))
    compose.write_env({})
    result = run(compose.argv("config"), timeout_s=60)
    assert result.exit_code != 0
    assert b"run mesocosm up" in result.stderr


def test_each_state_folder_has_its_own_project(tmp_path: Path) -> None:
    assert project_name(Settings(state_dir=Path("/var/lib/mesocosm"))) == "mesocosm"
    project, other = (project_name(Settings(state_dir=tmp_path / name)) for name in "ab")
    assert project != other
    assert project.startswith("mesocosm-")


def test_missing_compose_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(module, "find_tool", lambda _name: None)
    monkeypatch.setattr("foundation.process.find_tool", lambda _name: None)
    with pytest.raises(RequirementError, match="compose"):
        find_compose()


@pytest.mark.parametrize(
    ("compose", "engine", "is_refused"),
    [("1.29.2", "28.5.1", False), ("1.29.2", "29.0.2", True), ("2.26.1", "29.0.2", False)],
)
def test_compose_1_is_refused_with_newer_engines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compose: str, engine: str, is_refused: bool
) -> None:
    program = tmp_path / "docker-compose"
    program.write_text(f"#!/bin/sh\necho {compose}\n")
    program.chmod(0o755)
    client = SimpleNamespace(version=lambda: {"Version": engine})
    monkeypatch.setattr(module, "find_compose", lambda: [str(program)])
    monkeypatch.setattr(module, "docker_client", lambda: nullcontext(client))
    if not is_refused:
        require_compatible_compose()
        return
    with pytest.raises(RequirementError, match=r"1\.29\.2 cannot use Docker 29\.0\.2"):
        require_compatible_compose()


def test_every_container_has_memory_process_and_log_limits() -> None:
    text = REPOSITORY.joinpath("docker-compose.yml").read_text()
    for name, service in yaml.safe_load(text)["services"].items():
        assert service["pids_limit"] > 0, name
        assert service["mem_limit"], name
        assert service["logging"]["options"]["max-size"], name


def test_alertmanager_is_recreated_when_its_receivers_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def label() -> str:
        return str(parsed(tmp_path)["services"]["alertmanager"]["labels"]["mesocosm.config"])

    before = label()
    assert label() == before
    monkeypatch.setenv("MESOCOSM_ALERT_WEBHOOK", "https://hooks.example.org/x")
    assert label() != before


def test_alertmanager_can_write_its_data_only(tmp_path: Path) -> None:
    service = parsed(tmp_path)["services"]["alertmanager"]
    user, group = container_user()
    assert service["user"] == f"{user}:{group}"
    assert service["read_only"] is True
    assert "ports" not in service
    mounts = sorted(str(volume) for volume in service["volumes"])
    folder = tmp_path / "alertmanager"
    assert len(mounts) == 2
    assert f"{folder}/config" in mounts[0]
    assert "ro" in mounts[0]
    assert f"{folder}/data" in mounts[1]
    for path in (folder / "config", folder / "config/alertmanager.yml", folder / "data"):
        status = path.stat()
        assert (status.st_uid, status.st_gid, status.st_mode & 0o077) == (user, group, 0), path


def test_prometheus_is_recreated_when_its_configuration_changes(standard: dict[str, Any]) -> None:
    label = standard["services"]["prometheus"]["labels"]["mesocosm.config"]
    assert label == digest_tree(REPOSITORY / "monitoring/prometheus")


def test_prometheus_links_use_the_controllers_port(standard: dict[str, Any]) -> None:
    for name in ("prometheus", "alertmanager"):
        (address,) = [
            word for word in standard["services"][name]["command"] if "external-url" in word
        ]
        assert "http://127.0.0.1:1234/prometheus/" in address
