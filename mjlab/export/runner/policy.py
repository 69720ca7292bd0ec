"""Policy loaded from an exported ONNX file, with its contract and state."""

import base64
import hashlib
import importlib
import io
import json
import math
import re
import stat
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from mjlab.safe_names import check_name

CONTRACT, RECORD, SCENE = "contract", "record", "scene"
"""Metadata keys of the contract (JSON), the recorded steps and the scene (packed)."""
FORMAT = 4
"""Supported version of the contract."""
NO_CHECKSUM = f"sha256:{0:064}"
"""Checksum in the contract while the file's checksum is computed."""
_CHECKSUM = re.compile(rb'"checksum": "(sha256:[0-9a-f]{64})"')
PD = "pd"
"""Control law of an actuator: stiffness * (target - position) + damping * (velocity
target - velocity) + effort, clipped to the effort limit, in each physics step."""
CLOCK = "time_step"
"""Command with the index of the clip frame, which advances by itself."""
SCENE_FILE, ASSETS = "scene.xml", "assets"
"""MJCF file of a recorded scene, and the folder of its assets."""
MOST_FILES, MOST_BYTES = 1000, 256 * 2**20
"""Limits of packed data: number of files of a scene, and bytes of a scene or record."""
_ASSET_TAGS, _FOLDER_KEYS = ("mesh", "hfield", "skin"), ("meshdir", "assetdir")
"""MJCF elements that can refer to a file, and attributes with the file's folder."""
LAST_ACTION = "state_last_action"
"""Name of the state with the action of the last call."""

Arrays = dict[str, np.ndarray]


class ContractError(ValueError):
    """Raised for an invalid file, or a robot that differs from the contract."""


def with_checksum(content: bytes) -> tuple[bytes, str]:
    """Replace `NO_CHECKSUM` by the file's checksum; return file and checksum."""
    checksum = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return content.replace(NO_CHECKSUM.encode(), checksum.encode()), checksum


def is_whole(content: bytes) -> bool:
    """Return whether a file has a checksum; raise ValueError if it is wrong."""
    found = _CHECKSUM.findall(content)
    if not found:
        return False
    blank = content.replace(found[0], NO_CHECKSUM.encode())
    if len(found) > 1 or with_checksum(blank)[1].encode() != found[0]:
        raise ValueError("its content does not match its checksum")
    return True


def pack(content: bytes) -> str:
    """Encode bytes as metadata text."""
    return base64.b64encode(zlib.compress(content, 9)).decode()


def encode(content: bytes) -> str:
    """Encode an ONNX model as metadata text, uncompressed."""
    return base64.b64encode(content).decode()


def unpack(text: str) -> bytes:
    """Decode text from `pack`, to at most `MOST_BYTES` bytes."""
    reader = zlib.decompressobj()
    content = reader.decompress(base64.b64decode(text, validate=True), MOST_BYTES)
    if not reader.eof:
        raise ContractError(
            f"A packed text of the file is truncated, or has more than {MOST_BYTES} "
            "bytes."
        )
    return content


