"""viser server that answers only pages of this machine.

Any web page can send requests to 127.0.0.1, and viser has no passwords: without a
check, a page of another site could read the scene and drive the robot.
"""

import contextlib
import logging
import re
import threading
from collections.abc import Awaitable, Callable, Iterator
from http import HTTPStatus
from typing import Any

import viser
import websockets.asyncio.server
from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from mjlab.viewer.player import ViewerError

HOST = "127.0.0.1"
"""Address of the viewer; use `ssh -L` to open it from another machine."""

_LOCAL = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?", re.IGNORECASE)
_OPENING = threading.Lock()
_log = logging.getLogger(__name__)

Answer = Response | None
Handler = Callable[[ServerConnection, Request], Answer | Awaitable[Answer]]


class LocalServer(viser.ViserServer):
    """Server on `HOST` that refuses other sites' requests and never opens a tunnel."""

    def __init__(self, *, port: int, label: str) -> None:
        """Start the server.

        Args:
            port: Port, or the next free one. 0 selects any.
            label: Title of the page.

        Raises:
            ViewerError: If viser does not start its server through `websockets`, so
                that requests cannot be checked.
        """
        with _checked_requests() as checked:
            super().__init__(host=HOST, port=port, label=label, verbose=False)
        if not checked:
            self.stop()
            raise ViewerError(
                f"viser {viser.__version__} does not allow checks of the origin of "
                "requests. Install the tested version: pip install viser==1.1.1"
            )

    def request_share_url(self, verbose: bool = True) -> str | None:
        """Refuse: any page visitor could open a public tunnel to this machine."""
        _log.warning("Refused a request for a public share URL.")
        return None


def refusal(hosts: list[str], origins: list[str]) -> str | None:
    """Return the reason to refuse a request, None for a request from this machine.

    A page of another site has another Origin. A site whose name resolves to 127.0.0.1
    has its own name as Host. Programs other than browsers send no Origin.

    Args:
        hosts: Values of the header Host. Its port is not checked, because `ssh -L`
            changes it.
        origins: Values of the header Origin.
    """
    if len(hosts) != 1 or not _LOCAL.fullmatch(hosts[0]):
        given = ", ".join(hosts) or "is missing"
        return (
            f"Host {given}: the viewer accepts only localhost, 127.0.0.1 and [::1]. "
            "From another machine, use ssh -L."
        )
    own = (f"http://{hosts[0]}".lower(), f"https://{hosts[0]}".lower())
    if any(origin.lower() not in own for origin in origins):
        return (
            f"Origin {', '.join(origins)}: the viewer accepts only its own page, "
            f"http://{hosts[0]}."
        )
    return None


@contextlib.contextmanager
def _checked_requests() -> Iterator[list[Handler | None]]:
    """Check the requests of servers that are started in this block.

    viser 1.1.1 has no hook for requests. The constructor of its server calls
    `websockets.asyncio.server.serve` with viser's `process_request`, which handles
    files and websockets. Yields the functions that were replaced.
    """
    replaced: list[Handler | None] = []

    def serve(
        *args: Any, process_request: Handler | None = None, **options: Any
    ) -> Any:
        def check(connection: ServerConnection, request: Request) -> Any:
            headers = request.headers
            reason = refusal(headers.get_all("Host"), headers.get_all("Origin"))
            if reason is not None:
                return connection.respond(HTTPStatus.FORBIDDEN, f"{reason}\n")
            return process_request and process_request(connection, request)

        replaced.append(process_request)
        return original(*args, process_request=check, **options)

    with _OPENING:
        original = websockets.asyncio.server.serve
        websockets.asyncio.server.serve = serve  # pyright: ignore
        try:
            yield replaced
        finally:
            websockets.asyncio.server.serve = original  # pyright: ignore
