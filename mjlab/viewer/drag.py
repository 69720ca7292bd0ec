"""Free bodies that a user drags with the mouse."""

import viser

from mjlab.entity import Entity
from mjlab.envs import ManagerBasedRlEnv
from mjlab.viewer.panels import Page

_NOTHING = "nothing"


class DragPanel:
    """Panel with transform handles for one entity of the selected world.

    The entity follows the handles while they are held, also while paused. viser reports
    drags of a shape only as mouse rays, so the entity has handles instead.
    """

    def __init__(self, page: Page, entities: dict[str, Entity]) -> None:
        """Add the dropdown and the handles to the page."""
        self._page, self._entities = page, entities
        self._is_held = False
        self.choice = page.server.gui.add_dropdown("Drag", (_NOTHING, *entities))
        """Dropdown that selects the entity to drag."""
        self.choice.on_update(lambda _: page.ask_to_draw())
        # Inside the frame that mjviser moves to keep the tracked body in view.
        self.handles = page.server.scene.add_transform_controls(
            "/fixed_bodies/handles", scale=0.15, depth_test=False, visible=False
        )
        """Transform handles."""
        self.handles.on_update(self._take_note)

    def apply(self) -> None:
        """Move the entity to the held handles, with zero velocity."""
        entity = self._entities.get(self.choice.value)
        if entity is not None and self._is_held:
            pose = (*self.handles.position.tolist(), *self.handles.wxyz.tolist())
            self._page.player.place(entity, self._page.world, pose)
            self._page.ask_to_draw()

    def draw(self) -> None:
        """Move the handles to the entity, unless they are held."""
        entity = self._entities.get(self.choice.value)
        self.handles.visible = entity is not None
        if entity is not None and not self._is_held:
            data, world = entity.data, self._page.world
            self.handles.position = data.root_pos_w[world].tolist()
            self.handles.wxyz = data.root_quat_w[world].tolist()

    # viser runs ordinary functions in threads, whose order is not guaranteed;
    # coroutines stay in order.
    async def _take_note(self, event: viser.TransformControlsEvent) -> None:
        self._is_held = event.phase != "end"


def find_free(env: ManagerBasedRlEnv) -> dict[str, Entity]:
    """Return the floating entities by name, except entities that vary per world."""
    variants = [member for v in env.scene.variants.values() for member in v.members]
    return {
        name: entity
        for name, entity in env.scene.entities.items()
        if not entity.is_fixed_base and name not in variants
    }
