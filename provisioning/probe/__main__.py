"""Start the probe, or one of its helper processes, from the command line."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from provisioning.probe.system.identity import Identity, default_user

if TYPE_CHECKING:
    from collections.abc import Sequence

PIDFILE = "/run/mesocosm/probe.pid"
LOG = "/var/log/mesocosm-probe.log"


def main(argv: Sequence[str] | None = None) -> None:
    """Run the mode that the command line selects until its peer is gone."""
    options = _parser().parse_args(argv)
    user = options.user or default_user()
    if options.worker:
        _work(options.worker, user)
    elif options.streams:
        _carry_streams(options.streams, options.hosts)
    else:
        _serve(options, user)


def _serve(options: argparse.Namespace, user: str) -> None:
    from provisioning.probe.ops import Ops, own_command
    from provisioning.probe.serving import daemon
    from provisioning.probe.serving.channel import PortChannel, StdioChannel
    from provisioning.probe.serving.server import Server
    from provisioning.probe.serving.version import version

    ops = Ops(user, own_command())
    if options.daemon:
        daemon.detach(options.pidfile, options.log)
    daemon.exit_on_terminate()
    try:
        if options.port:
            port = PortChannel(options.port)
            server = Server(port, ops.table(), version())
            port.on_connect = server.greet
        else:
            server = Server(StdioChannel(), ops.table(), version())
            server.greet()
        server.serve()
    finally:
        ops.stop()


def _work(name: str, user: str) -> None:
    if name == "display":
        from provisioning.probe.display import display

        display.main(Identity.of(user))
    elif name == "tree":
        from provisioning.probe.accessibility import tree

        tree.main(Identity.of(user))
    elif name == "code":
        from provisioning.probe.code import worker

        worker.main(Identity.of(user))
    elif name == "streams":
        from provisioning.probe.streams import helper

        helper.main()
    else:
        from provisioning.probe import evaluate

        evaluate.main(user)


def _carry_streams(nonce: str, hosts: str) -> None:
    from provisioning.probe.serving import daemon
    from provisioning.probe.streams.channels import StandardStreams
    from provisioning.probe.streams.hosts import HostsFile
    from provisioning.probe.streams.session import GuestSession

    daemon.exit_on_terminate()
    GuestSession(StandardStreams(), HostsFile(hosts)).run(bytes.fromhex(nonce))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="probe", description="The part of Mesocosm that runs inside a guest."
    )
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--stdio", action="store_true", help="serve standard input and output")
    mode.add_argument("--port", help="serve a virtio-serial port indefinitely")
    mode.add_argument("--streams", metavar="NONCE", help="carry streams over standard streams")
    workers = ("display", "tree", "evaluator", "streams", "code")
    mode.add_argument("--worker", choices=workers, help=argparse.SUPPRESS)
    parser.add_argument("--user", help="owner of the desktop (default: user)")
    parser.add_argument("--daemon", action="store_true", help="run in the background")
    parser.add_argument("--hosts", default="/etc/hosts", help="where --streams writes names")
    parser.add_argument("--log", default=LOG, help="error log of a daemon")
    parser.add_argument("--pidfile", default=PIDFILE, help="lock file of a running daemon")
    return parser


if __name__ == "__main__":
    main()
