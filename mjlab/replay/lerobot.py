"""Convert recordings to LeRobot datasets (version 3.0)."""

import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mjlab.extras import missing
from mjlab.files import folder_beside, move_durably, write_text
from mjlab.png import png
from mjlab.recording.reader import RecordedEpisode, Recording
from mjlab.replay.replay import ReplayError

LEROBOT_VERSION = "v3.0"

STATE = "observation.state"
"""LeRobot's feature name of the policy's observations without images."""

_FILE = "chunk-{chunk_index:03d}/file-{file_index:03d}"
_FIRST = _FILE.format(chunk_index=0, file_index=0)

Rows = dict[str, np.ndarray]
"""Steps of an episode by feature, each of shape (steps, ...)."""


class LeRobotFolder:
    """Dataset in LeRobot's format, written under a temporary name until complete.

        meta/info.json, meta/stats.json, meta/tasks.parquet
        meta/episodes/chunk-000/file-000.parquet    a row per episode
        data/chunk-000/file-000.parquet             a row per step

    A row has the observations before an action, the action and its result:

        observation.state       group "actor"
        observation.<group>     other groups; uint8 images with one or three channels
                                as PNG
        action, next.reward, next.done
        next.success            if the task declares success
    """

    def __init__(self, path: str | Path) -> None:
        """Set the folder of the dataset, which must not exist."""
        self.path = Path(path)
        """Folder of the dataset."""
        if self.path.exists():
            raise ReplayError(f"{path} already exists. Name a new folder.")
        self._arrow = _require("pyarrow")
        self._parquet = _require("pyarrow.parquet")
        self._features: dict[str, Any] = {}
        self._episodes: list[dict[str, Any]] = []
        self._steps = 0

    def write(self, recording: Recording) -> None:
        """Convert all episodes of a recording."""
        if not len(recording):
            raise ReplayError(f"{recording.path} has no episodes.")
        with folder_beside(self.path) as draft:
            self._write_steps(draft / "data" / f"{_FIRST}.parquet", recording)
            meta, task = draft / "meta", recording.env_id or "recorded"
            episodes = meta / "episodes" / f"{_FIRST}.parquet"
            episodes.parent.mkdir(parents=True)
            table = self._arrow.Table.from_pylist(self._episodes)
            self._parquet.write_table(table, episodes)
            self._write_task(meta / "tasks.parquet", task)
            contents = {"stats": self._all_stats(), "info": self._info(recording)}
            for name, content in contents.items():
                write_text(meta / f"{name}.json", json.dumps(content, indent=1) + "\n")
            move_durably(draft, self.path)

    def _write_steps(self, path: Path, recording: Recording) -> None:
        """Write the steps of all episodes, and collect their metadata."""
        path.parent.mkdir(parents=True)
        first = self._rows(recording[0], recording.step_dt)
        self._features = {name: _feature(value) for name, value in first.items()}
        with self._parquet.ParquetWriter(path, self._schema()) as writer:
            for episode in recording:
                rows = self._rows(episode, recording.step_dt)
                columns = {name: _column(value) for name, value in rows.items()}
                writer.write_table(
                    self._arrow.Table.from_pydict(columns, schema=self._schema())
                )
                self._note(rows, episode.length, recording.env_id or "recorded")

    def _note(self, rows: Rows, count: int, task: str) -> None:
        """Store the metadata and statistics of an episode."""
        start = self._steps
        self._steps += count
        stats = {name: _stats(value) for name, value in rows.items()}
        self._episodes.append(
            {
                "episode_index": len(self._episodes),
                "tasks": [task],
                "length": count,
                "dataset_from_index": start,
                "dataset_to_index": self._steps,
                "data/chunk_index": 0,
                "data/file_index": 0,
                "meta/episodes/chunk_index": 0,
                "meta/episodes/file_index": 0,
                **{
                    f"stats/{name}/{kind}": value
                    for name, kinds in stats.items()
                    for kind, value in kinds.items()
                },
            }
        )

    def _rows(self, episode: RecordedEpisode, step_dt: float) -> Rows:
        """Return the steps of an episode by LeRobot's feature names."""
        count, rows = episode.length, Rows()
        for name, value in episode.observations().items():
            place = f"observation.{name.replace('/', '.')}"
            rows[STATE if name == "actor" else place] = value[:count].numpy()
        steps = np.arange(count)
        rows["action"] = episode.actions().numpy()
        rows["next.reward"] = episode.read("rewards").numpy()
        ended = episode.read("terminated") | episode.read("truncated")
        rows["next.done"] = ended.numpy()
        if "success" in episode:
            rows["next.success"] = episode.read("success").numpy()
        return rows | {
            "timestamp": (steps * step_dt).astype(np.float32),
            "frame_index": steps,
            "episode_index": np.full(count, len(self._episodes)),
            "index": self._steps + steps,
            "task_index": np.zeros(count, dtype=np.int64),
        }

    def _schema(self) -> Any:
        types = {name: self._type(each) for name, each in self._features.items()}
        return self._arrow.schema(list(types.items()))

    def _type(self, feature: Mapping[str, Any]) -> Any:
        """Return the Arrow type of a feature: nested lists, or an encoded image."""
        arrow = self._arrow
        if feature["dtype"] == "image":
            return arrow.struct([("bytes", arrow.binary()), ("path", arrow.string())])
        kind = arrow.bool_() if feature["dtype"] == "bool" else feature["dtype"]
        kind = arrow.type_for_alias(kind) if isinstance(kind, str) else kind
        for _ in [] if feature["shape"] == [1] else feature["shape"]:
            kind = arrow.list_(kind)
        return kind

    def _write_task(self, path: Path, task: str) -> None:
        """Write the dataset's single task, in pandas' format with the text as index."""
        column = {
            "name": "task",
            "field_name": "task",
            "pandas_type": "unicode",
            "numpy_type": "object",
            "metadata": None,
        }
        number = dict(column, name="task_index", field_name="task_index")
        number |= {"pandas_type": "int64", "numpy_type": "int64"}
        pandas = {"index_columns": ["task"], "columns": [number, column]}
        pandas |= {"column_indexes": [], "pandas_version": "2.0.0"}
        table = self._arrow.Table.from_pydict({"task_index": [0], "task": [task]})
        table = table.replace_schema_metadata({"pandas": json.dumps(pandas)})
        self._parquet.write_table(table, path)

    def _info(self, recording: Recording) -> dict[str, Any]:
        return {
            "codebase_version": LEROBOT_VERSION,
            "robot_type": None,
            "total_episodes": len(self._episodes),
            "total_frames": self._steps,
            "total_tasks": 1,
            "chunks_size": 1000,
            "data_files_size_in_mb": 100,
            "video_files_size_in_mb": 200,
            "fps": round(1.0 / recording.step_dt),
            "splits": {"train": f"0:{len(self._episodes)}"},
            "data_path": f"data/{_FILE}.parquet",
            "video_path": None,
            "features": self._features,
        }

    def _all_stats(self) -> dict[str, Any]:
        return {name: self._merged(f"stats/{name}") for name in self._features}

    def _merged(self, prefix: str) -> dict[str, Any]:
        """Combine a feature's statistics per episode into statistics of all steps."""
        parts = {
            kind: np.array([episode[f"{prefix}/{kind}"] for episode in self._episodes])
            for kind in ("min", "max", "mean", "std", "count")
        }
        shape = (-1,) + (1,) * (parts["mean"].ndim - 1)
        share = parts["count"].reshape(shape) / parts["count"].sum()
        mean = (share * parts["mean"]).sum(axis=0)
        square = parts["std"] ** 2 + (parts["mean"] - mean) ** 2
        return {
            "min": parts["min"].min(axis=0).tolist(),
            "max": parts["max"].max(axis=0).tolist(),
            "mean": mean.tolist(),
            "std": np.sqrt((share * square).sum(axis=0)).tolist(),
            "count": [int(parts["count"].sum())],
        }


