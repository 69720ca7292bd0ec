"""Classic cartpole, as tensor operations and as one kernel, for throughput studies."""

from mjlab.tasks.cartpole.classic.equations import (
    ClassicCartpoleCfg as ClassicCartpoleCfg,
)
from mjlab.tasks.cartpole.classic.equations import (
    ClassicCartpoleError as ClassicCartpoleError,
)
from mjlab.tasks.cartpole.classic.kernel import KernelCartpoles as KernelCartpoles
from mjlab.tasks.cartpole.classic.tensors import TensorCartpoles as TensorCartpoles
