"""Configuration of the ray casting renderer of the native engine."""

from mjlab.sensor import CameraRenderer, CameraRendererCfg
from mjlab.sim import Simulation


class RayRendererCfg(CameraRendererCfg):
    """Ray-casting camera renderer of the native engine: one ray per pixel.

    Depth and segmentation are as in MuJoCo's renderer. Colours are flat: geom and
    material colours in the light of the scene, without textures, gloss, shadows, haze
    or sky. Rays are cast on the engine's threads. Meant for small images of many
    worlds. The Warp engine uses Warp's renderer.
    """

    def open(self, sim: Simulation) -> CameraRenderer:
        """Return the renderer of a simulation's cameras."""
        # Imported here because it compiles Warp kernels.
        from mjlab.render.ray_renderer import RayRenderer

        return RayRenderer(sim)
