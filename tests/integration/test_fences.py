"""Tests on a real Docker engine that a phone cannot connect to this host, but is reachable from it."""

from __future__ import annotations

import contextlib
import io
import json
import socket
import tarfile
import threading
from typing import TYPE_CHECKING, Any

import docker
import pytest

from appliance.bringup.down import _remove_images
from appliance.bringup.prune import Pruner
from foundation.clock import wait_until
from foundation.errors import ImageError, MachineStartError, RequirementError
from foundation.ids import new_machine_id
from foundation.settings import Settings
from images.builder import find
from images.manifest import MANIFEST, Manifest
from images.recipe import docker_tag
from provisioning.container_fence import fence_container
from tests.unit.images.stub import StubRecipe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from docker import DockerClient
    from docker.models.containers import Container

pytestmark = [pytest.mark.docker, pytest.mark.phone]

INSIDE_PORT = 5555
_SERVE = f"""
import socket
server = socket.create_server(("0.0.0.0", {INSIDE_PORT}))
while True:
    link, _ = server.accept()
    link.sendall(b"hello" * 20000)
    link.close()
"""
_CONNECT = """
import socket, sys
for host in sys.argv[2:]:
    try:
        socket.create_connection((host, int(sys.argv[1])), timeout=5).close()
        print("connected")
    except OSError as exc:
        print("refused")
    try:
        link = socket.socket()
        link.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        link.settimeout(5)
        link.bind(("", 40000))
        link.connect((host, int(sys.argv[1])))
        print("connected")
    except OSError as exc:
        print("refused")
"""


@pytest.fixture(scope="module")
def client() -> Iterator[DockerClient]:
    with contextlib.closing(docker.from_env()) as made:
        yield made


@pytest.fixture(scope="module")
def images() -> dict[str, str]:
    try:
        return {name: find(name, Settings()).tag or "" for name in ("phone", "hypervisor")}
    except (ImageError, RequirementError) as exc:
        pytest.skip(str(exc))


@pytest.fixture
def container(client: DockerClient, images: dict[str, str]) -> Iterator[Container]:
    """Run a server in place of a phone, on a network like that of phones."""
    name = new_machine_id("op-fence")
    options = {"com.docker.network.bridge.enable_ip_masquerade": "false"}
    network = client.networks.create(name, driver="bridge", options=options)
    try:
        made = client.containers.run(
            images["phone"],
            entrypoint=["python3", "-c", _SERVE],
            name=name,
            network=name,
            ports={f"{INSIDE_PORT}/tcp": ("127.0.0.1", 0)},
            cap_drop=["ALL"],
            detach=True,
        )
        try:
            assert wait_until(lambda: _ask(made), timeout_s=30.0, every_s=0.1)
            yield made
        finally:
            made.remove(force=True, v=True)
    finally:
        network.remove()


@pytest.fixture
def service() -> Iterator[int]:
    """Listen on every address of this host, like a careless service; yield the port."""
    with socket.create_server(("0.0.0.0", 0)) as server:  # noqa: S104 - the fence must block it
        ended = threading.Event()

        def accept() -> None:
            while not ended.is_set():
                with contextlib.suppress(OSError):
                    server.accept()[0].close()

        thread = threading.Thread(target=accept)
        thread.start()
        port = int(server.getsockname()[1])
        yield port
        ended.set()
        socket.create_connection(("127.0.0.1", port)).close()
        thread.join()


def _ask(container: Container) -> int:
    """Return how many bytes the server in the container sends to this host; 0 for none."""
    container.reload()
    published = container.attrs["NetworkSettings"]["Ports"][f"{INSIDE_PORT}/tcp"]
    address = ("127.0.0.1", int(published[0]["HostPort"]))
    total = 0
    with contextlib.suppress(OSError), socket.create_connection(address, timeout=10) as link:
        while data := link.recv(1 << 16):
            total += len(data)
    return total


