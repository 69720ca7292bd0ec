"""Edits of MjSpec, compared with models compiled by MuJoCo."""

import subprocess
import sys
import zipfile
from collections.abc import Sequence
from pathlib import Path

import mujoco
import numpy as np
import pytest

from mjlab.cli.answers import run_program
from mjlab.names import AmbiguousNameError, UnknownNameError
from mjlab.spec import (
    CameraCfg,
    CollisionCfg,
    GeomCfg,
    LightCfg,
    MaterialCfg,
    MeshCfg,
    MissingAssetError,
    TextureCfg,
    add_keyframe,
    apply_edits,
    asset_files,
    attach_spec,
    default_keyframe,
    load_spec,
    merge_keyframes,
    take_keyframes,
    write_spec,
)
from mjlab.spec.compare import _touching

LEG = """
<mujoco model="leg">
  <compiler angle="radian" meshdir="parts"/>
  <asset><mesh name="shell" file="shell.obj"/></asset>
  <worldbody>
    <body name="base" pos="0 0 1">
      <freejoint name="root"/>
      <geom name="base_shell" type="mesh" mesh="shell"/>
      <body name="foot" pos="0 0 -1">
        <joint name="ankle" range="-1 1"/>
        <geom name="foot_left" size=".1" friction=".7 .02 .003"/>
        <geom name="foot_right" size=".1"/>
        <geom size=".05"/>
      </body>
    </body>
  </worldbody>
  <actuator><position name="ankle" joint="ankle"/></actuator>
  <keyframe>
    <key name="home" qpos="0 0 2 1 0 0 0 .5" ctrl=".5"/>
    <key name="low" qpos="0 0 1 1 0 0 0 -.5"/>
  </keyframe>
</mujoco>
"""


def write_leg(folder, scale=1.0):
    (folder / "parts").mkdir(parents=True)
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    lines = [f"v {x * scale} {y * scale} {z * scale}" for x, y, z in corners]
    lines += ["f 1 3 2", "f 1 2 4", "f 1 4 3", "f 2 3 4"]
    (folder / "parts" / "shell.obj").write_text("\n".join(lines))
    (folder / "leg.xml").write_text(LEG)
    return folder / "leg.xml"


@pytest.fixture
def leg(tmp_path):
    return write_leg(tmp_path / "leg")


def edited(leg, *edits):
    spec = load_spec(leg)
    apply_edits(spec, edits)
    return spec.compile()


# Loading.


def test_a_file_a_spec_and_a_factory_load_the_same_model(leg):
    path = str(leg)
    specs = [
        load_spec(leg),
        load_spec(path),
        load_spec(mujoco.MjSpec.from_file(path)),
        load_spec(lambda: mujoco.MjSpec.from_file(path)),
    ]
    masses = [spec.compile().body_mass.tolist() for spec in specs]
    assert masses == [mujoco.MjModel.from_xml_path(path).body_mass.tolist()] * 4


def test_editing_a_loaded_spec_does_not_change_the_given_one(leg):
    given = mujoco.MjSpec.from_file(str(leg))
    load_spec(given).geom("foot_left").contype = 5
    assert given.geom("foot_left").contype == 1


def test_a_urdf_file_loads(tmp_path):
    (tmp_path / "box.urdf").write_text(
        '<robot name="box"><link name="box"><inertial><mass value="2"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        "</link></robot>"
    )
    assert load_spec(tmp_path / "box.urdf").modelname == "box"


def test_a_relative_path_loads(leg, monkeypatch):
    monkeypatch.chdir(leg.parent.parent)
    spec = load_spec("leg/leg.xml")
    monkeypatch.chdir("/")
    assert spec.compile().nmesh == 1


def test_a_missing_model_file_is_an_error_that_names_the_nearest(leg):
    with pytest.raises(FileNotFoundError, match=r"leg/lag\.xml.*nearest.*'leg\.xml'"):
        load_spec(leg.parent / "lag.xml")


def test_a_missing_folder_is_an_error_that_names_the_nearest(leg):
    with pytest.raises(FileNotFoundError, match=r"no folder 'log'.*nearest.*'leg'"):
        load_spec(leg.parent.parent / "log" / "leg.xml")


def test_a_missing_mesh_file_is_an_error_that_names_mesh_file_and_nearest(leg):
    (leg.parent / "parts" / "shell.obj").rename(leg.parent / "parts" / "shel.obj")
    (leg.parent / "parts" / "bolt.stl").write_text("")
    with pytest.raises(MissingAssetError) as error:
        load_spec(leg)
    text = str(error.value)
    assert "mesh 'shell'" in text and "parts/shell.obj" in text
    assert text.endswith("Valid names, nearest first: 'shel.obj'.")


