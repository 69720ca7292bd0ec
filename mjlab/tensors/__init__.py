"""Batched tensors: histories, delays, noise, rotation math, and masked writes."""

from mjlab.tensors.buffers import DelayBuffer as DelayBuffer
from mjlab.tensors.buffers import DelayCfg as DelayCfg
from mjlab.tensors.buffers import HistoryBuffer as HistoryBuffer
from mjlab.tensors.noise import ConstantNoiseCfg as ConstantNoiseCfg
from mjlab.tensors.noise import GaussianNoiseCfg as GaussianNoiseCfg
from mjlab.tensors.noise import Noise as Noise
from mjlab.tensors.noise import NoiseCfg as NoiseCfg
from mjlab.tensors.noise import NoiseModelCfg as NoiseModelCfg
from mjlab.tensors.noise import (
    NoiseModelWithAdditiveBiasCfg as NoiseModelWithAdditiveBiasCfg,
)
from mjlab.tensors.noise import UniformNoiseCfg as UniformNoiseCfg
from mjlab.tensors.noise import build_noise as build_noise
