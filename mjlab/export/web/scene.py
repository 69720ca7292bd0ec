"""Check that MuJoCo's WebAssembly build can load a scene.

The build is MuJoCo 3.14, whose actuators have exactly one input. Export clears
`ctrlspec` of actuators with one input (`mjlab.export.scene_file`). Actuators with
several inputs have no equivalent.
"""

import mujoco

from mjlab.export.runner.policy import ContractError, ContractPolicy

VERSION = "3.14"
"""Version of MuJoCo's WebAssembly build."""


def refuse_scene(policy: ContractPolicy) -> None:
    """Raise if a policy has no scene, or an actuator that sets `ctrlspec`."""
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