def files_of(content: bytes) -> dict[str, bytes]:
    """Return the files of a packed scene: `scene.xml` and `assets/NAME`.

    Raises:
        ContractError: If a name is unsafe, or the scene refers to other files.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = archive.infolist()
        _check_entries(entries)
        files = {entry.orig_filename: archive.read(entry) for entry in entries}
    if SCENE_FILE not in files:
        raise ContractError(f"The packed scene has no file {SCENE_FILE!r}.")
    _check_references(files)
    return files


def _check_entries(entries: Sequence[zipfile.ZipInfo]) -> None:
    """Raise unless all entries of a packed scene are regular files with safe names."""
    size = sum(entry.file_size for entry in entries)
    if len(entries) > MOST_FILES or size > MOST_BYTES:
        raise ContractError(
            f"The packed scene has {len(entries)} files with {size} bytes in total; "
            f"at most {MOST_FILES} files with {MOST_BYTES} bytes in total are accepted."
        )
    seen: set[str] = set()
    for entry in entries:
        # `filename` ends at the first NUL; the original name does not.
        name = entry.orig_filename
        if name != SCENE_FILE:
            inside = name.removeprefix(f"{ASSETS}/")
            if inside == name:
                raise ContractError(
                    f"The packed scene has a file {name!r}; only {SCENE_FILE!r} and "
                    f"'{ASSETS}/NAME' are accepted."
                )
            check_name(inside, f"The packed scene has in {ASSETS!r}", ContractError)
        if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG):
            raise ContractError(f"{name!r} in the packed scene is not a regular file.")
        if name.casefold() in seen:
            raise ContractError(f"The packed scene has two files named {name!r}.")
        seen.add(name.casefold())


def _check_references(files: Mapping[str, bytes]) -> None:
    """Raise unless a scene refers only to files of its own archive.

    MuJoCo would read other files from disk.
    """
    try:
        text = files[SCENE_FILE].decode()
        root = ElementTree.fromstring(text)
    except (UnicodeDecodeError, ElementTree.ParseError) as error:
        raise ContractError(
            f"The packed {SCENE_FILE} is not valid XML: {error}."
        ) from error
    # Refuse XML entities: they could hide a file name from this check. MuJoCo does not
    # support them.
    if root.tag != "mujoco" or "<!DOCTYPE" in text:
        raise ContractError(f"The packed {SCENE_FILE} is not plain MJCF.")
    attributes = [
        (element.tag, key, value)
        for element in root.iter()
        for key, value in element.attrib.items()
    ]
    folders = {v.rstrip("/") for _, key, v in attributes if key in _FOLDER_KEYS}
    folder = f"{ASSETS}/" if folders else ""
    for tag, key, value in attributes:
        is_file = key.startswith("file")
        if (is_file and not (tag in _ASSET_TAGS and f"{folder}{value}" in files)) or (
            key in _FOLDER_KEYS and value.rstrip("/") != ASSETS
        ):
            raise ContractError(
                f"The packed {SCENE_FILE} has {key}={value!r} in <{tag}>; it can only "
                "refer to its own files."
            )


def digest_of(files: Mapping[str, bytes]) -> str:
    """Return a hash of the names and contents of all files, sorted by name."""
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(name.encode() + b"\0" + files[name] + b"\0")
    return f"sha256:{digest.hexdigest()}"


def checked(inputs: list[dict[str, Any]], measured: Mapping[str, Any]) -> Arrays:
    """Convert readings to the types of the policy's inputs, and check their shapes.

    Args:
        inputs: Contract entries of the inputs.
        measured: Readings by name. Other names are ignored.

    Raises:
        ContractError: If an input is missing or has the wrong shape.
    """
    found = {}
    for entry in inputs:
        name = entry["name"]
        if name not in measured:
            raise ContractError(
                f"{name} is missing from the readings: the policy expects "
                f"{takes(entry)}"
            )
        found[name] = np.asarray(measured[name], entry["dtype"])
        if list(found[name].shape) != entry["shape"]:
            raise ContractError(
                f"{name} has the shape {found[name].shape}: the policy expects "
                f"{takes(entry)}"
            )
    return found


def first_value(state: Mapping[str, Any]) -> np.ndarray:
    """Return the initial value of a state of the contract."""
    found = np.empty(state["shape"], state["dtype"])
    found.flat = state["initial"]
    return found


def takes(entry: Mapping[str, Any]) -> str:
    """Describe shape, elements, unit and frame of an input in a message."""
    unit, names = entry["unit"], entry["elements"] or []
    units = [unit] if isinstance(unit, str) else list(dict.fromkeys(unit or []))
    shape = entry["shape"]
    parts = [str(shape[0]) if len(shape) == 1 else f"the shape {tuple(shape)}"]
    parts[0] += f" numbers ({', '.join(names)})" if names else " numbers"
    parts += [f"in {' and '.join(units)}"] if units and units != ["1"] else []
    parts += [f"in the axes of {entry['frame']}"] if entry["frame"] else []
    return ", ".join(parts)


def is_depth(entry: Mapping[str, Any]) -> bool:
    """Return whether an input is the image of a depth camera."""
    return entry["measured"].get("camera", {}).get("channels") == ["depth"]


def open_session(content: bytes, path: str | Path) -> Any:
    """Create an onnxruntime session with one thread, enough for a small network."""
    onnxruntime = importlib.import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    providers = ["CPUExecutionProvider"]
    try:
        return onnxruntime.InferenceSession(
            content, options, providers=providers, enable_fallback=0
        )
    except Exception as error:  # Its errors have no common base class.
        said = " ".join(str(error).split())
        raise ContractError(
            f"{path} is incomplete or not an ONNX file. Copy or export it again: {said}"
        ) from error


class FileGraph:
    """Runs an ONNX graph of a file, and stores the graph's state between calls."""

    def __init__(self, session: Any, about: Mapping[str, Any]) -> None:
        """Start from the initial state.

        Args:
            session: Session of onnxruntime.
            about: Inputs, states and outputs, as in the contract.
        """
        self.session, self.about = session, about
        self.state: Arrays = {}
        """State for the next call."""
        self.reset()

    def reset(self) -> None:
        """Set the initial state."""
        self.state = {s["name"]: first_value(s) for s in self.about["states"]}

    def __call__(self, measured: Mapping[str, Any]) -> Arrays:
        """Return the outputs by name, and store the state for the next call."""
        fed = checked(self.about["inputs"], measured)
        names = [o["name"] for o in self.about["outputs"]]
        nexts = [s["next"] for s in self.about["states"]]
        found = self.session.run(names + nexts, fed | self.state)
        kept = zip(self.state, found[len(names) :], strict=True)
        self.state = dict(kept)
        return dict(zip(names, found[: len(names)], strict=True))

    def another(self) -> "FileGraph":
        """Return the same graph with separate state."""
        return FileGraph(self.session, self.about)


