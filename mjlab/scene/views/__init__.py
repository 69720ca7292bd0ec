"""Views of bodies, joints and entities, whichever of them a world shows."""

from mjlab.scene.views.body import BodyView as BodyView
from mjlab.scene.views.choice import MergeError as MergeError
from mjlab.scene.views.choice import ViewError as ViewError
from mjlab.scene.views.entity import EntityView as EntityView
from mjlab.scene.views.forces import ContactForces as ContactForces
from mjlab.scene.views.joint import JointView as JointView
from mjlab.scene.views.pose import Pose as Pose
from mjlab.scene.views.pose import PoseError as PoseError
from mjlab.scene.views.views import SceneViews as SceneViews
