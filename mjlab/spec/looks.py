"""Edits of a model's appearance: materials, textures, meshes, lights, cameras."""

from collections.abc import Sequence
from typing import Any, Literal

import mujoco
from mujoco import mjtBuiltin, mjtCamLight, mjtLightType, mjtMark, mjtTexture

from mjlab.names import find_name, resolve_values, suggest
from mjlab.spec.edit import (
    Patterns,
    SpecEditCfg,
    check_new,
    find_body,
    match_elements,
    write_attribute,
)

Triple = tuple[float, float, float]

Mode = Literal["fixed", "track", "trackcom", "targetbody", "targetbodycom"]


class TextureCfg(SpecEditCfg):
    """Adds a texture, procedural or from files."""

    name: str
    """Name of the new texture."""

    type: Literal["2d", "cube", "skybox"] = "2d"
    """Type of texture mapping."""

    builtin: Literal["none", "flat", "gradient", "checker"] = "none"
    """Procedural pattern; "none" for a texture from files."""

    rgb1: Triple | None = None
    """First colour of the pattern; None uses MuJoCo's default."""

    rgb2: Triple | None = None
    """Second colour of the pattern; None uses MuJoCo's default."""

    width: int | None = None
    """Width of the pattern in pixels; None for an image."""

    height: int | None = None
    """Height of the pattern in pixels; None for an image."""

    mark: Literal["none", "edge", "cross", "random"] = "none"
    """Marks drawn over the pattern."""

    markrgb: Triple = (0.0, 0.0, 0.0)
    """Colour of the marks."""

    random: float = 0.01
    """Probability of a random mark at a pixel."""

    file: str | None = None
    """Image file."""

    cubefiles: tuple[str, ...] | None = None
    """Image files of the six faces: right, left, up, down, front, back."""

    gridsize: tuple[int, int] | None = None
    """Rows and columns of the faces in one image file; None for one image."""

    gridlayout: str | None = None
    """Faces in the grid, as the letters R, L, U, D, F, B and '.'."""

    nchannel: int = 3
    """Number of channels of the image."""

    hflip: bool = False
    """Mirror the image left to right."""

    vflip: bool = False
    """Mirror the image top to bottom."""

    def edit(self, spec: mujoco.MjSpec) -> None:
        check_new(self.name, spec.textures, what="texture")
        self._check()
        texture = spec.add_texture(
            name=self.name,
            type=_constant(mjtTexture, self.type, what="texture type"),
            builtin=_constant(mjtBuiltin, self.builtin, what="builtin texture"),
            mark=_constant(mjtMark, self.mark, what="texture mark"),
            file=self.file or "",
        )
        plain = ("rgb1", "rgb2", "width", "height", "markrgb", "random", "nchannel")
        _copy_attributes(self, texture, (*plain, "gridsize", "hflip", "vflip"))
        for face, file in enumerate(self.cubefiles or ()):
            texture.cubefiles[face] = file
        for place, letter in enumerate(self.gridlayout or ""):
            texture.gridlayout[place] = letter

    def _check(self) -> None:
        sources = (self.builtin != "none", self.file is not None, bool(self.cubefiles))
        if sum(sources) != 1:
            raise ValueError(
                f"The texture {self.name!r} needs exactly one of builtin, file and "
                "cubefiles."
            )
        pixels = (self.width or 0, self.height or 0)
        if self.builtin != "none" and min(pixels) < 1:
            raise ValueError(
                f"The builtin texture {self.name!r} needs a positive width and "
                f"height, not {pixels[0]} by {pixels[1]} pixels."
            )
        if self.cubefiles and len(self.cubefiles) != 6:
            raise ValueError(
                f"The texture {self.name!r} needs 6 cubefiles, not "
                f"{len(self.cubefiles)}."
            )
        rows, columns = self.gridsize or (1, 1)
        if self.gridlayout and len(self.gridlayout) != rows * columns:
            raise ValueError(
                f"The gridlayout {self.gridlayout!r} of the texture {self.name!r} "
                f"needs one letter for each of {rows} by {columns} cells."
            )


class MaterialCfg(SpecEditCfg):
    """Adds a material and assigns it to geoms."""

    name: str
    """Name of the new material."""

    rgba: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    """Colour, multiplied with the texture's colour."""

    texture: str | None = None
    """Name of an existing texture; None for no texture."""

    texuniform: bool = False
    """Repeat the texture per metre instead of per object."""

    texrepeat: tuple[float, float] = (1.0, 1.0)
    """Number of repetitions of the texture along both axes."""

    reflectance: float = 0.0
    """Fraction of mirrored light, 0 to 1."""

    emission: float = 0.0
    """Emitted light, as a factor of the colour."""

    specular: float = 0.5
    """Strength of highlights, 0 to 1."""

    shininess: float = 0.5
    """Sharpness of highlights, 0 to 1."""

    geom_names: Patterns = ()
    """Patterns of the geoms that use the material."""

    def edit(self, spec: mujoco.MjSpec) -> None:
        check_new(self.name, spec.materials, what="material")
        material = spec.add_material(name=self.name)
        plain = ("rgba", "texuniform", "texrepeat", "reflectance", "emission")
        _copy_attributes(self, material, (*plain, "specular", "shininess"))
        if self.texture is not None:
            names = [texture.name for texture in spec.textures]
            find_name(self.texture, names, what="texture", owner=spec.modelname)
            material.textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = self.texture
        for geom in match_elements(spec.geoms, self.geom_names, what="geom", spec=spec):
            geom.material = self.name