def test_a_file_that_mujoco_cannot_read_is_named(tmp_path):
    (tmp_path / "bad.xml").write_text("<mujoco><wordbody/></mujoco>")
    with pytest.raises(ValueError, match=r"(?s)cannot read .*bad\.xml.*wordbody"):
        load_spec(tmp_path / "bad.xml")


@pytest.mark.parametrize("source", [3, lambda: "leg.xml"])
def test_invalid_model_source_is_an_error(source):
    with pytest.raises(TypeError, match="MjSpec"):
        load_spec(source)


def test_assets_in_memory_load_and_export_without_files(leg, tmp_path):
    contents = (leg.parent / "parts" / "shell.obj").read_bytes()
    spec = load_spec(
        mujoco.MjSpec.from_string(LEG, assets={"parts/shell.obj": contents})
    )
    write_spec(spec, tmp_path / "out")
    assert (tmp_path / "out" / "assets" / "shell.obj").read_bytes() == contents


# Attaching and keyframes.


def test_attached_specs_compile_to_the_same_bodies_under_their_prefix(leg, tmp_path):
    other = write_leg(tmp_path / "other", scale=2.0)
    scene = mujoco.MjSpec()
    for prefix, path in (("a/", leg), ("b/", other)):
        child = load_spec(path)
        take_keyframes(child)
        attach_spec(scene, child, prefix=prefix, pos=(0, 0, 3), quat=(0, 1, 0, 0))
    model = scene.compile()
    single = mujoco.MjModel.from_xml_path(str(other))
    assert [model.body(i).name for i in range(1, model.nbody)] == [
        "a/base",
        "a/foot",
        "b/base",
        "b/foot",
    ]
    assert model.body("b/base").mass == pytest.approx(single.body("base").mass)
    np.testing.assert_allclose(model.body("b/base").pos, [0, 0, 2])
    np.testing.assert_allclose(model.body("b/base").quat, [0, 1, 0, 0])


def test_a_spec_attaches_to_a_body(leg):
    arm = mujoco.MjSpec()
    arm.worldbody.add_body(name="palm").add_geom(size=[0.1, 0, 0], name="pad")
    parent = load_spec(leg)
    attach_spec(parent, arm, prefix="hand/", body="foot")
    model = parent.compile()
    assert model.body("hand/palm").parentid == model.body("foot").id
    with pytest.raises(UnknownNameError, match=r"no body 'fot' of 'leg'.*'foot'"):
        attach_spec(parent, mujoco.MjSpec(), prefix="x/", body="fot")


@pytest.mark.parametrize(("own", "other"), [(0, 3), (3, 0), (2, 5), (5, 2)])
def test_user_data_of_either_model_has_room_in_the_scene(own: int, other: int) -> None:
    """As many numbers per geom as the one with more, each with its own."""
    text = (
        "<mujoco><size nuser_geom='{0}'/><worldbody><body name='b'>"
        "<geom name='g' size='.1' mass='1' user='{1}'/></body></worldbody></mujoco>"
    )
    numbers = {n: " ".join(str(float(i + 1)) for i in range(n)) for n in (own, other)}
    specs = [
        mujoco.MjSpec.from_string(text.format(n, numbers[n] or ""))
        for n in (own, other)
    ]
    attach_spec(specs[0], specs[1], prefix="child/")
    model = specs[0].compile()
    assert model.nuser_geom == max(own, other)
    for name, count in (("g", own), ("child/g", other)):
        wanted = [float(i + 1) for i in range(count)]
        assert model.geom(name).user.tolist()[:count] == wanted


@pytest.mark.parametrize("kind", ["camera", "light"])
def test_unspecified_values_of_a_camera_or_a_light_are_mujocos_defaults(
    kind: str,
) -> None:
    spec, plain = mujoco.MjSpec(), mujoco.MjSpec()
    if kind == "camera":
        CameraCfg(name="one").edit(spec)
        ours, theirs = spec.cameras[0], plain.worldbody.add_camera(name="one")
        fields = ("fovy", "pos", "quat", "mode", "targetbody")
    else:
        LightCfg(name="one").edit(spec)
        ours, theirs = spec.lights[0], plain.worldbody.add_light(name="one")
        fields = ("type", "castshadow", "active", "pos", "dir", "cutoff", "exponent")
        fields += ("diffuse", "specular", "ambient", "attenuation", "mode")
    for field in fields:
        assert np.array_equal(getattr(ours, field), getattr(theirs, field)), field


