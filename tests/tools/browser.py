"""A headless Chromium, driven through its debugging port, for tests of web pages.

It needs `websockets`, which viser installs. Playwright would add 165 MB with a Node.
"""

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
_ANSWER_S = 300.0
"""Maximum time of an answer: pages are rendered without a GPU, on busy cores."""


def find_browser() -> str | None:
    """Path of the program, None if not installed."""
    return next((found for name in PROGRAMS if (found := shutil.which(name))), None)


class PageLeftError(AssertionError):
    """A page was left before its answer."""


class Browser:
    """A page without access to other hosts, which records its requests."""

    def __init__(self, url: str, *, width: int = 1280, height: int = 800) -> None:
        program = find_browser()
        assert program is not None, "There is no Chromium."
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self._process = subprocess.Popen(
            [
                program,
                "--headless=new",
                "--no-sandbox",
                "--use-angle=swiftshader",
                "--enable-unsafe-swiftshader",
                "--disable-background-networking",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
                f"--window-size={width},{height}",
                f"--user-data-dir={self._profile.name}",
                f"--remote-debugging-port={port}",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._socket = connect(
            _page_address(port), max_size=None, open_timeout=_ANSWER_S
        )
        self._number = 0
        self.requested: list[str] = []
        for domain in ("Network", "Page", "Runtime"):
            self.call(f"{domain}.enable")
        self.call("Page.navigate", url=url)

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        self._number += 1
        number = self._number
        message = {"id": number, "method": method, "params": params}
        self._socket.send(json.dumps(message))
        while True:
            answer = json.loads(self._socket.recv(timeout=_ANSWER_S))
            self._note(answer)
            if answer.get("id") == number:
                if "navigated" in answer.get("error", {}).get("message", ""):
                    raise PageLeftError
                assert "error" not in answer, answer
                return answer["result"]

    def run(self, script: str) -> Any:
        """Return the value of a JavaScript expression."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        return found["result"].get("value")

    def answer(self, script: str) -> Any:
        """Return the value of the promise of a JavaScript expression."""
        found = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def wait(self, script: str, seconds: float = _ANSWER_S) -> None:
        """Wait until a JavaScript expression is true."""
        limit = time.monotonic() + seconds
        while not self._answers(script):
            assert time.monotonic() < limit, f"{script} stayed false"
            time.sleep(0.2)

    def _answers(self, script: str) -> bool:
        try:
            return bool(self.run(script))
        except PageLeftError:  # The next page is queried again.
            return False

    def click(self, text: str) -> None:
        """Click the button or tab with a text, as a mouse would."""
        find = _FIND.replace("TEXT", json.dumps(text))
        self.wait(f"{find} !== null")
        place = f"{_MIDDLE}({find})"
        x, y = self.run(place)
        time.sleep(0.5)
        while [x, y] != self.run(place):  # The layout of the page has not finished.
            x, y = self.run(place)
            time.sleep(0.5)
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=x,
                y=y,
                button="left",
                clickCount=1,
            )

    def screenshot(self, path: Path) -> None:
        found = self.call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(found["data"]))

    def close(self) -> None:
        self._socket.close()
        self._process.terminate()
        self._process.wait(timeout=_ANSWER_S)
        self._profile.cleanup()

    def _note(self, message: dict[str, Any]) -> None:
        params = message.get("params", {})
        if message.get("method") == "Network.requestWillBeSent":
            self.requested.append(params["request"]["url"])
        if message.get("method") == "Network.webSocketCreated":
            self.requested.append(params["url"])


_MIDDLE = (
    "(e => { const r = e.getBoundingClientRect(); "
    "return [r.x + r.width / 2, r.y + r.height / 2]; })"
)
_FIND = (
    "([...document.querySelectorAll('button, [role=tab]')]"
    ".find(e => e.textContent.trim() === TEXT) ?? null)"
)


def _page_address(port: int, seconds: float = _ANSWER_S) -> str:
    """Return the browser's control address, after it has started."""
    limit = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json") as answer:
                pages = json.load(answer)
            return next(p["webSocketDebuggerUrl"] for p in pages if p["type"] == "page")
        except (OSError, StopIteration):
            assert time.monotonic() < limit, "Chromium did not start."
            time.sleep(0.2)