def _require(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(missing("A LeRobot dataset", "pyarrow", "lerobot")) from error


def _is_picture(rows: np.ndarray) -> bool:
    return rows.dtype == np.uint8 and rows.ndim == 4 and rows.shape[1] in (1, 3)


def _feature(rows: np.ndarray) -> dict[str, Any]:
    """Return the entry of a feature in `info.json`."""
    if _is_picture(rows):
        _, channels, height, width = rows.shape
        names = ["height", "width", "channels"]
        return {"dtype": "image", "shape": [height, width, channels], "names": names}
    shape = list(rows.shape[1:]) or [1]
    return {"dtype": str(rows.dtype), "shape": shape, "names": None}


def _column(rows: np.ndarray) -> list[Any]:
    if _is_picture(rows):
        return [{"bytes": png(image), "path": None} for image in rows]
    if rows.ndim == 2 and rows.shape[1] == 1:
        rows = rows[:, 0]
    return rows.tolist()


def _stats(rows: np.ndarray) -> dict[str, list[Any]]:
    """Return statistics of a feature; for images per channel, scaled to [0, 1]."""
    is_picture = _is_picture(rows)
    values = rows / 255.0 if is_picture else np.asarray(rows, dtype=np.float64)
    values = values if values.ndim > 1 else values[:, None]
    along: dict[str, Any] = {"axis": 0}
    if is_picture:
        along = {"axis": (0, 2, 3), "keepdims": True}
    found = {
        "min": values.min(**along),
        "max": values.max(**along),
        "mean": values.mean(**along),
        "std": values.std(**along),
    }
    plain = {k: (v[0] if is_picture else v).tolist() for k, v in found.items()}
    return {**plain, "count": [len(rows)]}
