"""Functions for notebooks: create environments, load policies, record rollouts.

`mjlab.make`, `mjlab.load_policy` and `mjlab.rollout` are the functions of this package.
"""

from mjlab.notebook.film import Film as Film
from mjlab.notebook.policy import SavedPolicy as SavedPolicy
from mjlab.notebook.policy import load_policy as load_policy
from mjlab.notebook.policy import make as make
from mjlab.notebook.rollout import RolloutResult as RolloutResult
from mjlab.notebook.rollout import rollout as rollout
