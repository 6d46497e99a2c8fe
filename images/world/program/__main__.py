"""Control the servers of a world: ``python3 -m images.world.program``."""

from __future__ import annotations

from images.world.program.control import serve

if __name__ == "__main__":
    serve()
