"""Drawing of cameras on the native engine by rays, all worlds in one call."""

from mjlab.sensor import CameraRenderer, CameraRendererCfg
from mjlab.sim import Simulation


class RayRendererCfg(CameraRendererCfg):
    """Draws cameras of the native engine by one ray per pixel, with its threads.

    Depth and segmentation are those of MuJoCo's renderer. Colours are flat: those of
    geoms and materials in the light of the scene, without textures, gloss, shadows,
    haze or sky. For small pictures of many worlds; on Warp its own renderer draws.
    """

    def open(self, sim: Simulation) -> CameraRenderer:
        """Return what draws the cameras of a simulation."""
        # Imported only here: it compiles kernels of Warp.
        from mjlab.render.ray_renderer import RayRenderer

        return RayRenderer(sim)
