"""`RecordEpisode`: a wrapper that records trajectories and videos."""

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import torch
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode

from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.provenance import describe
from mjlab.gym.record_video import VideoRecorder
from mjlab.gym.torch_env import TorchVectorEnv
from mjlab.gym.trajectories import Trajectories
from mjlab.gym.worlds import Info, ManagedWorlds, Tree
from mjlab.gym.wrappers import Stepped, TensorEnv, TensorWrapper, Wrapped
from mjlab.recording import RecordingCfg, RecordingError
from mjlab.recording.config import Export
from mjlab.recording.layout import Ending

_log = logging.getLogger(__name__)


class RecordEpisode(TensorWrapper):
    """Records episodes to `<output_dir>/<trajectory_name>.h5`, and renders videos.

    Observations are recorded as this wrapper returns them, and actions as it receives
    them. In every autoreset mode, an episode ends with its terminal observation and
    state.

    An episode is written when it terminates, times out or is reset; in the mode
    DISABLED only when it is reset. `reset(options={"save": False})` discards the
    episodes that it ends.
    """

    def __init__(
        self,
        env: Wrapped,
        output_dir: str | Path,
        *,
        save_trajectory: bool = True,
        trajectory_name: str | None = None,
        save_video: bool = True,
        video_fps: float = 30.0,
        info_on_video: bool = False,
        save_on_reset: bool = True,
        save_video_trigger: Callable[[int], bool] | None = None,
        max_steps_per_video: int | None = None,
        clean_on_close: bool = True,
        record_reward: bool = True,
        record_env_state: bool = True,
        record_physics: bool = True,
        avoid_overwriting_video: bool = False,
        source_type: str | None = None,
        source_desc: str | None = None,
        export: Export = "all",
        env_id: str | None = None,
        env_kwargs: Mapping[str, Any] | None = None,
        env_cfg: str | None = None,
    ) -> None:
        """Start recording.

        Args:
            env: The environment.
            output_dir: Folder of the files, created if missing.
            save_trajectory: Whether to write trajectories.
            trajectory_name: Name of the trajectory file, without suffix. None uses the
                date and the time.
            save_video: Whether to write videos of all worlds.
            video_fps: Frames per second of a video.
            info_on_video: Whether to write reward and infos over each frame.
            save_on_reset: Whether to write an episode when it ends. If False, call
                `flush_trajectory` to write it, before the next episode of its world
                ends.
            save_video_trigger: Function that takes the number of steps so far, and
                returns True to render the next step. None renders all steps.
            max_steps_per_video: Number of steps of a video. Required for several
                worlds, because their episodes end at different times.
            clean_on_close: Whether `close` omits trajectories without steps, and
                renumbers the others.
            record_reward: Whether to record rewards.
            record_env_state: Whether to record the states of entities.
            record_physics: Whether to record the engine's state, for exact replay.
            avoid_overwriting_video: Whether to keep existing videos.
            source_type: Source of the actions, such as "rl" or "human", stored in the
                file.
            source_desc: Description of the source, stored in the file.
            export: Episodes to write; see `RecordingCfg`.
            env_id: Task id to store. None uses the id in the environment's `spec`.
            env_kwargs: Arguments of the environment to store. None uses the arguments
                in its `spec`.
            env_cfg: Task and settings as text (`task_text`). None generates it, if the
                task is known.
        """
        super().__init__(env)
        env = self.env  # The base class has removed a `TimeLimit`.
        self.output_dir = Path(output_dir)
        """Folder of the files."""
        self._saves_on_reset = save_on_reset
        self._observations: Tree | None = None
        self._ended = self.no_rows()
        base = _managed(env)
        self._trajectories: Trajectories | None = None
        self._videos: VideoRecorder | None = None
        if save_video:
            if self.num_envs > 1 and max_steps_per_video is None:
                raise ValueError(
                    f"Episodes of {self.num_envs} worlds end at different times: set "
                    "max_steps_per_video to the length of a video. To record only "
                    "trajectories, set save_video=False."
                )
            self._videos = VideoRecorder(
                _drawable(base),
                self.output_dir,
                fps=video_fps,
                shows_info=info_on_video,
                trigger=save_video_trigger,
                max_steps=max_steps_per_video,
                avoids_overwriting=avoid_overwriting_video,
            )
        if save_trajectory and export != "none":
            spec = env.unwrapped.spec
            origin = describe(
                base,
                env_id=env_id or (None if spec is None else spec.id),
                env_kwargs={
                    "num_envs": self.num_envs,
                    **(_settings(spec) if env_kwargs is None else env_kwargs),
                },
                env_cfg=env_cfg,
            )
            self._trajectories = Trajectories(
                cast(TensorEnv, env),
                base,
                RecordingCfg(
                    folder=str(output_dir),
                    name=trajectory_name,
                    overwrite=True,
                    export=export,
                ),
                reward=record_reward,
                env_state=record_env_state,
                physics=record_physics,
                attributes=origin.attributes,
                about={
                    "env_info": origin.env_info,
                    "source_type": source_type,
                    "source_desc": source_desc,
                },
                clean=clean_on_close,
            )

    @property
    def files(self) -> list[Path]:
        """Paths of the trajectory files."""
        if self._trajectories is None:
            return []
        return list(self._trajectories.recorder.files.values())

    @property
    def totals(self) -> dict[str, int]:
        """Numbers of episodes, available after closing; see `Recorder.totals`."""
        if self._trajectories is None:
            return {}
        return self._trajectories.recorder.totals

    def use_autoreset(
        self,
        mode: AutoresetMode | str,
        *,
        ignore_terminations: bool = False,
        goes_on: bool = False,
    ) -> None:
        """Set the autoreset mode; see `TorchVectorEnv`."""
        super().use_autoreset(
            mode, ignore_terminations=ignore_terminations, goes_on=goes_on
        )
        self._ended = self.no_rows()

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Tree, Info]:
        """Start new episodes.

        Args:
            seed: Seeds of the worlds; see `TorchVectorEnv.reset`.
            options: Options of `TorchVectorEnv.reset`, and "save": whether to write the
                episodes that the reset ends.
        """
        given = dict(options or {})
        is_saved = bool(given.pop("save", True))
        rows = self.rows_of(given)
        observations, info = self.env.reset(seed=seed, options=given or None)
        self._ended = self._ended & ~rows
        self._observations = observations
        if self._trajectories is not None:
            ending = self._ending if is_saved else Ending.DROPPED
            self._trajectories.turn(rows, ending, observations)
        if self._videos is not None and self.num_envs == 1 and self._saves_on_reset:
            self._videos.flush(save=is_saved)
        return observations, info

    def step(self, actions: Any) -> Stepped:
        """Step all worlds."""
        if self._videos is not None:
            self._videos.before_step()
        result = self.env.step(actions)
        observations, reward, terminated, truncated, info = result
        ended = terminated | truncated
        waiting = self._ended
        if self.autoreset_mode is not AutoresetMode.NEXT_STEP:
            waiting = self.no_rows()
        if self._trajectories is not None:
            self._trajectories.step(actions, result, waiting, self._ending)
        if self._videos is not None:
            self._film(reward, ended, info)
        self._ended = ended
        self._observations = observations
        return result

    def flush_trajectory(
        self,
        *,
        verbose: bool = False,
        ignore_empty_transition: bool = True,
        env_idxs_to_flush: Sequence[int] | None = None,
        save: bool = True,
    ) -> None:
        """Write or discard the held episodes, or else the current episodes.

        With `save_on_reset=False`, the last finished episode of each world is held. In
        a world without a held episode, the current episode ends here; its remaining
        steps become another trajectory.

        Args:
            verbose: Whether to log the path of the file.
            ignore_empty_transition: Whether to omit trajectories without steps.
            env_idxs_to_flush: Indices of the worlds. None means all.
            save: Whether to write. If False, the episodes are discarded.
        """
        if self._trajectories is None or self._observations is None:
            return
        options = None if env_idxs_to_flush is None else {"env_idx": env_idxs_to_flush}
        ending = Ending.REQUESTED if save else Ending.DISCARDED
        if save and not ignore_empty_transition:
            ending = Ending.REQUESTED_EMPTY
        self._trajectories.turn(self.rows_of(options), ending, self._observations)
        if verbose:
            _log.info("Trajectories go to %s.", ", ".join(map(str, self.files)))

    def flush_video(
        self,
        name: str | None = None,
        suffix: str = "",
        *,
        verbose: bool = False,
        ignore_empty_transition: bool = True,
        save: bool = True,
    ) -> Path | None:
        """Finish the current video, and start another with the next step.

        Args:
            name: Name of the video without suffix. None uses the next number.
            suffix: Appended to the number, after an underscore.
            verbose: Whether to log the path of the file.
            ignore_empty_transition: Whether to omit a video of a single frame.
            save: Whether to keep the video.

        Returns:
            Path of the video, or None if no video was written.
        """
        if self._videos is None:
            return None
        path = self._videos.flush(
            name, suffix, ignore_empty=ignore_empty_transition, save=save
        )
        if verbose and path is not None:
            _log.info("The video is in %s.", path)
        return path

    def close(self, **kwargs: Any) -> None:
        """Finish all files, and close the environment. Can be called twice."""
        videos, self._videos = self._videos, None
        if videos is not None:
            videos.close()
        if self._trajectories is not None:
            self._trajectories.close(keep=self._saves_on_reset)
        super().close(**kwargs)

    @property
    def _ending(self) -> Ending:
        return Ending.WRITTEN if self._saves_on_reset else Ending.HELD

    def _film(self, reward: torch.Tensor, ended: torch.Tensor, info: Info) -> None:
        assert self._videos is not None, "Only called with videos."
        figures = {"reward": reward} | {
            name: value
            for name, value in info.items()
            if isinstance(value, torch.Tensor)
            and value.ndim == 1
            and not name.startswith("_")
        }
        # In SAME_STEP, a finished world already shows its next episode: do not draw it.
        begins = self.autoreset_mode is AutoresetMode.SAME_STEP and self.num_envs == 1
        is_over = begins and bool(ended.any())
        self._videos.after_step(figures, draws=not is_over)
        if is_over and self._saves_on_reset:
            self._videos.flush()


def _managed(env: Wrapped) -> ManagerBasedRlEnv | None:
    """Return the manager-based environment below all wrappers, if there is one."""
    base = env.unwrapped
    assert isinstance(base, TorchVectorEnv), "The innermost environment."
    worlds = base.worlds
    if not isinstance(worlds, ManagedWorlds):
        return None
    worlds.hold("RecordEpisode")
    return worlds.env


def _drawable(base: ManagerBasedRlEnv | None) -> ManagerBasedRlEnv:
    if base is None:
        raise RecordingError(
            "These worlds cannot be rendered: pass save_video=False to record only "
            "trajectories."
        )
    return base


def _settings(spec: EnvSpec | None) -> dict[str, Any]:
    """Return the arguments in a spec that can be written as JSON."""
    given = {} if spec is None else spec.kwargs
    kinds = (bool, int, float, str, list, tuple)
    return {k: v for k, v in given.items() if v is None or isinstance(v, kinds)}
