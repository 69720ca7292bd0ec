"""Scenes that MuJoCo's WebAssembly build can load.

That build is version 3.14. Its actuators have one input without a label. Export drops
the labels of single inputs (`mjlab.export.record`); several inputs have no equivalent.
"""

import mujoco

from mjlab.export.runner.policy import ContractError, ContractPolicy

VERSION = "3.14"
"""Version of MuJoCo's WebAssembly build."""


def refuse_scene(policy: ContractPolicy) -> None:
    """Raise if a policy has no scene, or an actuator with a labelled input."""
    model = _model(policy)
    labelled = [
        model.actuator(index).name
        for index in range(model.nactuator)
        if model.actuator_ctrlspec[index] != 0
    ]
    if labelled:
        raise ContractError(
            f"its actuator {labelled[0]} has the attribute `input`, which MuJoCo "
            f"{VERSION} does not support. Export the policy again; an actuator with "
            "several inputs cannot run in a page"
        )


def _model(policy: ContractPolicy) -> mujoco.MjModel:
    files = policy.scene()
    return mujoco.MjModel.from_xml_string(files["scene.xml"].decode(), files)
