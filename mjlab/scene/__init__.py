"""Scene: entities, terrain and sensors."""

from mjlab.scene.build import ContactPairError as ContactPairError
from mjlab.scene.build import PairKey as PairKey
from mjlab.scene.build import SceneError as SceneError
from mjlab.scene.build import SceneSpec as SceneSpec
from mjlab.scene.build import build_scene as build_scene
from mjlab.scene.check import ChangedModelError as ChangedModelError
from mjlab.scene.check import check_models as check_models
from mjlab.scene.config import ContactPairCfg as ContactPairCfg
from mjlab.scene.config import PerWorldEntityCfg as PerWorldEntityCfg
from mjlab.scene.config import SceneCfg as SceneCfg
from mjlab.scene.origin import OriginType as OriginType
from mjlab.scene.per_world import PerWorldEntity as PerWorldEntity
from mjlab.scene.per_world import PerWorldSpec as PerWorldSpec
from mjlab.scene.scene import Ground as Ground
from mjlab.scene.scene import Scene as Scene
from mjlab.scene.select import SceneEntityCfg as SceneEntityCfg
from mjlab.scene.select import Selection as Selection