def test_attaching_under_a_taken_prefix_names_model_and_prefix(leg):
    scene = mujoco.MjSpec()
    attach_spec(scene, load_spec(leg), prefix="a/")
    with pytest.raises(ValueError, match=r"attach 'leg' as 'a/'.*repeated name"):
        attach_spec(scene, load_spec(leg), prefix="a/")


def test_take_keyframes_removes_and_completes_keyframes(leg):
    spec = load_spec(leg)
    home, low = take_keyframes(spec)
    assert spec.compile().nkey == 0
    assert (home.name, low.name) == ("home", "low")
    assert home.qpos.tolist() == [0, 0, 2, 1, 0, 0, 0, 0.5]
    assert home.ctrl.tolist() == [0.5]
    assert low.ctrl.tolist() == [0.0]
    assert low.qvel.tolist() == [0.0] * 7
    assert take_keyframes(spec) == []


def test_empty_keyframes_of_a_file_are_removed_too(leg):
    text = leg.read_text().replace("<asset>", '<size nkey="3"/><asset>')
    leg.write_text(text)
    file = mujoco.MjModel.from_xml_path(str(leg))
    spec, scene = load_spec(leg), mujoco.MjSpec()
    taken = take_keyframes(spec)
    np.testing.assert_array_equal([key.qpos for key in taken], file.key_qpos)
    attach_spec(scene, spec, prefix="a/")
    assert scene.compile().nkey == 0
    spec = load_spec(leg)
    for key in list(spec.keys):
        spec.delete(key)
    assert len(take_keyframes(spec)) == 3, "there is room, and nothing in it"
    assert spec.compile().nkey == 0


def test_merged_keyframes_reset_every_part_of_the_scene(leg):
    scene = mujoco.MjSpec()
    ball = mujoco.MjSpec()
    body = ball.worldbody.add_body(name="ball", pos=[7, 0, 0])
    body.add_freejoint()
    body.add_geom(size=[0.1, 0, 0])
    parts = []
    for prefix, child in (
        ("a/", load_spec(leg)),
        ("ball/", ball),
        ("b/", load_spec(leg)),
    ):
        taken = take_keyframes(child)
        parts.append(taken[0] if taken else default_keyframe(child.compile()))
        attach_spec(scene, child, prefix=prefix)
    add_keyframe(scene, merge_keyframes("init", parts))
    model = scene.compile()
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, model.key("init").id)
    assert data.joint("a/ankle").qpos.tolist() == [0.5]
    assert data.joint("b/root").qpos.tolist() == [0, 0, 2, 1, 0, 0, 0]
    assert data.qpos[8:15].tolist() == [7, 0, 0, 1, 0, 0, 0]
    assert data.ctrl.tolist() == [0.5, 0.5]


# Contacts.


def test_a_collision_edit_sets_the_chosen_geoms_and_disables_the_rest(leg):
    model = edited(
        leg,
        CollisionCfg(
            geom_names="foot_.*",
            conaffinity={"foot_left": 2, ".*_right": 3},
            condim=6,
            priority=1,
            friction={"foot_left": 0.4},
            solref=(0.01, 0.9),
            margin=0.005,
        ),
    )
    left, right = model.geom("foot_left"), model.geom("foot_right")
    assert (left.contype, left.conaffinity, left.condim, left.priority) == (1, 2, 6, 1)
    assert right.conaffinity == 3
    np.testing.assert_allclose(left.friction, [0.4, 0.02, 0.003])
    np.testing.assert_allclose(right.friction, [1.0, 0.005, 0.0001])
    np.testing.assert_allclose(right.solref, [0.01, 0.9])
    assert left.margin == 0.005
    others = [model.geom("base_shell").id, model.ngeom - 1]
    assert model.geom_contype[others].tolist() == [0, 0]
    assert model.geom_conaffinity[others].tolist() == [0, 0]


def test_other_geoms_keep_colliding_on_request(leg):
    edit = CollisionCfg(geom_names="foot_left", contype=2, disable_other_geoms=False)
    assert edited(leg, edit).geom_contype.tolist() == [1, 2, 1, 1]


def test_unnamed_geom_matches_a_pattern_of_empty_names(leg):
    assert edited(leg, GeomCfg(geom_names=".*", group=3)).geom_group.tolist() == [3] * 4


