"""Viewer server: accepts pages of this machine, and refuses those of other sites.

Requests are sent to a real server with exactly the headers of the test.
"""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("viser", reason="the extra `viewer` is not installed")

import viser
import websockets.asyncio.server
from websockets.sync.client import connect

from mjlab.viewer import ViewerError
from mjlab.viewer.local_server import LocalServer

UPGRADE = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
)
FILE, WEBSOCKET = (), UPGRADE
KINDS = pytest.mark.parametrize("kind", [FILE, WEBSOCKET], ids=["file", "websocket"])


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    server = LocalServer(port=0, label="test")
    yield server
    server.stop()


def status(server: viser.ViserServer, *headers: str) -> int:
    """Return the status of a request with only these headers."""
    lines = "\r\n".join(("GET / HTTP/1.1", *headers, "", ""))
    with socket.create_connection(("127.0.0.1", server.get_port()), 30.0) as line:
        line.sendall(lines.encode())
        first = line.makefile("rb").readline()
    return int(first.split()[1])


def answered(kind: tuple[str, ...]) -> int:
    return 101 if kind is WEBSOCKET else 200


@KINDS
@pytest.mark.parametrize("port", ["", ":8080", ":9000"])
@pytest.mark.parametrize("name", ["localhost", "127.0.0.1", "[::1]", "LocalHost"])
def test_the_page_accepts_local_names_at_any_port(server, kind, name, port):
    host = f"Host: {name}{port}"
    assert status(server, host, *kind) == answered(kind)
    own = f"Origin: http://{name.lower()}{port}"
    assert status(server, host, own, *kind) == answered(kind)


@KINDS
@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8080",
        "127.0.0.1.evil.example",
        "localhost.evil.example:8080",
        "evil.example@localhost",
        "localhost@evil.example",
        "10.0.0.1:8080",
        "[::2]:8080",
        "127.0.0.1:",
        "",
    ],
)
def test_a_foreign_host_is_refused(server, kind, host):
    """A site whose name resolves to 127.0.0.1 sends its own name."""
    assert status(server, f"Host: {host}", *kind) == 403
    assert status(server, f"Host: {host}", f"Origin: http://{host}", *kind) == 403


@KINDS
@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://127.0.0.1:8081",
        "http://127.0.0.1",
        "http://localhost:8080",
        "http://127.0.0.1:8080.evil.example",
        "null",
        "",
    ],
)
def test_a_foreign_origin_is_refused(server, kind, origin):
    host = "Host: 127.0.0.1:8080"
    assert status(server, host, f"Origin: {origin}", *kind) == 403
    own = "Origin: http://127.0.0.1:8080"
    assert status(server, host, own, f"Origin: {origin}", *kind) == 403


@KINDS
def test_a_request_without_one_host_is_refused(server, kind):
    assert status(server, *kind) == 403
    both = ("Host: localhost:8080", "Host: evil.example")
    assert status(server, *both, *kind) == 403
    assert status(server, *reversed(both), *kind) == 403


def test_the_refusal_names_the_error_and_the_accepted_hosts(server):
    with socket.create_connection(("127.0.0.1", server.get_port()), 30.0) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
        text = line.makefile("rb").read().decode()
    assert "Host evil.example: the viewer accepts only localhost" in text


def test_viser_sends_the_scene_to_its_own_page(server):
    """The complete handshake, as by the page: messages arrive."""
    at = f"127.0.0.1:{server.get_port()}"
    own: Any = f"http://{at}"
    name: Any = f"viser-v{viser.__version__}"
    with connect(
        f"ws://{at}", origin=own, subprotocols=[name], open_timeout=30.0
    ) as page:
        assert page.recv(timeout=30.0)


def test_other_viser_servers_are_unchanged(server):
    """Functions replaced during viser's start are restored."""
    assert websockets.asyncio.server.serve.__module__ == "websockets.asyncio.server"
    other = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    try:
        assert status(other, "Host: evil.example") == 200
    finally:
        other.stop()


def test_a_viser_without_request_checks_is_not_started(monkeypatch):
    """A later viser that starts its server differently is refused."""
    kept = websockets.asyncio.server.serve
    started = []

    def init(self, *, host, port, label, verbose) -> None:
        started.append((host, port))

    monkeypatch.setattr(viser.ViserServer, "__init__", init)
    monkeypatch.setattr(viser.ViserServer, "stop", lambda self: started.clear())
    with pytest.raises(ViewerError, match=r"pip install viser==1\.1\.1"):
        LocalServer(port=0, label="test")
    assert started == [] and websockets.asyncio.server.serve is kept
