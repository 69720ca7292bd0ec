"""Networks of images: bytes, shared encoders, and RSL-RL's network as reference."""

import copy
import dataclasses

import torch
from rsl_rl.models import CNNModel
from tensordict import TensorDict

from mjlab.rl import CnnCfg, CnnModelCfg
from mjlab.rl.models.images import ImageModel

GROUPS = {"actor": ["state", "camera"]}


def settings() -> dict:
    cfg = CnnModelCfg(
        hidden_dims=(16,),
        cnn_cfg=CnnCfg(
            output_channels=(4, 3), kernel_size=3, stride=2, padding="zeros"
        ),
    )
    return dataclasses.asdict(cfg)


def observations(images: torch.Tensor) -> TensorDict:
    return TensorDict(
        {"state": torch.ones(len(images), 5), "camera": images},
        batch_size=[len(images)],
    )


def test_bytes_are_divided_by_255_and_floats_agree_with_rsl_rl() -> None:
    images = torch.randint(0, 256, (6, 2, 12, 8), dtype=torch.uint8)
    whole, share = observations(images), observations(images / 255.0)
    reference = CNNModel(share, GROUPS, "actor", 3, **settings())
    for seen in (whole, share):
        ours = ImageModel(seen, GROUPS, "actor", 3, **settings())
        ours.load_state_dict(reference.state_dict())
        torch.testing.assert_close(ours(seen), reference(share))


def test_encoders_can_be_shared_between_two_models() -> None:
    seen = observations(torch.rand(2, 1, 12, 8))
    first = ImageModel(seen, GROUPS, "actor", 3, **settings())
    second = ImageModel(seen, GROUPS, "actor", 1, **settings(), cnns=first.cnns)
    assert second.cnns["camera"] is first.cnns["camera"]


def test_exported_network_takes_bytes() -> None:
    images = torch.randint(0, 256, (1, 2, 12, 8), dtype=torch.uint8)
    seen = observations(images)
    model = ImageModel(seen, GROUPS, "actor", 3, **settings()).eval()
    exported = copy.deepcopy(model).as_onnx()
    torch.testing.assert_close(exported(seen["state"], images), model(seen))