def _try_to_connect(client: DockerClient, container: Container, port: int) -> set[str]:
    """Let the container connect to the host through every gateway of Docker."""
    gateways = {
        config["Gateway"]
        for network in client.networks.list()
        for config in network.attrs["IPAM"].get("Config") or ()
        if "Gateway" in config
    }
    assert len(gateways) >= 2
    argv = ["python3", "-c", _CONNECT, str(port), *sorted(gateways)]
    output: Any = container.exec_run(argv).output
    return set(output.decode().split())


def test_fenced_container_cannot_reach_the_host_and_is_reachable(
    client: DockerClient, container: Container, images: dict[str, str], service: int
) -> None:
    assert "connected" in _try_to_connect(client, container, service)
    for _ in range(2):  # fencing is idempotent
        fence_container(client, str(container.id), images["hypervisor"], (INSIDE_PORT,))
        assert _try_to_connect(client, container, service) == {"refused"}
        assert _ask(container) == 100_000


def test_fence_that_cannot_be_set_is_an_error(
    client: DockerClient, container: Container, images: dict[str, str]
) -> None:
    with pytest.raises(MachineStartError, match="iptables"):
        fence_container(client, str(container.id), images["phone"], (INSIDE_PORT,))


def test_purge_keeps_images_used_by_another_appliance(client: DockerClient, tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path)
    image = client.images.get(import_image(client))
    tag = docker_tag("op-purge", str(image.id), settings.owner)
    write_manifest(settings, "op-purge", tag, str(image.id))
    assert image.tag(tag)
    user = client.containers.create(tag, command=["/none"], name=new_machine_id("op-purge"))
    try:
        assert f"kept: {tag}" in _remove_images(settings)
        assert client.images.get(tag).id == image.id
    finally:
        user.remove(force=True)
    assert _remove_images(settings) == tag
    assert client.images.list(name=tag) == []


@pytest.mark.parametrize("command", ["down", "prune"])
@pytest.mark.parametrize("is_default", [False, True], ids=["second", "default"])
def test_purge_keeps_tags_of_another_state_folder(
    client: DockerClient, tmp_path: Path, command: str, is_default: bool
) -> None:
    settings = Settings(state_dir=tmp_path / "second")
    other = Settings() if is_default else Settings(state_dir=tmp_path / "first")
    assert (other.owner == "") == is_default
    tags = []
    for owner in (settings.owner, other.owner):
        image = client.images.get(import_image(client))
        tags.append(docker_tag("phone", str(image.id), owner))
        assert image.tag(tags[-1])
        write_manifest(settings, "phone", tags[-1], str(image.id))
    own, foreign = tags
    try:
        if command == "down":
            assert _remove_images(settings).startswith(f"{own}; ")
        else:
            recipe = StubRecipe(tmp_path / "log", "phone")
            with Pruner(settings, ["phone"], make=lambda _name, _settings: recipe) as pruner:
                old_images = pruner.find()
                assert {image.docker_tag for image in old_images} == {own, None}
                assert {image.kept for image in pruner.remove(old_images, print)} == {""}
            assert list(settings.images_dir.glob(f"*/*/{MANIFEST}")) == []
        assert client.images.list(name=own) == []
        assert client.images.list(name=foreign)
    finally:
        for tag in tags:
            if client.images.list(name=tag):
                client.images.remove(tag, force=True)


def write_manifest(settings: Settings, name: str, tag: str, docker_id: str) -> None:
    """Register a Docker image in a state folder."""
    digest = docker_id.removeprefix("sha256:")
    manifest = Manifest(
        name=name,
        variant="one",
        recipe_digest=digest,
        image_digest=digest,
        built_at="2026-01-01",
        seconds=0,
        builder="test",
        docker_tag=tag,
        docker_id=docker_id,
    )
    folder = settings.images_dir / name / digest
    folder.mkdir(parents=True)
    (folder / MANIFEST).write_text(manifest.model_dump_json())


def import_image(client: DockerClient) -> str:
    """Create an image with unique content and return its ID."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        tar.addfile(tarfile.TarInfo(new_machine_id("file")))
    reply: Any = client.api.import_image_from_data(buffer.getvalue())
    return str(json.loads(reply.splitlines()[-1])["status"])
