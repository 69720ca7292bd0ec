"""Legged robots written by hand: a biped with point feet, and a hexapod."""

HEAD = '<mujoco model="{name}"><compiler angle="radian" autolimits="true"/><worldbody>'
END = "</worldbody>{motors}</mujoco>"

JOINT = '<joint name="{name}" axis="{axis}" range="{low} {high}" armature="0.01"/>'


def joint(name: str, axis: str, low: float, high: float) -> str:
    return JOINT.format(name=name, axis=axis, low=low, high=high)


def motors(names: list[str], limit: float) -> str:
    each = "".join(
        f'<motor joint="{name}" ctrllimited="true" ctrlrange="-{limit} {limit}"/>'
        for name in names
    )
    return f"<actuator>{each}</actuator>"


def point_biped() -> str:
    """Biped with three joints per leg and spherical feet; the knees point forward."""
    legs, names = "", []
    for side, y in (("left", 0.1), ("right", -0.1)):
        axes = {"hip_roll": ("1 0 0", -0.5, 0.5), "hip_pitch": ("0 1 0", -1.5, 1.5)}
        hips = "".join(joint(f"{side}_{n}", *a) for n, a in axes.items())
        knee = joint(f"{side}_knee", "0 1 0", 0.0, 2.3)
        names += [f"{side}_{n}" for n in ("hip_roll", "hip_pitch", "knee")]
        legs += f"""
        <body name="{side}_thigh" pos="0 {y} 0">{hips}
          <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03" mass="1"/>
          <body name="{side}_shank" pos="0 0 -0.3">{knee}
            <geom type="capsule" fromto="0 0 0 0 0 -0.28" size="0.02" mass="0.5"/>
            <geom name="{side}_toe" type="sphere" pos="0 0 -0.3" size="0.03"
              mass="0.1"/>
          </body>
        </body>"""
    base = '<body name="pelvis" pos="0 0 0.65"><freejoint name="root"/>'
    base += '<geom type="box" size="0.06 0.1 0.1" pos="0 0 0.1" mass="6"/>'
    text = HEAD.format(name="point") + base + legs + "</body>"
    return text + END.format(motors=motors(names, 40))


def hexapod() -> str:
    """Coxa, femur and tibia on six legs; the zero pose has horizontal femurs."""
    legs, names = "", []
    rows = {"f": 0.15, "m": 0.0, "r": -0.15}
    for side, sign in (("l", 1), ("r", -1)):
        for row, x in rows.items():
            leg = f"{side}{row}"
            coxa = joint(f"{leg}_coxa", "0 0 1", -0.6, 0.6)
            femur = joint(f"{leg}_femur", f"{sign} 0 0", -1.4, 1.4)
            tibia = joint(f"{leg}_tibia", f"{sign} 0 0", -0.9, 1.4)
            names += [f"{leg}_{part}" for part in ("coxa", "femur", "tibia")]
            out, far = 0.05 * sign, 0.1 * sign
            legs += f"""
            <body name="{leg}_hip" pos="{x} {0.08 * sign} 0">{coxa}
              <geom type="capsule" fromto="0 0 0 0 {out} 0" size="0.015" mass="0.1"/>
              <body name="{leg}_thigh" pos="0 {out} 0">{femur}
                <geom type="capsule" fromto="0 0 0 0 {far} 0" size="0.012" mass="0.1"/>
                <body name="{leg}_foot" pos="0 {far} 0">{tibia}
                  <geom type="capsule" fromto="0 0 0 0 0 -0.15" size="0.01" mass="0.1"/>
                  <geom name="{leg}_tip" type="sphere" pos="0 0 -0.16" size="0.012"
                    mass="0.02"/>
                </body>
              </body>
            </body>"""
    base = '<body name="trunk" pos="0 0 0.2"><freejoint name="root"/>'
    base += '<geom type="box" size="0.2 0.08 0.03" mass="2"/>'
    text = HEAD.format(name="hexapod") + base + legs + "</body>"
    return text + END.format(motors=motors(names, 6))