def test_a_geom_edit_changes_only_the_given_fields(leg):
    before = load_spec(leg).compile()
    model = edited(leg, GeomCfg(geom_names="foot_.*", condim=1, rgba=(1.0, 0.0)))
    assert model.geom_condim.tolist() == [3, 1, 1, 3]
    np.testing.assert_allclose(model.geom("foot_left").rgba, [1, 0, 0.5, 1])
    np.testing.assert_array_equal(model.geom_friction, before.geom_friction)
    np.testing.assert_array_equal(model.geom_contype, before.geom_contype)


@pytest.mark.parametrize("cfg", [CollisionCfg, GeomCfg])
def test_patterns_match_whole_names_in_edits_too(leg, cfg):
    with pytest.raises(
        UnknownNameError, match=r"No geom of 'leg' matches 'foot'.*'foot_l"
    ):
        edited(leg, cfg(geom_names="foot"))


@pytest.mark.parametrize(
    ("edit", "error", "message"),
    [
        (
            CollisionCfg(geom_names="foot_.*", condim={"foot_left": 3}),
            UnknownNameError,
            r"No pattern matches the geom \(for condim\) 'foot_right'",
        ),
        (
            CollisionCfg(geom_names="foot_.*", friction={"fot_left": 1.0}),
            UnknownNameError,
            r"No geom \(for friction\) of 'leg' matches 'fot_left'.*first: 'foot_left'",
        ),
        (
            GeomCfg(geom_names=".*", margin={".*": 0.0, "foot_left": 0.1}),
            AmbiguousNameError,
            r"'\.\*' and 'foot_left' both match",
        ),
        (CollisionCfg(geom_names=".*", condim=2), ValueError, "condim=2 has to be 1"),
        (
            GeomCfg(geom_names=".*", contype=-1),
            ValueError,
            "contype=-1 has to be a bit mask",
        ),
        (
            GeomCfg(geom_names=".*", friction=(1.0,) * 4),
            ValueError,
            "friction has at most 3 entries, not 4",
        ),
    ],
)
def test_an_invalid_contact_edit_is_refused_with_the_reason(leg, edit, error, message):
    with pytest.raises(error, match=message):
        edited(leg, edit)


# Looks.


def test_a_texture_and_its_material_reach_the_geoms(leg):
    model = edited(
        leg,
        TextureCfg(name="grid", builtin="checker", width=8, height=4, rgb1=(1, 0, 0)),
        MaterialCfg(
            name="painted",
            texture="grid",
            texrepeat=(2, 3),
            reflectance=0.25,
            rgba=(0.5, 0.5, 1.0, 1.0),
            geom_names=("foot_.*",),
        ),
    )
    material = model.material("painted")
    assert (model.tex_width[0], model.tex_height[0]) == (8, 4)
    assert (
        material.texid[mujoco.mjtTextureRole.mjTEXROLE_RGB] == model.texture("grid").id
    )
    assert material.texrepeat.tolist() == [2, 3]
    assert material.reflectance == 0.25
    assert model.geom("foot_left").matid == material.id
    assert model.geom("base_shell").matid == -1
    assert model.tex_data[:3].tolist() in ([255, 0, 0], [127, 127, 127])


def test_a_texture_file_is_read(leg, tmp_path):
    png = tmp_path / "dot.png"
    pillow = pytest.importorskip("PIL.Image")
    pillow.new("RGB", (2, 2), (10, 20, 30)).save(png)
    model = edited(leg, TextureCfg(name="dot", file=str(png)))
    assert model.tex_data[:3].tolist() == [10, 20, 30]
    cube = TextureCfg(name="sky", type="skybox", cubefiles=(str(png),) * 6)
    model = edited(leg, cube)
    assert (model.tex_width[0], model.tex_height[0]) == (2, 12)


def test_a_light_and_a_camera_follow_their_bodies(leg):
    model = edited(
        leg,
        LightCfg(name="sun", type="directional", pos=(0, 0, 4), castshadow=False),
        LightCfg(name="lamp", body="foot", mode="targetbody", target="base"),
        CameraCfg(name="eye", body="foot", fovy=60.0, pos=(1, 0, 0), quat=(0, 1, 0, 0)),
        CameraCfg(name="side", mode="trackcom", body="base"),
    )
    assert model.light("sun").type == mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
    assert model.light("sun").castshadow == 0
    assert model.light("lamp").targetbodyid == model.body("base").id
    assert model.camera("eye").bodyid == model.body("foot").id
    assert model.camera("eye").fovy == 60.0
    assert model.camera("eye").quat.tolist() == [0, 1, 0, 0]
    assert model.camera("side").mode == mujoco.mjtCamLight.mjCAMLIGHT_TRACKCOM


