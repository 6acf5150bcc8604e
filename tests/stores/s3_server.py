"""A local S3-compatible server for tests: it prints its port, and ends when its standard input does."""

from __future__ import annotations

import logging
import sys


def serve() -> None:
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    print(port, flush=True)
    sys.stdin.read()
    server.stop()


if __name__ == "__main__":
    serve()
