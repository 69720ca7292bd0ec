"""Entities, terrain and sensors together."""

from mjlab.scene.build import SceneError as SceneError
from mjlab.scene.build import SceneSpec as SceneSpec
from mjlab.scene.build import build_scene as build_scene
from mjlab.scene.config import ContactPairCfg as ContactPairCfg
from mjlab.scene.config import SceneCfg as SceneCfg
from mjlab.scene.ground import Ground as Ground
from mjlab.scene.pairs import ContactPairError as ContactPairError
from mjlab.scene.scene import Scene as Scene
from mjlab.scene.select import SceneEntityCfg as SceneEntityCfg
from mjlab.scene.select import Selection as Selection
from mjlab.scene.variants import Variants as Variants
from mjlab.views import BodyView as BodyView
from mjlab.views import EntityView as EntityView
from mjlab.views import JointView as JointView
from mjlab.views import MergeError as MergeError
from mjlab.views import Pose as Pose
from mjlab.views import PoseError as PoseError
from mjlab.views import ViewError as ViewError
