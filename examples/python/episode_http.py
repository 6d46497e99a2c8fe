"""Drive one trial over HTTP; the program only needs the service's address and a token."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import sys
import time
import urllib.parse
import uuid
from http import HTTPStatus
from typing import Any

ACTIONS: list[dict[str, Any]] = [
    {"do": "open_app", "on": "desktop", "with": {"name": "Terminal"}},
    {"do": "type_text", "on": "desktop", "with": {"text": "echo hello > note.txt\n"}},
    {"do": "complete"},
]


class Client:
    """Client of the episode API that uses one connection and waits while there is no capacity."""

    def __init__(self, server: str, token: str) -> None:
        address = urllib.parse.urlsplit(server)
        secure = address.scheme == "https"
        connect = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        self._connection = connect(address.netloc, timeout=3600)
        self.close = self._connection.close
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def post(self, path: str, **body: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON
        """Send a request and return the reply."""
        while True:
            self._connection.request("POST", path, json.dumps(body), self._headers)
            reply = self._connection.getresponse()
            answer: dict[str, Any] = json.loads(reply.read())
            if reply.status < HTTPStatus.BAD_REQUEST:
                return answer
            if reply.status != HTTPStatus.TOO_MANY_REQUESTS:
                raise SystemExit(f"{path}: {reply.status} {answer['error']}")
            time.sleep(float(reply.headers["Retry-After"]))  # noqa: TID251 - without Mesocosm


def main(server: str, suite: str, task: str, fleet: str = "real") -> None:
    """Carry out three actions and print the results."""
    with contextlib.closing(Client(server, os.environ["MESOCOSM_TOKEN"])) as client:
        drive(client, suite, task, fleet)


def drive(client: Client, suite: str, task: str, fleet: str) -> None:
    """Open, step, evaluate, and close an episode."""
    key = uuid.uuid4().hex  # if the reply is lost, retrying with it opens no second episode
    episode = client.post(
        "/api/v1/episodes", suite=suite, task=task, seed=7, fleet=fleet, ttl_s=300, key=key
    )
    path = f"/api/v1/episodes/{episode['id']}"
    print(episode["instruction"])
    for number, action in enumerate(ACTIONS):
        step = client.post(f"{path}/step", request_id=str(number), actions=[action])
        screen = step["observation"]["screens"]["desktop"]
        size = f"{screen['width']} x {screen['height']} px"
        print(f"{action['do']} on {size}: met {step['newly_met']}, reward {step['reward']}")
        if step["terminated"] or step["truncated"]:
            break
    standing = client.post(f"{path}/evaluate")
    print(f"{standing['nodes_met']}/{standing['nodes']} nodes, reward {standing['reward']}")
    outcome = client.post(f"{path}/close")["outcome"]
    print(f"{outcome['verdict']}: {outcome['reason']}")


if __name__ == "__main__":
    main(*sys.argv[1:])
