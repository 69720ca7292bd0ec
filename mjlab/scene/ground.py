"""Where each world stands on the terrain."""

import torch

from mjlab.random import WorldRng
from mjlab.tensors.masks import write_where
from mjlab.terrain import Terrain


class Ground:
    """Rows and columns of the terrain that worlds spawn on.

    A row is a level of difficulty, a column a kind of ground. The column is drawn once
    from a world's own seed, so that it does not depend on how many worlds there are;
    the row moves with the curriculum.
    """

    def __init__(
        self, terrain: Terrain, rng: WorldRng, max_init_level: int | None
    ) -> None:
        self.terrain = terrain
        """What was built, with `size`, `bounds` and `column_kinds`."""
        device = rng.device
        self._origins = torch.as_tensor(
            terrain.origins, dtype=torch.float32, device=device
        ).flatten(0, 1)
        self._patches = {
            name: torch.as_tensor(p, dtype=torch.float32, device=device).flatten(0, 1)
            for name, p in terrain.patches.items()
        }
        shares = torch.as_tensor(terrain.column_shares, dtype=torch.float32)
        self._column_ends = shares.cumsum(0)[:-1].contiguous().to(device)
        rows = terrain.num_rows
        top = rows - 1 if max_init_level is None else min(max_init_level, rows - 1)
        self.columns = torch.searchsorted(
            self._column_ends, rng.draw("terrain_column", ()), right=True
        )
        """The column of each world, shape (num_envs,), int64."""
        self.levels = rng.integers(0, top + 1, (), "terrain_level")
        """The row of each world, shape (num_envs,), int64."""
        self.origins = torch.empty(rng.num_envs, 3, device=device)
        """Where each world spawns, world frame, m, shape (num_envs, 3)."""
        self._rng = rng
        self._update_origins()

    def move(self, up: torch.Tensor, down: torch.Tensor, stream: str) -> None:
        """Move worlds to harder or easier rows.

        A world that passes the last row goes to any row, so that no row is forgotten.

        Args:
            up: Worlds to move to the next row, shape (num_envs,), bool.
            down: Worlds to move to the row before, shape (num_envs,), bool.
            stream: Name of the random numbers for worlds beyond the last row.
        """
        rows = self.terrain.num_rows
        moved = self.levels.add(up).add_(down, alpha=-1)
        anywhere = self._rng.integers(0, rows, (), stream)
        moved = torch.where(moved >= rows, anywhere, moved.clamp_(min=0))
        self.levels.copy_(moved)
        self._update_origins()

    def place_anywhere(self, mask: torch.Tensor, stream: str) -> None:
        """Draw row and column of the worlds of `mask` anew."""
        rows = self._rng.integers(0, self.terrain.num_rows, (), f"{stream}/level")
        draw = self._rng.draw(f"{stream}/column", ())
        columns = torch.searchsorted(self._column_ends, draw, right=True)
        write_where(self.levels, mask, rows)
        write_where(self.columns, mask, columns)
        self._update_origins()

    def patches(self, name: str) -> torch.Tensor:
        """Flat spots on the tile of each world, shape (num_envs, num_patches, 3)."""
        return self._patches[name].index_select(0, self._tile())

    @property
    def patch_names(self) -> list[str]:
        """Names of the flat spots that the terrain has."""
        return list(self._patches)

    def state(self) -> dict[str, torch.Tensor]:
        """The live tensors that change; copy into them to restore a snapshot."""
        return {
            "levels": self.levels,
            "columns": self.columns,
            "origins": self.origins,
        }

    def _tile(self) -> torch.Tensor:
        return self.levels * self.terrain.num_cols + self.columns

    def _update_origins(self) -> None:
        torch.index_select(self._origins, 0, self._tile(), out=self.origins)
