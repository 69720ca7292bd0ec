"""Every shape that a camera can render, for comparison of renderers."""

import mujoco
import numpy as np

XML = """
<mujoco>
  <statistic extent="2"/>
  <visual>
    <quality numslices="512" numstacks="512" offsamples="0"/>
    <map znear="0.005" zfar="40"/>
    <headlight ambient=".2 .2 .2" diffuse=".3 .3 .3" specular="0 0 0"/>
  </visual>
  <asset>
    <material name="matt" rgba=".8 .3 .2 1" specular="0" emission=".1"/>
    <hfield name="hills" nrow="5" ncol="9" size=".5 .4 .2 .1"/>
    <mesh name="wedge" vertex="-.15 -.15 -.1 .2 -.15 -.1 .2 .15 -.1 -.15 .15 -.1
      0 0 .25 .05 .02 -.05" face="0 1 4  1 2 4  2 3 4  3 0 4  1 0 5  2 1 5  3 2 5
      0 3 5"/>
  </asset>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <light pos="1 1 3" dir="-.3 -.3 -1" diffuse=".4 .4 .4" ambient=".1 .1 .1"
      specular="0 0 0" cutoff="70" exponent="2" attenuation="1 .1 .05"/>
    <light type="directional" dir=".2 0 -1" diffuse=".2 .3 .2" specular="0 0 0"/>
    <geom name="floor" type="plane" size="0 0 1" rgba=".3 .5 .7 1"/>
    <geom name="tile" type="plane" size=".4 .3 1" pos=".9 -.8 .3" euler="20 10 0"
      rgba=".7 .7 .2 1"/>
    <geom name="hills" type="hfield" hfield="hills" pos="-.9 .8 .12" rgba=".3 .7 .3 1"/>
    <camera name="corner" pos="-2.2 -1.6 1.7" xyaxes=".6 -.8 0 .4 .3 .87" fovy="50"/>
    <camera name="lens" pos="2 1.8 1.5" xyaxes="-.67 .74 0 -.37 -.33 .87"
      resolution="48 32" sensorsize=".006 .004" focal=".004 .0045"
      principal=".0004 -.0002"/>
    <body name="ball" pos="0 0 .5"><freejoint/>
      <geom name="ball" type="sphere" size=".2" material="matt"/></body>
    <body name="box" pos=".6 .5 .5"><freejoint/>
      <geom name="box" type="box" size=".2 .1 .25" rgba=".9 .2 .2 1"/></body>
    <body name="pill" pos="-.5 -.3 .5"><freejoint/>
      <geom name="pill" type="capsule" size=".1 .2" rgba=".2 .2 .9 1"/></body>
    <body name="tin" pos=".4 -.4 .6"><freejoint/>
      <geom name="tin" type="cylinder" size=".15 .1" rgba=".2 .8 .8 1"/></body>
    <body name="egg" pos="-.2 .7 .5"><freejoint/>
      <geom name="egg" type="ellipsoid" size=".2 .1 .15" rgba=".8 .8 .8 1"/></body>
    <body name="wedge" pos="-.9 -.1 .6"><freejoint/>
      <geom name="wedge" type="mesh" mesh="wedge" pos=".05 0 0" euler="0 30 0"
        rgba=".6 .3 .8 1"/></body>
  </worldbody>
</mujoco>
"""


def shapes_model() -> mujoco.MjModel:
    """Return the model, with hills in its height field."""
    model = mujoco.MjModel.from_xml_string(XML)
    heights = np.random.default_rng(0).random(model.hfield_data.size)
    model.hfield_data[:] = heights
    return model


def strewn(model: mujoco.MjModel, count: int) -> np.ndarray:
    """Return positions of all joints for some worlds, bodies turned at random."""
    rng = np.random.default_rng(1)
    poses = np.tile(model.qpos0, (count, 1)).reshape(count, -1, 7)
    poses[..., :3] += rng.uniform(-0.15, 0.15, (*poses.shape[:2], 3))
    poses[..., 3:] = rng.normal(size=(*poses.shape[:2], 4))
    poses[..., 3:] /= np.linalg.norm(poses[..., 3:], axis=-1, keepdims=True)
    return poses.reshape(count, -1)
