"""Serve the sites: ``python3 -m images.world.program.sites``."""

from __future__ import annotations

import uvicorn

from images.world.program.sites.application import make_application

PORT = 8070
"""Apache passes requests on to it; see images/world/etc/apache.conf."""

if __name__ == "__main__":
    uvicorn.run(make_application(), host="127.0.0.1", port=PORT, log_level="warning", http="h11")
