"""Physically consistent randomisation of mass, centre of mass and inertia."""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from mjlab.managers.managed_env import ManagedEnv
from mjlab.managers.term import ManagerTermBase, TermCfg
from mjlab.mdp.lookup import ROBOT, chosen
from mjlab.mdp.randomize.distributions import (
    Axis,
    Choice,
    Distribution,
    Operation,
    RandomizeError,
    Range,
    Ranges,
    Sampler,
    with_all_axes,
)
from mjlab.mdp.randomize.fields import FieldPart, FieldTerm, rows_of, stream_of
from mjlab.scene import SceneEntityCfg
from mjlab.tensors.math import quat_from_matrix, quat_to_matrix

_ANY = Range | dict[Axis, Range]


class body_mass(FieldTerm, field="body_mass", minimum=1e-6):
    """Scale body masses, and inertias in proportion, like a change of density."""

    @classmethod
    def model_fields(cls, params: dict[str, Any]) -> tuple[str, ...]:
        """Return the mass field, and the inertia field if `scale_inertia` is set."""
        scales = params.get("scale_inertia", True)
        return ("body_mass", "body_inertia") if scales else ("body_mass",)

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        self._inertia: FieldPart | None = None
        if not cfg.params.get("scale_inertia", True):
            return
        masses = self.part.default.tolist()
        for target, mass in zip(self.targets, masses, strict=True):
            if mass == 0.0:
                raise RandomizeError(
                    f"body_mass: body {self.choice.names[target.element]!r} has no "
                    "mass, so its inertia cannot be scaled. Set scale_inertia=False."
                )
        rows = [self.rows[target.element] for target in self.targets]
        self._inertia = FieldPart.rows(env.sim, "body_inertia", rows)

    def __call__(  # type: ignore[override]
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        ranges: Ranges,
        asset_cfg: SceneEntityCfg = ROBOT,
        operation: Operation | None = None,
        distribution: Distribution = "uniform",
        axes: Sequence[Axis] | None = None,
        shared_random: bool = False,
        group: str | None = None,
        stream: str = "randomize",
        scale_inertia: bool = True,
    ) -> None:
        """Draw masses and write them; `scale_inertia` scales inertias in proportion.

        See `FieldTerm` for the other parameters.
        """
        super().__call__(env, mask, ranges, group=group, stream=stream)

    def _write(self, mask: torch.Tensor, values: torch.Tensor) -> None:
        super()._write(mask, values)
        if self._inertia is not None:
            ratio = (values / self.part.default).unsqueeze(-1)
            scaled = ratio * self._inertia.default.view(-1, 3)
            self._inertia.write(mask, scaled.flatten(1))


class Bodies:
    """Compiled mass distribution of the chosen bodies, and its place in the model."""

    def __init__(self, env: ManagedEnv, params: dict[str, Any], label: str) -> None:
        names, rows = rows_of(chosen(params, env), "body")
        if not names:
            raise RandomizeError(
                f"{label}: asset_cfg selects no body. Name at least one."
            )
        fields = pseudo_inertia.model_fields
        parts = self._parts = [FieldPart.rows(env.sim, f, rows) for f in fields]
        self.count = len(rows)
        """Number of bodies."""
        self.mass = parts[0].default.double()
        """Compiled masses, shape (bodies,), kg."""
        for name, mass in zip(names, self.mass.tolist(), strict=True):
            if mass == 0.0:
                raise RandomizeError(f"{label}: the body {name!r} has no mass.")
        self.com = parts[1].default.double().view(-1, 3)
        """Centres of mass in the bodies' frames, shape (bodies, 3), m."""
        moments = parts[2].default.double().view(-1, 3)
        axes = quat_to_matrix(parts[3].default.double().view(-1, 4))
        self.inertia = rows_dot(axes * moments.unsqueeze(-2), axes)
        """Inertias about the centres of mass, in the bodies' axes, shape
        (bodies, 3, 3), kg m²."""
        # Load the CUDA kernel now: it cannot be loaded during graph capture.
        everyone = torch.ones(1, dtype=torch.bool, device=env.device)
        principal_axes(self.inertia[None], everyone)

    def write(
        self,
        mask: torch.Tensor,
        mass: torch.Tensor,
        com: torch.Tensor,
        inertia: torch.Tensor,
    ) -> None:
        """Write mass distributions, float64, in the worlds of `mask`.

        Args:
            mask: Worlds to write, shape (num_envs,), bool.
            mass: Shape (num_envs, bodies).
            com: Shape (num_envs, bodies, 3).
            inertia: About the centre of mass, bodies' axes, (num_envs, bodies, 3, 3).
        """
        moments, axes = principal_axes(inertia, mask)
        quat = quat_from_matrix(axes)
        values = (mass, com.flatten(1), moments.flatten(1), quat.flatten(1))
        for part, value in zip(self._parts, values, strict=True):
            part.write(mask, value.float())