class ContractPolicy(FileGraph):
    """Policy from an ONNX file: maps readings to targets once per control period."""

    def __init__(self, path: str | Path) -> None:
        """Load a file; raise `ContractError` if it is damaged or has no contract."""
        content = Path(path).read_bytes()
        if content.lstrip()[:1] == b"{":
            named = str(path).removesuffix(".json").removesuffix(".contract")
            raise ContractError(
                f"{path} is JSON, not ONNX: pass its ONNX file, such as "
                f"{named.removesuffix('.onnx')}.onnx"
            )
        try:
            has_checksum = is_whole(content)
        except ValueError as error:
            raise ContractError(f"{path} is damaged: {error}") from error
        session = open_session(content, path)
        if not has_checksum:
            raise ContractError(
                f"{path} has no checksum: it was not written by export. To check a "
                "policy of another project, run verify with --as FORMAT"
            )
        self._texts = session.get_modelmeta().custom_metadata_map
        self.contract: dict[str, Any] = json.loads(self._texts[CONTRACT])
        """The contract; `contract.schema.json` documents its keys."""
        if self.contract["format"] != FORMAT:
            raise ContractError(
                f"{path} has format {self.contract['format']}, but this runner "
                f"supports {FORMAT}: export the policy again, with --runner"
            )
        self.entity: dict[str, Any] = self.contract["entities"][self.contract["robot"]]
        """Robot entry of the contract."""
        self.dt: float = self.contract["rates"]["control_dt"]
        """Duration of a control period, in seconds."""
        self.controllers = {
            term["name"]: FileGraph(self._model(about["model"]), about)
            for term in self.contract["actions"]
            if (about := term.get("tracked_by")) is not None
        }
        """Muscle controllers by action term. They map targets and the state of the
        muscles to excitations, once per physics step."""
        world = self.contract.get("world")
        self.world = world and FileGraph(self._model(world["model"]), world)
        """World model, which computes inputs and commands from MuJoCo's data in
        simulation. None if the policy needs none."""
        super().__init__(session, self.contract)

    def reset(self) -> None:
        """Reset the policy, its muscle controllers and its world model."""
        super().reset()
        for graph in (*self.controllers.values(), self.world):
            if graph is not None:
                graph.reset()

    def constant_inputs(self, *, depth: bool = False) -> list[str]:
        """Return the inputs that a simulation of the file cannot compute.

        Colour images and height scans, for example. They keep their first recorded
        value.

        Args:
            depth: Whether the simulation renders depth images.
        """
        world = () if self.world is None else self.world.about["outputs"]
        computed = [entry["name"] for entry in world]
        return [
            entry["name"]
            for entry in self.contract["inputs"]
            if entry["measured"]["kind"] == "given"
            and entry["name"] not in computed
            and not (depth and is_depth(entry))
        ]

    def _model(self, key: str) -> Any:
        """Return the session of an ONNX model in the metadata."""
        return open_session(base64.b64decode(self._texts[key], validate=True), key)

    def clock(self, step: int) -> Arrays:
        """Return the `time_step` command of a control step; empty without clips.

        The clip frame advances by one per step, and stays at the clip's last frame.
        """
        if "motion" not in self.contract:
            return {}
        first = float(self.record()[f"command {CLOCK}"][0, 0])
        clips = self.contract["motion"]["clips"]
        lasts = [clip["first"] + clip["frames"] - 1 for clip in clips]
        last = next(row for row in lasts if row >= first)
        return {CLOCK: np.array([min(first + step, last)])}

    def scene(self) -> dict[str, bytes]:
        """Return the recorded scene: `scene.xml` and its assets."""
        lacks = self.contract["model"]["lacks"]
        if lacks is not None:
            raise ContractError(f"The file has no scene: {lacks}. Pass a robot model.")
        files = files_of(unpack(self._texts[SCENE]))
        if digest_of(files) != self.contract["model"]["sha256"]:
            raise ContractError("The scene does not match its hash in the contract.")
        return files

    def record(self) -> Arrays:
        """Return the recorded steps, as arrays of shape (steps, ...)."""
        content, place, arrays = unpack(self._texts[RECORD]), 0, {}
        for field in self.contract["record"]["fields"]:
            count = math.prod(field["shape"])
            dtype = np.dtype(field["dtype"]).newbyteorder("<")
            array = np.frombuffer(content, dtype, count, place)
            arrays[field["name"]] = array.reshape(field["shape"])
            place += array.nbytes
        return arrays
