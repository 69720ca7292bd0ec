"""Edits of MjSpec: load, attach, keyframes, contacts, looks, export.

Knows MuJoCo and names, and nothing of tensors or worlds.
"""

from mjlab.spec.assets import MissingAssetError, asset_files
from mjlab.spec.contacts import CollisionCfg, GeomCfg
from mjlab.spec.edit import SpecEditCfg, apply_edits
from mjlab.spec.export import write_spec
from mjlab.spec.load import SpecSource, load_spec
from mjlab.spec.looks import CameraCfg, LightCfg, MaterialCfg, MeshCfg, TextureCfg
from mjlab.spec.merge import (
    Keyframe,
    add_keyframe,
    attach_spec,
    default_keyframe,
    delete_keys,
    merge_keyframes,
    take_keyframes,
)
from mjlab.spec.structure import body_as_unsimple

__all__ = [
    "CameraCfg",
    "CollisionCfg",
    "GeomCfg",
    "Keyframe",
    "LightCfg",
    "MaterialCfg",
    "MeshCfg",
    "MissingAssetError",
    "SpecEditCfg",
    "SpecSource",
    "TextureCfg",
    "add_keyframe",
    "apply_edits",
    "asset_files",
    "attach_spec",
    "body_as_unsimple",
    "default_keyframe",
    "delete_keys",
    "load_spec",
    "merge_keyframes",
    "take_keyframes",
    "write_spec",
]