class pseudo_inertia(ManagerTermBase):
    """Deform the mass distribution of bodies in a physically consistent way.

    Space around the centre of mass c is deformed by x → c + t + A (x - c), with A upper
    triangular: exp(d1), exp(d2), exp(d3) on the diagonal, s12, s13, s23 above it. Mass
    is multiplied by exp(2 alpha). The pseudo-inertia matrix P about c becomes U P U^T,
    where U = exp(alpha) [[A, t], [0, 1]] has the ten parameters of Rucker and Wensing
    (2022), "Smooth parameterization of rigid-body inertia". If all parameters are zero,
    nothing changes.
    """

    model_fields = ("body_mass", "body_ipos", "body_inertia", "body_iquat")

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        self._bodies = Bodies(env, cfg.params, "pseudo_inertia")
        eye = torch.eye(3, dtype=torch.float64, device=env.device)
        self._eye = eye
        inertia = self._bodies.inertia
        trace = inertia.diagonal(dim1=-2, dim2=-1).sum(dim=-1)
        # Second moments of mass about the centre of mass.
        self._moments = 0.5 * trace[..., None, None] * eye - inertia
        names = ("alpha", "d1", "d2", "d3", "s12", "s13", "s23", "t1", "t2", "t3")
        ranges = _ten_ranges(cfg.params, names)
        choice = Choice(
            names=[str(index) for index in range(self._bodies.count)],
            num_axes=10,
            what="body",
            label="pseudo_inertia",
            axis_names=names,
        )
        targets = choice.resolve(ranges)
        self._sampler = Sampler(targets, choice.label, env.device, cfg.params)

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        asset_cfg: SceneEntityCfg = ROBOT,
        alpha_range: Range = (0.0, 0.0),
        d_range: _ANY = (0.0, 0.0),
        s_range: _ANY = (0.0, 0.0),
        t_range: _ANY = (0.0, 0.0),
        distribution: Distribution = "uniform",
        shared_random: bool = False,
        group: str | None = None,
        stream: str = "randomize",
    ) -> None:
        """Draw parameters; write masses, centres of mass, inertias and inertia axes.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            asset_cfg: The bodies.
            alpha_range: Half the logarithm of the mass factor.
            d_range: Logarithms of the stretch along the body's axes: one range, or
                ranges by "d1", "d2", "d3".
            s_range: Shears: one range, or ranges by "s12", "s13", "s23".
            t_range: Shift of the centre of mass, m: one range, or ranges by "t1", "t2",
                "t3".
            distribution: Distribution of the parameters.
            shared_random: Whether all bodies have the same draw.
            group: Name of a group of correlated terms; see `FieldTerm`.
            stream: Name of the random stream, set by the event manager.
        """
        drawn = self._sampler.draw(env.rng, stream_of(group, stream)).double()
        theta = drawn.view(env.num_envs, self._bodies.count, 10)
        log_scale = theta[..., :4].exp()
        growth = log_scale[..., :1].square()
        d1, d2, d3 = log_scale[..., 1:].unbind(dim=-1)
        s12, s13, s23, *_ = theta[..., 4:].unbind(dim=-1)
        zero = torch.zeros_like(d1)
        entries = (d1, s12, s13, zero, d2, s23, zero, zero, d3)
        deform = torch.stack(entries, dim=-1).unflatten(-1, (3, 3))
        moments = rows_dot(rows_dot(deform, self._moments), deform)
        moments = growth.unsqueeze(-1) * moments
        trace = moments.diagonal(dim1=-2, dim2=-1).sum(dim=-1)
        inertia = trace[..., None, None] * self._eye - moments
        mass = growth.squeeze(-1) * self._bodies.mass
        self._bodies.write(mask, mass, self._bodies.com + theta[..., 7:], inertia)


