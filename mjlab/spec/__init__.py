"""Edits of MjSpec: load, attach, keyframes, contacts, appearance, export.

Depends on MuJoCo and on names, not on tensors or worlds.
"""

from mjlab.spec.compare import AttachedModel as AttachedModel
from mjlab.spec.contacts import CollisionCfg as CollisionCfg
from mjlab.spec.contacts import GeomCfg as GeomCfg
from mjlab.spec.edit import SpecEditCfg as SpecEditCfg
from mjlab.spec.edit import SpecPart as SpecPart
from mjlab.spec.edit import apply_edits as apply_edits
from mjlab.spec.files import MissingAssetError as MissingAssetError
from mjlab.spec.files import SpecSource as SpecSource
from mjlab.spec.files import asset_files as asset_files
from mjlab.spec.files import load_spec as load_spec
from mjlab.spec.files import write_spec as write_spec
from mjlab.spec.looks import CameraCfg as CameraCfg
from mjlab.spec.looks import LightCfg as LightCfg
from mjlab.spec.looks import MaterialCfg as MaterialCfg
from mjlab.spec.looks import MeshCfg as MeshCfg
from mjlab.spec.looks import TextureCfg as TextureCfg
from mjlab.spec.merge import Keyframe as Keyframe
from mjlab.spec.merge import add_keyframe as add_keyframe
from mjlab.spec.merge import attach_spec as attach_spec
from mjlab.spec.merge import default_keyframe as default_keyframe
from mjlab.spec.merge import delete_keys as delete_keys
from mjlab.spec.merge import keep_compiled as keep_compiled
from mjlab.spec.merge import merge_keyframes as merge_keyframes
from mjlab.spec.merge import take_keyframes as take_keyframes
from mjlab.spec.torque import torque_limits as torque_limits
