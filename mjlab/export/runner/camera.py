"""Depth images in simulation, by MuJoCo's rays."""

import importlib
from typing import Any

import numpy as np


class DepthCamera:
    """Depth camera of the contract, with one ray through the centre of each pixel."""

    def __init__(self, robot: Any, entry: dict[str, Any]) -> None:
        """Look up the camera's body.

        Args:
            robot: A `MujocoRobot`.
            entry: The contract entry of the input.
        """
        self._mj, self._robot = importlib.import_module("mujoco"), robot
        how = self._how = entry["measured"]["camera"]
        self._shape, self._dtype = entry["shape"], entry["dtype"]
        self._body = robot.find("body", how["body"])
        turn = np.zeros(9)
        self._mj.mju_quat2Mat(turn, np.array(how["quat"]))
        (width, height), (focal_x, focal_y) = how["size"], how["focal"]
        x = (np.arange(width) + 0.5 - how["center"][0]) / focal_x
        y = (np.arange(height) + 0.5 - how["center"][1]) / focal_y
        across, up = np.meshgrid(x, -y)
        # The depth is the length of a ray whose part along the optical axis is 1.
        rays = np.stack((across, up, -np.ones_like(up)), axis=-1).reshape(-1, 3)
        self._rays = rays @ turn.reshape(3, 3).T
        self._groups = np.zeros(6, dtype=np.uint8)
        self._groups[how.get("geom_groups", [0, 1, 2])] = 1

    def image(self) -> np.ndarray:
        """Return the current image, as the policy observes it."""
        model, data = self._robot.model, self._robot.data
        turn = data.xmat[self._body].reshape(3, 3)
        near, far = self._how["clip"]
        count = len(self._rays)
        depth, geoms = np.zeros(count), np.zeros(count, dtype=np.int32)
        more = {}
        if "normal:" in self._mj.mj_multiRay.__doc__:  # Since MuJoCo 3.5.
            more["normal"] = None
        self._mj.mj_multiRay(
            m=model,
            d=data,
            pnt=data.xpos[self._body] + turn @ np.array(self._how["pos"]),
            vec=(self._rays @ turn.T).ravel(),
            geomgroup=self._groups,
            flg_static=1,
            bodyexclude=-1,
            geomid=geoms,
            dist=depth,
            nray=count,
            cutoff=self._mj.mjMAXVAL,
            **more,
        )
        depth = np.where(depth < 0.0, far, np.clip(depth, near, far))
        image = self._how["full"] * depth / far
        if self._dtype == "uint8":
            image = np.round(image)
        return image.astype(self._dtype).reshape(self._shape)
