"""Use machines without a task: lease, use, and reset them."""

from __future__ import annotations

import sys

from mesocosm import ResourceSpec, get_settings, open_fleet


def main(fleet: str = "real") -> None:
    """Write a file on a desktop and reset the desktop, which removes the file."""
    machine_fleet = open_fleet(fleet, get_settings())
    with machine_fleet.acquire({"desktop": ResourceSpec("desktop")}, ttl_s=600) as lease:
        desktop = lease.environment.machines["desktop"]
        path = f"{desktop.info.home}/note.txt"
        desktop.files.put(path, b"hello")
        print(desktop.files.get(path).decode())
        lease.renew()  # 600 seconds from now
        desktop = lease.reset().machines["desktop"]  # rewound, or another fork
        print(desktop.info.machine_id, desktop.screen.capture().shape)


if __name__ == "__main__":
    main(*sys.argv[1:])
