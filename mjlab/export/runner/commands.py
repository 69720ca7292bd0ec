"""Command sources: constant, keyboard, gamepad and UDP packets."""

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
    """Source of constant commands, and base class of the other sources."""

    def __init__(self, contract: dict[str, Any]) -> None:
        self.known = {c["name"]: c for c in contract["commands"]}
        """Contract entries of the commands, by name."""
        self.values = {n: np.array(c["start"], float) for n, c in self.known.items()}
        """Current command values, by name."""

    def set(self, name: str, values: Any) -> None:
        """Set a command, clipped to its training range."""
        if name not in self.known:
            valid = ", ".join(self.known) or "none"
            raise ContractError(f"There is no command {name!r}. Valid: {valid}.")
        wanted, range_ = np.array(values, float), self.known[name]["range"]
        if wanted.shape != self.values[name].shape or not np.isfinite(wanted).all():
            raise ContractError(
                f"{name} needs {self.values[name].size} finite numbers, not {values}."
            )
        low, high = np.array(range_).T if range_ else (-np.inf, np.inf)
        self.values[name] = np.clip(wanted, low, high)

    def first(self) -> str:
        """Return the name of the first command."""
        if not self.known:
            raise ContractError("The policy has no command.")
        return next(iter(self.known))

    def read(self) -> float:
        """Read new commands; return the age of the newest, s; infinite stops."""
        return 0.0


class KeyboardSource(CommandSource):
    """Commands from keys, in steps of 0.1.

    w and s change the first element, a and d the second, q and e the third. Space sets
    the command to zero, x stops the robot.
    """

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Read keys within the block as they are pressed, without Enter."""
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
    """Commands from the sticks of a gamepad: left for velocity, right for yaw.

    Any button stops the robot.
    """

    AXES = (1, 0, 3)
    """Axis code of each command element: left stick y and x, right stick x."""
    KEYS, STICKS, BUTTON = 1, 3, 0x130
    """Event types of buttons and axes, and the code of a button that every gamepad
    has."""

    def __init__(
        self, contract: dict[str, Any], device: Any, dead: float = 0.1
    ) -> None:
        """Store an evdev device, and the dead zone as a fraction of the axis range."""
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
            f"{', '.join(device.name for device in devices) or 'none'}. Connect one, "
            "or join the group `input`, whose members can read gamepads."
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
            share = self._deflection(axis)
            wanted[place] = share * high if share > 0.0 else -share * low
        self.set(name, wanted)
        return 0.0

    def _deflection(self, axis: int) -> float:
        """Return the deflection of an axis, -1 to 1, positive forward and left."""
        found = self._device.absinfo(axis)
        half = (found.max - found.min) / 2.0
        share = (found.min + half - found.value) / half
        out = max(0.0, abs(share) - self._dead) / (1.0 - self._dead)
        return math.copysign(min(out, 1.0), share)


class UdpSource(CommandSource):
    """Commands from UDP packets of this machine, such as {"twist": [0.5, 0, 0]}.

    Packets are not authenticated: any program of any user on the machine can send them.
    """

    def __init__(self, contract: dict[str, Any], port: int, clock: Any) -> None:
        super().__init__(contract)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", port))
        self._socket.setblocking(False)
        self.port: int = self._socket.getsockname()[1]
        """UDP port of the source."""
        self._clock, self._came = clock, clock()

    def read(self) -> float:
        with contextlib.suppress(BlockingIOError):
            while True:
                self._take(self._socket.recv(4096))
        return self._clock() - self._came

    def _take(self, packet: bytes) -> None:
        """Apply the commands of a packet; invalid packets are ignored."""
        with contextlib.suppress(ValueError, KeyError, AttributeError, TypeError):
            for name, values in json.loads(packet).items():
                self.set(name, values)
            self._came = self._clock()