class MeshCfg(SpecEditCfg):
    """Changes how MuJoCo compiles meshes."""

    mesh_names: Patterns
    """Patterns of the edited meshes."""

    maxhullvert: int | dict[str, int] | None = None
    """Maximum number of vertices of the convex hull, above 3, or -1 for no limit; one
    value, or values by pattern. None leaves it unchanged."""

    def edit(self, spec: mujoco.MjSpec) -> None:
        meshes = match_elements(spec.meshes, self.mesh_names, what="mesh", spec=spec)
        if self.maxhullvert is None:
            return
        names = [mesh.name for mesh in meshes]
        values = resolve_values(
            self.maxhullvert, names, what="mesh", owner=spec.modelname
        )
        for mesh, value in zip(meshes, values, strict=True):
            if value is None:
                continue
            if value != -1 and value <= 3:
                raise ValueError(
                    f"maxhullvert of the mesh {mesh.name!r} is {value}; it has to be "
                    "-1 or above 3."
                )
            mesh.maxhullvert = value


class LightCfg(SpecEditCfg):
    """Adds a light."""

    name: str | None = None
    """Name of the new light; None for no name."""

    body: str = "world"
    """Name of the body to which the light is attached."""

    mode: Mode = "fixed"
    """Motion relative to the body or target, as MuJoCo's attribute `mode`."""

    target: str | None = None
    """Name of the target body, for modes that start with "target"."""

    type: Literal["spot", "directional", "point", "image"] = "spot"
    """Type of light."""

    castshadow: bool = True
    """Cast shadows."""

    active: bool = True
    """Switch the light on."""

    pos: Triple = (0.0, 0.0, 0.0)
    """Position in the body's frame, in metres."""

    dir: Triple = (0.0, 0.0, -1.0)
    """Direction in the body's frame."""

    cutoff: float = 45.0
    """Half the opening angle of a spotlight, in degrees."""

    exponent: float = 10.0
    """Exponent of the decrease in intensity from a spotlight's axis to its edge."""

    diffuse: Triple | None = None
    """Diffuse colour; None uses MuJoCo's default."""

    specular: Triple | None = None
    """Colour of highlights; None uses MuJoCo's default."""

    ambient: Triple | None = None
    """Ambient colour; None uses MuJoCo's default."""

    attenuation: Triple = (1.0, 0.0, 0.0)
    """Constant, linear and quadratic attenuation with distance."""

    def edit(self, spec: mujoco.MjSpec) -> None:
        if self.name is not None:
            check_new(self.name, spec.lights, what="light")
        light = find_body(spec, self.body).add_light(
            name=self.name or "",
            type=_constant(mjtLightType, self.type, what="light type"),
            mode=_constant(mjtCamLight, self.mode, what="light mode"),
            targetbody=_target(spec, self.name or "the light", self.mode, self.target),
        )
        plain = ("castshadow", "active", "pos", "dir", "cutoff", "exponent", "diffuse")
        _copy_attributes(self, light, (*plain, "specular", "ambient", "attenuation"))


class CameraCfg(SpecEditCfg):
    """Adds a camera."""

    name: str
    """Name of the new camera."""

    body: str = "world"
    """Name of the body to which the camera is attached."""

    mode: Mode = "fixed"
    """Motion relative to the body or target, as MuJoCo's attribute `mode`."""

    target: str | None = None
    """Name of the target body, for modes that start with "target"."""

    fovy: float = 45.0
    """Vertical field of view, in degrees."""

    pos: Triple = (0.0, 0.0, 0.0)
    """Position in the body's frame, in metres."""

    quat: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)
    """Orientation in the body's frame, wxyz. The camera looks along its -z axis."""

    def edit(self, spec: mujoco.MjSpec) -> None:
        check_new(self.name, spec.cameras, what="camera")
        camera = find_body(spec, self.body).add_camera(
            name=self.name,
            mode=_constant(mjtCamLight, self.mode, what="camera mode"),
            targetbody=_target(spec, self.name, self.mode, self.target),
        )
        _copy_attributes(self, camera, ("fovy", "pos", "quat"))


def _constant(enumeration: Any, name: str, *, what: str) -> Any:
    """Return a constant of a MuJoCo enumeration by its name without the prefix."""
    constants = {
        full.partition("_")[2].lower(): constant
        for full, constant in enumeration.__members__.items()
    }
    if name not in constants:
        raise ValueError(f"There is no {what} {name!r}. {suggest(name, constants)}")
    return constants[name]


def _copy_attributes(cfg: Any, element: Any, attributes: Sequence[str]) -> None:
    for attribute in attributes:
        value = getattr(cfg, attribute)
        if value is not None:
            write_attribute(element, attribute, value)


def _target(spec: mujoco.MjSpec, name: str, mode: str, target: str | None) -> str:
    if mode.startswith("target") != (target is not None):
        raise ValueError(
            f"The mode {mode!r} of {name!r} "
            f"{'needs a target' if target is None else 'takes no target'}."
        )
    return "" if target is None else find_body(spec, target).name
