"""Views of bodies, joints and entities that can differ between worlds."""

from mjlab.views.body import BodyView as BodyView
from mjlab.views.body import JointView as JointView
from mjlab.views.choice import MergeError as MergeError
from mjlab.views.choice import ViewError as ViewError
from mjlab.views.entity import EntityView as EntityView
from mjlab.views.pose import Pose as Pose
from mjlab.views.pose import PoseError as PoseError
from mjlab.views.present import PresentForces as PresentForces
from mjlab.views.source import ContactForces as ContactForces
from mjlab.views.variant_slots import VariantsError as VariantsError
from mjlab.views.variants import Variants as Variants
from mjlab.views.variants import VariantsCfg as VariantsCfg
from mjlab.views.views import SceneViews as SceneViews
from mjlab.views.views import of as of
