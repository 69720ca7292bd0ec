"""Recording of worlds: trajectories and videos."""

import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode

from mjlab.envs import ManagerBasedRlEnv
from mjlab.envs.provenance import describe
from mjlab.gym.record_video import VideoRecorder
from mjlab.gym.torch_env import TorchVectorEnv
from mjlab.gym.worlds import Info, ManagedWorlds, Tree
from mjlab.gym.wrappers import Stepped, TensorEnv, TensorWrapper
from mjlab.recording import RecordingCfg, RecordingError
from mjlab.recording.config import Export
from mjlab.recording.layout import Ending
from mjlab.replay.trajectories import Trajectories

_log = logging.getLogger(__name__)


class RecordEpisode(TensorWrapper):
    """Writes episodes to `<output_dir>/<trajectory_name>.h5`, and draws videos.

    It records as it sees: observations after the wrappers inside
    of it, actions as it is given them. The last observation and state of an episode are
    those before the reset, in every mode.

    An episode is written when it ends by itself, or is reset; in the mode DISABLED only
    when it is reset. `reset(options={"save": False})` drops the episodes that it ends.
    """

    def __init__(
        self,
        env: TensorEnv,
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
        """Begin to record.

        Args:
            env: The environment.
            output_dir: Folder of the files. It is made if it is not there.
            save_trajectory: Whether trajectories are written.
            trajectory_name: Name of their files, without suffix. None takes the date
                and the time.
            save_video: Whether videos of all worlds are written.
            video_fps: Frames in a second of a video.
            info_on_video: Whether reward and infos are written over each picture.
            save_on_reset: Whether an episode that ends is written. If not, it waits for
                `flush_trajectory` until the next one of its row ends.
            save_video_trigger: Says by the number of steps so far whether the next step
                is drawn. None draws all.
            max_steps_per_video: Steps of a video. There has to be a number where there
                are several rows, since their episodes end at different times.
            clean_on_close: Whether, in the end, trajectories without steps are left out
                and the others numbered anew.
            record_reward: Whether rewards are recorded.
            record_env_state: Whether the states of entities are recorded.
            record_physics: Whether the engine's own state is, for exact replay.
            avoid_overwriting_video: Whether videos that are there are kept.
            source_type: Source of the actions, such as "rl" or "human".
            source_desc: More about it.
            export: Episodes that are written; see `RecordingCfg`.
            env_id: The task's id. None takes that of the environment's `spec`.
            env_kwargs: Settings that it was made with. None takes those of the `spec`.
            env_cfg: Its task and settings as text (`task_text`). None writes them, if
                the task is known.
        """
        super().__init__(env)
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
                    f"There are {self.num_envs} rows, whose episodes end at different "
                    "times: max_steps_per_video has to say where a video ends. "
                    "save_video=False records trajectories alone."
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
                env,
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
        """The files of trajectories."""
        if self._trajectories is None:
            return []
        return list(self._trajectories.recorder.files.values())

    @property
    def totals(self) -> dict[str, int]:
        """Fates of the episodes, known once this is closed.

        "episodes" were written, "lost" found no room, and "unasked" were over with
        `save_on_reset=False` without being asked for.
        """
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
        """Choose anew when rows that end begin anew; see `TorchVectorEnv`."""
        super().use_autoreset(
            mode, ignore_terminations=ignore_terminations, goes_on=goes_on
        )
        self._ended = self.no_rows()

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Tree, Info]:
        """Begin new episodes.

        Args:
            seed: Seeds of the rows; see `TorchVectorEnv.reset`.
            options: Those of `TorchVectorEnv.reset`, and "save": whether the episodes
                that are ended by this are written.
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
        """Step all rows."""
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
        """Write episodes now: those that wait, or the present ones as far as they got.

        What follows of a present episode is a trajectory of its own.

        Args:
            verbose: Whether this is logged.
            ignore_empty_transition: Whether trajectories without steps are left out.
            env_idxs_to_flush: The rows. None means all.
            save: Whether they are written. If not, the present ones are dropped.
        """
        if self._trajectories is None or self._observations is None:
            return
        options = None if env_idxs_to_flush is None else {"env_idx": env_idxs_to_flush}
        ending = Ending.REQUESTED if save else Ending.DROPPED
        if save and not ignore_empty_transition:
            ending = Ending.WRITTEN_EMPTY
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
        """Finish the present video, and begin another with the next step.

        Args:
            name: Its name without suffix. None takes the next number.
            suffix: What is added to the number.
            verbose: Whether this is logged.
            ignore_empty_transition: Whether a video of a single frame is left out.
            save: Whether it is kept.

        Returns:
            The file, if there is one.
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
        """Finish all files, and close the environment. Closing twice is harmless."""
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
        assert self._videos is not None, "Only called where there are videos."
        figures = {"reward": reward} | {
            name: value
            for name, value in info.items()
            if isinstance(value, torch.Tensor)
            and value.ndim == 1
            and not name.startswith("_")
        }
        # A single row that begins anew within the step shows the next episode already.
        begins = self.autoreset_mode is AutoresetMode.SAME_STEP and self.num_envs == 1
        is_over = begins and bool(ended.any())
        self._videos.after_step(figures, draws=not is_over)
        if is_over and self._saves_on_reset:
            self._videos.flush()


def _managed(env: TensorEnv) -> ManagerBasedRlEnv | None:
    """Return the environment of managers below all wrappers, if there is one."""
    base = env.unwrapped
    assert isinstance(base, TorchVectorEnv), "Below all wrappers is such a form."
    worlds = base.worlds
    if not isinstance(worlds, ManagedWorlds):
        return None
    worlds.hold("RecordEpisode")
    return worlds.env


def _drawable(base: ManagerBasedRlEnv | None) -> ManagerBasedRlEnv:
    if base is None:
        raise RecordingError(
            "These worlds cannot be drawn: pass save_video=False to record "
            "trajectories alone."
        )
    return base


def _settings(spec: EnvSpec | None) -> dict[str, Any]:
    """Return the settings of an environment that a sidecar can hold."""
    given = {} if spec is None else spec.kwargs
    kinds = (bool, int, float, str, list, tuple)
    return {k: v for k, v in given.items() if v is None or isinstance(v, kinds)}