def test_the_hull_of_a_mesh_is_limited(leg):
    spec = load_spec(leg)
    apply_edits(spec, [MeshCfg(mesh_names=".*", maxhullvert=10)])
    assert spec.mesh("shell").maxhullvert == 10


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (TextureCfg(name="t"), "needs exactly one of builtin, file and cubefiles"),
        (TextureCfg(name="t", builtin="flat"), "width and height, not 0 by 0"),
        (TextureCfg(name="t", cubefiles=("a", "b")), "needs 6 cubefiles, not 2"),
        (
            TextureCfg(name="t", file="x.png", gridsize=(3, 4), gridlayout="RL"),
            "one letter for each of 3 by 4 cells",
        ),
        (
            TextureCfg(name="t", builtin="cheker", width=1, height=1),
            "no builtin texture 'cheker'.*nearest first: 'checker'",
        ),
        (MaterialCfg(name="m", texture="gird"), "no texture 'gird'"),
        (MaterialCfg(name="m", geom_names="fot"), "No geom of 'leg' matches 'fot'"),
        (MeshCfg(mesh_names="shel", maxhullvert=9), "No mesh of 'leg' matches 'shel'"),
        (
            MeshCfg(mesh_names=".*", maxhullvert=3),
            "'shell' is 3; it has to be -1 or above 3",
        ),
        (LightCfg(name="l", body="fot"), "no body 'fot' of 'leg'.*'foot'"),
        (LightCfg(name="l", type="sopt"), "no light type 'sopt'.*first: 'spot'"),
        (CameraCfg(name="c", mode="targetbody"), "mode 'targetbody' of 'c' needs a"),
        (CameraCfg(name="c", target="foot"), "mode 'fixed' of 'c' takes no target"),
        (CameraCfg(name="c", mode="follow"), "no camera mode 'follow'"),
    ],
)
def test_invalid_material_or_texture_is_refused_with_the_reason(leg, edit, message):
    with pytest.raises(ValueError, match=message):
        edited(leg, edit)


def test_a_light_needs_no_name_and_is_in_the_world_by_default(leg):
    model = edited(leg, LightCfg(pos=(0, 0, 4)), LightCfg(diffuse=(1, 0, 0)))
    assert [model.light(i).name for i in range(2)] == ["", ""]
    assert model.light_bodyid.tolist() == [0, 0]
    assert model.light_diffuse.tolist()[1] == [1, 0, 0]


def test_a_name_that_is_taken_is_an_error(leg):
    twice = [CameraCfg(name="eye"), CameraCfg(name="eye")]
    with pytest.raises(ValueError, match="already has a camera 'eye'"):
        edited(leg, *twice)


# Structure and export.


def test_an_exported_scene_compiles_to_the_same_model_elsewhere(leg, tmp_path):
    other = write_leg(tmp_path / "other", scale=2.0)
    scene = mujoco.MjSpec()
    parts = []
    for prefix, path in (("a/", leg), ("b/", other), ("c/", leg)):
        child = load_spec(path)
        parts.append(take_keyframes(child)[0])
        attach_spec(scene, child, prefix=prefix)
    add_keyframe(scene, merge_keyframes("init", parts))
    references = [asset.file for asset in asset_files(scene)]
    model = scene.compile()
    (leg.parent / "parts" / "unused.obj").write_text("nothing refers to this")
    written = write_spec(scene, tmp_path / "deep" / "out")
    moved = written.rename(tmp_path / "moved")
    again = mujoco.MjModel.from_xml_path(str(moved / "scene.xml"))
    files = sorted(path.name for path in moved.rglob("*") if path.is_file())
    assert files == ["scene.xml", "shell.obj", "shell_2.obj"]
    for field in (
        "body_mass",
        "mesh_vert",
        "jnt_range",
        "key_qpos",
        "actuator_gainprm",
    ):
        np.testing.assert_array_equal(getattr(again, field), getattr(model, field))
    assert [asset.file for asset in asset_files(scene)] == references
    assert scene.compile().nmesh == 3


