"""The classic cartpole, as tensors and as one kernel, for the study of throughput."""

from tasks.cartpole.classic.equations import ClassicCartpoleCfg as ClassicCartpoleCfg
from tasks.cartpole.classic.equations import (
    ClassicCartpoleError as ClassicCartpoleError,
)
from tasks.cartpole.classic.kernel import KernelCartpoles as KernelCartpoles
from tasks.cartpole.classic.tensors import TensorCartpoles as TensorCartpoles
