from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from controller.executors.cluster.needs import (
    HostState,
    choose_host,
    could_execute,
    machines_mib_of,
    read_hosts,
)
from foundation.settings import Settings
from provisioning.resource import DESKTOP, PHONE, ResourceSpec

if TYPE_CHECKING:
    from pathlib import Path


def host(name: str, places: int, free_mib: int, trials: int = 4, mib: int = 8000) -> HostState:
    total = {"CPU": trials, "machines_mib": mib, f"host.{name}": 1}
    free = {"CPU": places, "machines_mib": free_mib}
    return HostState(name, f"node-{name}", total, free)


def test_hosts_are_the_nodes_with_a_name_that_answer() -> None:
    rows: list[dict[str, object]] = [
        {"Alive": True, "NodeID": "1", "Resources": {"node:10.0.0.1": 1, "memory": 5}},
        {"Alive": True, "NodeID": "2", "Resources": {"host.b": 1, "CPU": 2, "machines_mib": 3000}},
        {"Alive": False, "NodeID": "3", "Resources": {"host.c": 1, "CPU": 2}},
        {"Alive": True, "NodeID": "4", "Resources": {"host.a": 1, "CPU": 2}},
        {"Alive": True, "NodeID": "5"},
    ]
    a, b = read_hosts(rows, {"2": {"CPU": 1.0, "machines_mib": 2232.0}})
    assert (a.name, a.node_id, a.trials, a.places) == ("a", "4", 2, 0)
    assert (b.name, b.places, b.free_mib) == ("b", 1, 2232)


@pytest.mark.parametrize(
    ("hosts", "chosen"),
    [
        ([host("a", 1, 8000), host("b", 3, 1000)], "b"),
        ([host("a", 2, 2000), host("b", 2, 3000)], "b"),
        ([host("a", 0, 8000), host("b", 1, 1000)], "b"),
        ([host("a", 4, 999), host("b", 1, 1000)], "b"),
        ([host("a", 0, 8000), host("b", 1, 999)], None),
        ([], None),
    ],
)
def test_the_host_with_the_most_places_is_chosen(
    hosts: list[HostState], chosen: str | None
) -> None:
    found = choose_host(hosts, 1000, {})
    assert (found and found.name) == chosen


def test_trials_on_their_way_take_place_and_memory() -> None:
    hosts = [host("a", 2, 2000), host("b", 1, 9000)]
    found = choose_host(hosts, 1000, {"a": 1})
    assert found
    assert found.name == "b"
    assert choose_host(hosts, 1500, {"a": 1, "b": 1}) is None


def test_excluded_hosts_are_not_chosen() -> None:
    assert choose_host([host("a", 2, 2000)], 0, {}, {"a"}) is None


def test_a_host_without_enough_memory_can_never_execute_a_trial() -> None:
    assert could_execute(host("a", 0, 0, mib=1000), 1000)
    assert not could_execute(host("a", 4, 1000, mib=1000), 1001)
    assert not could_execute(host("a", 0, 0, trials=0), 0)


def test_a_trial_needs_the_memory_of_a_fork_and_a_phone(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path, fork_reserve_mib=700, desktop_memory_mib=4096)
    phone = machines_mib_of([ResourceSpec(PHONE)], settings)
    assert 0 < phone < 1000
    both = machines_mib_of([ResourceSpec(DESKTOP), ResourceSpec(PHONE)], settings)
    assert both == 700 + phone
    assert machines_mib_of([], settings) == 0