def test_a_zip_file_holds_the_same_scene(leg, tmp_path):
    spec = load_spec(leg)
    archive = write_spec(spec, tmp_path / "leg.zip", zip=True)
    with zipfile.ZipFile(archive) as opened:
        assert sorted(opened.namelist()) == ["assets/shell.obj", "scene.xml"]
        opened.extractall(tmp_path / "unpacked")
    again = mujoco.MjModel.from_xml_path(str(tmp_path / "unpacked" / "scene.xml"))
    np.testing.assert_array_equal(again.body_mass, spec.compile().body_mass)


@pytest.mark.parametrize(
    ("kind", "channels"), [("2D", 1), ("2D", 3), ("2D", 4), ("CUBE", 3), ("SKYBOX", 3)]
)
def test_textures_in_memory_are_written_as_files_and_read_as_they_were(
    kind: str, channels: int, tmp_path: Path
) -> None:
    """MJCF cannot store pixels: MuJoCo itself refuses to write such a texture."""
    height, width = (5, 7) if kind == "2D" else (24, 4)
    draw = np.random.default_rng(0).integers
    spec = mujoco.MjSpec()
    spec.worldbody.add_geom(size=[1.0, 1.0, 1.0])
    for name in ("robot/skin", "robot_skin"):
        texture = spec.add_texture(
            name=name,
            type=getattr(mujoco.mjtTexture, f"mjTEXTURE_{kind}"),
            width=width,
            height=height,
            nchannel=channels,
        )
        pixels = draw(256, size=height * width * channels)
        texture.data = pixels.astype(np.uint8).tobytes()
    model = spec.compile()
    with pytest.raises(mujoco.FatalError, match="buffer textures"):
        spec.to_xml()
    written = write_spec(spec, tmp_path / "out")
    names = sorted(file.name for file in (written / "assets").iterdir())
    assert names == ["robot_skin.png", "robot_skin_2.png"]
    again = mujoco.MjModel.from_xml_path(str(written / "scene.xml"))
    for field in ("tex_type", "tex_height", "tex_width", "tex_nchannel", "tex_data"):
        np.testing.assert_array_equal(getattr(again, field), getattr(model, field))
    assert len(spec.textures[0].data) == height * width * channels, "It is unchanged."


@pytest.mark.parametrize("zipped", [False, True])
def test_existing_files_are_not_overwritten(leg, tmp_path, zipped):
    target = tmp_path / "mine"
    target.mkdir()
    (target / "notes.txt").write_text("keep")
    with pytest.raises(FileExistsError, match="mine' already exists"):
        write_spec(load_spec(leg), target, zip=zipped)
    assert [path.name for path in target.iterdir()] == ["notes.txt"]


def test_missing_asset_is_an_error_before_writing(leg, tmp_path):
    spec = load_spec(leg)
    (leg.parent / "parts" / "shell.obj").unlink()
    with pytest.raises(MissingAssetError, match="mesh 'shell'"):
        write_spec(spec, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_spec_edits_import_no_torch():
    code = "import sys; import mjlab.spec; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("text", "said"), [(None, "does not exist"), ("<mujoco", "MuJoCo cannot read")]
)
def test_an_unreadable_model_file_gives_one_line(
    text: str | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "robot.xml"
    if text is not None:
        file.write_text(text)

    def main(arguments: Sequence[str]) -> None:
        load_spec(file)

    assert run_program(main, []) == 2
    answer = capsys.readouterr().err
    assert answer.startswith("error: ") and "robot.xml" in answer and said in answer


TOUCHING = """
<mujoco><worldbody><geom name="world" size=".1"/>
  <body name="a" mocap="true"><geom name="a" size=".1"/></body>
  <body name="b" mocap="true"><geom name="b" size=".1"/></body>
  <body name="still"><geom name="still" size=".1"/></body>
  <body name="root"><freejoint/><geom name="root" size=".1"/>
    <body name="child"><joint/><geom name="child" size=".1"/>
      <body name="leaf"><joint/><geom name="leaf" size=".1"/></body>
      <body name="fixed"><geom name="fixed" size=".1"/></body></body></body>
</worldbody><contact><exclude body1="a" body2="leaf"/></contact></mujoco>"""


def test_geoms_that_may_touch_are_those_that_mujoco_finds_in_contact():
    model = mujoco.MjModel.from_xml_string(TOUCHING)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)  # All of them are at one position.
    found = np.zeros((model.ngeom, model.ngeom), bool)
    found[tuple(data.contact.geom.T)] = True
    assert np.array_equal(_touching(model, np.arange(model.ngeom)), found | found.T)
