"""Counter-based random draws: each world has a stream of its own."""

from mjlab.random.rng import WorldRng as WorldRng
from mjlab.random.rng import stream_id as stream_id
from mjlab.random.rng import world_seeds as world_seeds
