"""Vision-based picking of one of three cubes, marked by a segmentation mask."""

import math
from collections.abc import Sequence

import torch

from mjlab import views
from mjlab.managers import EventTermCfg, ManagerTermBase
from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import TermCfg, TermError
from mjlab.mdp.randomize.distributions import Range
from mjlab.mdp.randomize.fields import FieldPart, ModelTerm
from mjlab.scene import SceneCfg, SceneEntityCfg
from mjlab.tasks.manipulation import scene as table
from mjlab.tasks.manipulation.lift import tip_friction
from mjlab.tasks.manipulation.lift_depth import (
    BY_WRIST,
    FARTHEST,
    wrist_observations,
)
from mjlab.tasks.manipulation.lift_taught import LiftYamTaughtCfg
from mjlab.tasks.manipulation.mdp import put_at_rest
from mjlab.tasks.manipulation.objects import OBJECT_HALF, thing_cfg
from mjlab.tasks.manipulation.reach import reset_robot
from mjlab.tasks.manipulation.scene import OBJECT
from mjlab.tasks.manipulation.sight import depth, eye, mask, wrist_variety
from mjlab.tensors.math import quat_from_axis_angle

CUBES = (OBJECT, "second", "third")
"""Names of the cubes; the first is the target."""

COLORS = ((0.85, 0.2, 0.15), (0.2, 0.65, 0.25), (0.16, 0.42, 0.78))
"""Red, green and blue, assigned to the cubes in a random order per world."""


class place_in_lanes(ManagerTermBase):
    """Places objects at rest on the table, in separate lanes, in random order.

    Positions therefore do not identify objects, and no object blocks another.
    """

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        seen = views.of(env.scene)
        self._objects = [seen.view(name) for name in cfg.params["object_names"]]
        self._up = torch.tensor([0.0, 0.0, 1.0], device=env.device)
        if not 0.0 <= cfg.params["gap"] < self._lane(cfg.params["y"]):
            raise TermError(
                f"place_in_lanes: gap is {cfg.params['gap']}; it has to be at least 0 "
                f"and below the width of a lane, {self._lane(cfg.params['y']):g}."
            )

    def _lane(self, y: Range) -> float:
        return (y[1] - y[0]) / len(self._objects)

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        object_names: Sequence[str],
        x: Range,
        y: Range,
        height: float,
        gap: float,
        stream: str = "event",
    ) -> None:
        """Sample lanes and poses and write them in the worlds in `mask`.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            object_names: The entities.
            x: Range relative to the world's spawn origin, in m.
            y: Range that is divided into lanes, in m.
            height: Height of all objects, in m.
            gap: Width of the free space between lanes, in m.
            stream: Name of the random stream; the event manager sets one.
        """
        unit = env.rng.draw(stream, (len(self._objects), 4))
        lanes, lane = unit[..., 3].argsort(dim=1), self._lane(y)
        # Random offset from the centre of a lane; the gap stays free.
        aside = (unit[..., 1] - 0.5) * (lane - gap)
        position = torch.stack(
            (
                x[0] + (x[1] - x[0]) * unit[..., 0],
                y[0] + lane * (lanes + 0.5) + aside,
                torch.full_like(aside, height),
            ),
            dim=-1,
        )
        position = position + env.scene.spawn_origins.unsqueeze(1)
        turn = quat_from_axis_angle(self._up, 2.0 * math.pi * unit[..., 2])
        pose = torch.cat((position, turn), dim=-1)
        for index, thing in enumerate(self._objects):
            put_at_rest(thing, mask, pose[:, index])


class hues(ModelTerm, field="geom_rgba"):
    """Assigns a set of colours to objects, in random order per world."""

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        names, colors = cfg.params["object_names"], cfg.params["colors"]
        if len(names) != len(colors):
            raise TermError(
                f"hues: {len(names)} objects and {len(colors)} colors; the numbers "
                "have to be equal."
            )
        shapes = [SceneEntityCfg(name, geom_names=("shape",)) for name in names]
        rows = [
            shape.resolve(env.scene).global_ids("geom").tolist() for shape in shapes
        ]
        repeated = [row for (row,) in rows for _ in range(3)]
        axes = list(range(3)) * len(names)
        self._part = FieldPart(env.sim, self.field, repeated, axes)
        self._colors = torch.tensor(colors, device=env.device)

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        object_names: Sequence[str],
        colors: Sequence[tuple[float, float, float]],
        stream: str = "event",
    ) -> None:
        """Sample permutations and write them in the worlds in `mask`.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            object_names: The entities, each with a geom called "shape".
            colors: Red, green and blue, 0 to 1, one colour per object.
            stream: Name of the random stream; the event manager sets one.
        """
        order = env.rng.draw(stream, (len(self._colors),)).argsort(dim=1)
        self._part.write(mask, self._colors[order].flatten(1))


def pick_scene() -> SceneCfg:
    """Return the table with three cubes, and the wrist camera."""
    scene = table.scene({name: thing_cfg("cube") for name in CUBES})
    sensor = eye("depth", "segmentation", farthest=FARTHEST, camera=BY_WRIST)
    scene.sensors = (sensor,)
    return scene


def pick_events() -> dict[str, EventTermCfg | None]:
    """Return the robot reset, and random lanes, colours, tip friction and camera."""
    cubes = {"object_names": CUBES}
    lanes = {"x": (0.2, 0.4), "y": (-0.24, 0.24), "height": OBJECT_HALF + 0.005}
    return {
        "reset_robot": reset_robot(),
        "place_cubes": EventTermCfg(
            func=place_in_lanes,
            mode="reset",
            params={**cubes, **lanes, "gap": 0.09},
        ),
        "hues": EventTermCfg(
            func=hues, mode="startup", params={**cubes, "colors": COLORS}
        ),
        **tip_friction(),
        **wrist_variety(),
    }


class LiftYamPickCfg(LiftYamTaughtCfg):
    """Lift one of three cubes from depth and mask images of the wrist camera."""

    scene = pick_scene()
    observations = wrist_observations(depth=depth(FARTHEST), target=mask(OBJECT))
    events = pick_events()
