"""The same agent as an HTTP endpoint, with the standard library: `python3 typist_http.py 8090`."""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LINE = "echo hello > note.txt\n"
TURNS = [
    {"on": "desktop", "do": "open_app", "with": {"name": "Terminal"}},
    {"on": "desktop", "do": "type_text", "with": {"text": LINE}},
    {"do": "complete"},
]


class Typist(BaseHTTPRequestHandler):
    """Replies to each observation with the action of its step."""

    def do_POST(self) -> None:
        """Answer one message; `session` tells trials apart, `step` how far this one is."""
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        body = b""
        if message["type"] == "observation":
            body = json.dumps(TURNS[message["step"]]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Typist).serve_forever()
