"""Encoders that extract the image position of a feature."""

import pytest
import torch
from rsl_rl.storage import RolloutStorage
from tensordict import TensorDict
from torch import nn

from mjlab.rl import (
    CnnCfg,
    GaussianCfg,
    MlpModelCfg,
    PpoAgentCfg,
    SpatialCnnModelCfg,
)
from mjlab.rl.algorithms.dagger import Dagger, ObservedActions
from mjlab.rl.learners import to_rsl_rl
from mjlab.rl.models.spatial import SpatialCnnModel, SpatialEncoder

HEIGHT, WIDTH = 8, 12
GROUPS = {"actor": ["state", "camera"]}
CNN = CnnCfg(output_channels=(4, 6), kernel_size=(5, 3), stride=2, padding="zeros")


def observed(image: torch.Tensor) -> TensorDict:
    state = torch.arange(3.0).expand(len(image), 3)
    return TensorDict({"state": state, "camera": image}, batch_size=[len(image)])


def model_for(obs: TensorDict) -> SpatialCnnModel:
    torch.manual_seed(0)
    cfg = SpatialCnnModelCfg(
        hidden_dims=(16,), cnn_cfg=CNN, distribution_cfg=GaussianCfg()
    )
    settings = to_rsl_rl(PpoAgentCfg(actor=cfg, critic=MlpModelCfg()))["actor"]
    settings.pop("class_name")
    return SpatialCnnModel(obs, GROUPS, "actor", 2, **settings)


def test_a_sharp_feature_is_found_where_it_is():
    """Pixel (row, column) of h by w is at ((2c + 1) / w - 1, (2r + 1) / h - 1)."""
    encoder = SpatialEncoder(
        torch.Size((2, HEIGHT, WIDTH)),
        scale=1.0,
        temperature=0.01,
        output_channels=(2,),
        kernel_size=1,
    )
    encoder.cnn = nn.Identity()  # type: ignore
    image = torch.zeros(1, 2, HEIGHT, WIDTH)
    image[0, 0, 1, 3] = image[0, 1, 6, 11] = 1.0
    x0, x1, y0, y1 = encoder(image)[0].tolist()
    assert (x0, y0) == pytest.approx((7 / 12 - 1, 3 / 8 - 1), abs=1e-6)
    assert (x1, y1) == pytest.approx((23 / 12 - 1, 13 / 8 - 1), abs=1e-6)


def test_a_feature_that_moves_by_a_pixel_moves_its_place_by_as_much():
    encoder = SpatialEncoder(
        torch.Size((1, HEIGHT, WIDTH)),
        scale=1.0,
        temperature=0.02,
        output_channels=(3,),
        kernel_size=3,
        padding="zeros",
    )
    image = torch.zeros(2, 1, HEIGHT, WIDTH)
    image[0, 0, 3:5, 4:6] = 9.0
    image[1] = image[0].roll((1, 2), dims=(1, 2))
    features = encoder.cnn(image)
    inner = features.clone().fill_(-9.0)
    inner[..., 1:-1, 1:-1] = features[..., 1:-1, 1:-1]
    encoder.cnn = nn.Identity()  # type: ignore
    before, after = encoder(inner)
    moved = (after - before).view(2, 3)
    peaks = inner.flatten(2).max(-1).values > 0.5
    assert peaks.any()
    for channel in torch.nonzero(peaks[0]).flatten().tolist():
        shift = pytest.approx((2 * 2 / WIDTH, 2 / HEIGHT), abs=1e-3)
        assert tuple(moved[:, channel].tolist()) == shift


def test_bytes_and_their_fractions_of_255_give_the_same_actions():
    generator = torch.Generator().manual_seed(0)
    image = torch.randint(256, (5, 1, HEIGHT, WIDTH), generator=generator)
    as_bytes, shares = observed(image.to(torch.uint8)), observed(image / 255.0)
    actions = model_for(as_bytes)(as_bytes)
    torch.testing.assert_close(actions, model_for(shares)(shares))
    assert actions.shape == (5, 2) and actions.std(0).min() > 1e-4


def test_an_exported_policy_acts_like_the_model():
    obs = observed(torch.rand(4, 1, HEIGHT, WIDTH))
    model = model_for(obs)
    exported = model.as_onnx()
    actions = exported(obs["state"], obs["camera"])
    torch.testing.assert_close(actions, model(obs), atol=1e-6, rtol=0)
    assert exported.input_names == ["obs", "camera"]


def test_dagger_learns_from_images_and_keeps_them_as_bytes():
    """The teacher's action is the image mean, which only the image contains."""
    generator = torch.Generator().manual_seed(1)
    image = torch.zeros(64, 1, HEIGHT, WIDTH, dtype=torch.uint8)
    column = torch.randint(WIDTH - 2, (64,), generator=generator)
    for world, start in enumerate(column.tolist()):
        image[world, 0, 3:6, start : start + 3] = 255
    obs = observed(image)
    obs["expert"] = torch.stack((column / WIDTH, -column / WIDTH), dim=1)
    losses = dagger_losses(obs)
    assert losses[-1] < 0.1 * losses[0]
    # A student with one image for all worlds cannot distinguish them.
    obs["camera"] = image[:1].expand_as(image).clone()
    blind = dagger_losses(obs)
    assert blind[-1] > 5 * losses[-1]


def dagger_losses(obs: TensorDict) -> list[float]:
    student = model_for(obs)
    teacher = ObservedActions(obs, {"teacher": ["expert"]}, "teacher", 2)
    storage = RolloutStorage("distillation", len(obs), 1, obs, [2])
    learner = Dagger(
        student,
        teacher,
        storage,
        num_learning_epochs=1,
        gradient_length=1,
        learning_rate=3e-3,
        capacity=256,
        batch_size=64,
        num_updates_per_iteration=40,
        teacher_share=1.0,
    )
    losses = []
    for _ in range(5):
        learner.act(obs)
        done = torch.zeros(len(obs))
        learner.process_env_step(obs, done, done, {})
        losses.append(learner.update()["behavior"])
    assert learner.memory()["observations"]["camera"].dtype == torch.uint8
    return losses