class payload(ManagerTermBase):
    """Attach a payload to bodies: a point mass, or a box along the body's axes.

    The payload is added to the compiled body. This term cannot be combined with another
    term that randomises mass, centre of mass or inertia of the same body.
    """

    model_fields = ("body_mass", "body_ipos", "body_inertia", "body_iquat")

    def __init__(self, cfg: TermCfg, env: ManagedEnv) -> None:
        super().__init__(cfg, env)
        params = cfg.params
        self._bodies = Bodies(env, params, "payload")
        self._eye = torch.eye(3, dtype=torch.float64, device=env.device)
        names = [str(index) for index in range(self._bodies.count)]
        mass = Choice(names=names, num_axes=1, what="body", label="payload")
        xyz = dataclasses.replace(mass, num_axes=3, axis_names=("x", "y", "z"))
        masses = mass.resolve(params["mass_range"])
        if masses[0].low < 0.0:
            raise RandomizeError(
                f"payload: mass_range={params['mass_range']} has to be 0 or more."
            )
        positions = xyz.resolve(
            with_all_axes(params.get("pos_range", (0.0, 0.0)), "xyz")
        )
        self._mass = Sampler(masses, "payload", env.device, params)
        self._pos = Sampler(positions, "payload", env.device, params)
        size = params.get("half_size", (0.0, 0.0, 0.0))
        if len(size) != 3 or min(size) < 0.0:
            raise RandomizeError(
                f"payload: half_size={size} has to be three numbers, 0 or more."
            )
        x, y, z = (float(extent) ** 2 / 3.0 for extent in size)
        moments = torch.tensor([y + z, x + z, x + y], dtype=torch.float64)
        # The inertia of a box of mass 1 about its centre.
        self._box = torch.diag(moments).to(env.device)

    def __call__(
        self,
        env: ManagedEnv,
        mask: torch.Tensor,
        mass_range: Range,
        pos_range: _ANY = (0.0, 0.0),
        half_size: tuple[float, float, float] = (0.0, 0.0, 0.0),
        asset_cfg: SceneEntityCfg = ROBOT,
        shared_random: bool = False,
        group: str | None = None,
        stream: str = "randomize",
    ) -> None:
        """Draw payloads; write masses, centres of mass, inertias and inertia axes.

        Args:
            env: The environment.
            mask: The worlds to write, shape (num_envs,), bool.
            mass_range: Mass of the payload, kg.
            pos_range: Position of the payload's centre in the body's frame, m: one
                range for all axes, or ranges by "x", "y", "z".
            half_size: Half extents of a box of uniform density, m; zero for a point.
            asset_cfg: The bodies.
            shared_random: Whether all bodies have the same payload.
            group: Name of a group of correlated terms; see `FieldTerm`.
            stream: Name of the random stream, set by the event manager.
        """
        name, bodies = stream_of(group, stream), self._bodies
        added = self._mass.draw(env.rng, f"{name}/mass").double()
        pos = self._pos.draw(env.rng, f"{name}/pos").double()
        pos = pos.view(env.num_envs, bodies.count, 3)
        mass = bodies.mass + added
        share = (added / mass).unsqueeze(-1)
        apart = pos - bodies.com
        com = bodies.com + share * apart
        # Two point masses have the same inertia about their common centre of mass as a
        # point mass of their reduced mass, at their mutual distance.
        reduced = (share.squeeze(-1) * bodies.mass)[..., None, None]
        inertia = bodies.inertia + reduced * _about(apart, self._eye)
        inertia = inertia + added[..., None, None] * self._box
        bodies.write(mask, mass, com, inertia)


