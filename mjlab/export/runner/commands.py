"""Commands: constant ones, of a keyboard, of a gamepad, and of packets."""

import contextlib
import importlib
import json
import math
import os
import select
import socket
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from mjlab.export.runner.policy import ContractError


class CommandSource:
    """Commands that stay as they are."""

    def __init__(self, contract: dict[str, Any]) -> None:
        self.known = {c["name"]: c for c in contract["commands"]}
        """What can be commanded, as the contract says."""
        self.values = {n: np.array(c["start"], float) for n, c in self.known.items()}
        """What is commanded."""

    def set(self, name: str, values: Any) -> None:
        """Command something, within the range that the policy was trained with."""
        if name not in self.known:
            valid = ", ".join(self.known) or "none"
            raise ContractError(f"There is no command {name!r}. Valid names: {valid}.")
        wanted, range_ = np.array(values, float), self.known[name]["range"]
        if wanted.shape != self.values[name].shape or not np.isfinite(wanted).all():
            raise ContractError(f"{name} takes {self.values[name].size} numbers.")
        low, high = np.array(range_).T if range_ else (-np.inf, np.inf)
        self.values[name] = np.clip(wanted, low, high)

    def first(self) -> str:
        """Return the name of the first command."""
        if not self.known:
            raise ContractError("The policy takes no command.")
        return next(iter(self.known))

    def read(self) -> float:
        """Take what came since the last call; return the age of the newest, s."""
        return 0.0


class KeyboardSource(CommandSource):
    """Commands of the keys w and s, a and d, q and e; a space is zero, x stops."""

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Take keys one by one, as long as this lasts."""
        if not sys.stdin.isatty():
            raise ContractError("--keyboard needs a terminal as standard input.")
        termios, tty = map(importlib.import_module, ("termios", "tty"))
        before = termios.tcgetattr(sys.stdin)
        try:
            tty.setcbreak(sys.stdin)
            yield
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)

    def read(self) -> float:
        while select.select([sys.stdin], [], [], 0.0)[0]:
            typed = os.read(sys.stdin.fileno(), 64).decode(errors="ignore")
            if not typed or "x" in typed:
                return math.inf
            for key in typed:
                self._press(key)
        return 0.0

    def _press(self, key: str) -> None:
        name = self.first()
        step = np.zeros_like(self.values[name])
        place, sign = divmod("wsadqe".find(key), 2)
        if 0 <= place < step.size:
            step[place] = 0.1 if sign == 0 else -0.1
        self.set(name, (key != " ") * (self.values[name] + step))


class GamepadSource(CommandSource):
    """Commands of sticks: the left one walks, the right one turns; any button stops."""

    AXES = (1, 0, 3)
    """Codes of the axes of a command's numbers: left stick's y and x, right one's x."""
    KEYS, STICKS, BUTTON = 1, 3, 0x130
    """Kinds of events of buttons and axes, and the button that any gamepad has."""

    def __init__(
        self, contract: dict[str, Any], device: Any, dead: float = 0.1
    ) -> None:
        """Take a device of evdev, and the share of a stick's way that is none."""
        super().__init__(contract)
        self._device, self._dead = device, dead

    @classmethod
    def find(cls) -> Any:
        """Return the first gamepad of this machine."""
        try:
            evdev = importlib.import_module("evdev")
        except ImportError:
            raise ContractError(
                "A gamepad needs the package evdev (Linux only): `pip install evdev`."
            ) from None
        devices = [evdev.InputDevice(path) for path in evdev.list_devices()]
        for device in devices:
            has = device.capabilities(absinfo=False)
            has_sticks = {*cls.AXES} <= {*has.get(cls.STICKS, ())}
            if has_sticks and cls.BUTTON in has.get(cls.KEYS, ()):
                return device
        raise ContractError(
            "No gamepad is readable. Other devices: "
            f"{', '.join(device.name for device in devices) or 'none'}. "
            "Plug one in, or join the group `input`, which may read it."
        )

    def read(self) -> float:
        while (event := self._device.read_one()) is not None:
            if event.type == self.KEYS and event.value:
                return math.inf
        if self._device.active_keys():
            return math.inf
        name = self.first()
        wanted = np.zeros_like(self.values[name])
        range_ = self.known[name]["range"] or [[-1.0, 1.0]] * wanted.size
        for place, axis in enumerate(self.AXES[: wanted.size]):
            low, high = range_[place]
            share = self._share(axis)
            wanted[place] = share * high if share > 0.0 else -share * low
        self.set(name, wanted)
        return 0.0

    def _share(self, axis: int) -> float:
        """Return how far an axis is out, from -1 to 1: forward and left are above 0."""
        found = self._device.absinfo(axis)
        half = (found.max - found.min) / 2.0
        share = (found.min + half - found.value) / half
        out = max(0.0, abs(share) - self._dead) / (1.0 - self._dead)
        return math.copysign(min(out, 1.0), share)


class UdpSource(CommandSource):
    """Commands of packets such as {"twist": [0.5, 0, 0]}, from this machine alone.

    Any program and any user of the machine can send them: packets carry no password.
    """

    def __init__(self, contract: dict[str, Any], port: int, clock: Any) -> None:
        super().__init__(contract)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", port))
        self._socket.setblocking(False)
        self.port: int = self._socket.getsockname()[1]
        """Its port."""
        self._clock, self._came = clock, clock()

    def read(self) -> float:
        with contextlib.suppress(BlockingIOError):
            while True:
                self._take(self._socket.recv(4096))
        return self._clock() - self._came

    def _take(self, packet: bytes) -> None:
        """Take the commands of a packet; one that is wrong counts as none."""
        with contextlib.suppress(ValueError, KeyError, AttributeError, TypeError):
            for name, values in json.loads(packet).items():
                self.set(name, values)
            self._came = self._clock()