def rows_dot(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Return left times the transpose of right, for matrices (..., 3, 3).

    Each entry is a sum over the last dimension, so a result is bitwise independent of
    the number of matrices. `matmul` does not guarantee this.
    """
    return (left.unsqueeze(-2) * right.unsqueeze(-3)).sum(dim=-1)


def _about(offset: torch.Tensor, eye: torch.Tensor) -> torch.Tensor:
    """Return the inertia of a unit point mass at `offset`, shape (..., 3, 3)."""
    square = offset.square().sum(dim=-1)[..., None, None]
    return square * eye - offset.unsqueeze(-1) * offset.unsqueeze(-2)


def _ten_ranges(params: dict[str, Any], names: Sequence[str]) -> dict[Axis, Range]:
    ranges: dict[Axis, Range] = dict.fromkeys(names, (0.0, 0.0))
    ranges["alpha"] = params.get("alpha_range", (0.0, 0.0))
    for letter in "dst":
        own = [name for name in names if name.startswith(letter)]
        given: Any = params.get(f"{letter}_range", (0.0, 0.0))
        if not isinstance(given, dict):
            given = dict.fromkeys(own, given)
        wrong = [key for key in given if key not in own]
        if wrong:
            raise RandomizeError(
                f"pseudo_inertia: {letter}_range has an unknown key, {wrong[0]!r}. "
                f"Valid: {own}."
            )
        ranges |= given
    return ranges


# Principal axes, as a custom operator on every device.


def principal_axes(
    inertia: torch.Tensor, mask: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return principal moments, largest first, and the principal axes.

    Worlds outside the mask are skipped and get zero moments and identity axes.

    Args:
        inertia: Symmetric, shape (num_envs, n, 3, 3), float64.
        mask: Worlds to compute, shape (num_envs,), bool.

    Returns:
        Moments, shape (num_envs, n, 3), and right-handed rotation matrices whose
        columns are the axes, shape (num_envs, n, 3, 3); both float64.
    """
    return torch.ops.mjlab.principal_axes(inertia, mask)


def _on_cpu(
    inertia: torch.Tensor, mask: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    moments, axes = _on_meta(inertia, mask)
    moments.zero_()
    axes.copy_(torch.eye(3, dtype=axes.dtype))
    chosen = mask.numpy()
    if chosen.any():
        # LAPACK solves one matrix at a time, so results are independent.
        values, vectors = np.linalg.eigh(inertia.numpy()[chosen])
        values, vectors = values[..., ::-1], vectors[..., ::-1].copy()
        vectors *= np.sign(np.linalg.det(vectors))[..., None, None]
        moments.numpy()[chosen] = values
        axes.numpy()[chosen] = vectors
    return moments, axes


def _on_cuda(
    inertia: torch.Tensor, mask: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    # Import Warp only for computation on a CUDA device.
    from mjlab.mdp.randomize.principal_kernel import launch_principal_axes

    moments, axes = _on_meta(inertia, mask)
    launch_principal_axes(inertia.contiguous(), mask, moments, axes)
    return moments, axes


def _on_meta(
    inertia: torch.Tensor, mask: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    axes = torch.empty_like(inertia, memory_format=torch.contiguous_format)
    return axes.new_empty(axes.shape[:-1]), axes


_LIBRARY = torch.library.Library("mjlab", "FRAGMENT")
_LIBRARY.define("principal_axes(Tensor inertia, Tensor mask) -> (Tensor, Tensor)")
_LIBRARY.impl("principal_axes", _on_cpu, "CPU")
_LIBRARY.impl("principal_axes", _on_cuda, "CUDA")
_LIBRARY.impl("principal_axes", _on_meta, "Meta")
