"""Tensors by name: writing where a mask holds, and looking at all of them."""

from collections.abc import Callable, Mapping

import torch

from mjlab.gym.worlds import Tree


def map_tree(change: Callable[[torch.Tensor], torch.Tensor], tree: Tree) -> Tree:
    """Change every tensor, and keep the names."""
    if isinstance(tree, Mapping):
        return {name: map_tree(change, part) for name, part in tree.items()}
    return change(tree)


def leaves(tree: Tree) -> list[torch.Tensor]:
    """All tensors, in the order of their names."""
    if isinstance(tree, Mapping):
        return [leaf for part in tree.values() for leaf in leaves(part)]
    return [tree]


def where_tree(mask: torch.Tensor, chosen: Tree, other: Tree) -> Tree:
    """Rows of `chosen` where `mask`, shape (num_envs,), holds, of `other` elsewhere."""
    if isinstance(chosen, Mapping):
        assert isinstance(other, Mapping), "The two have the same names."
        return {name: where_tree(mask, chosen[name], other[name]) for name in chosen}
    assert isinstance(other, torch.Tensor), "The two have the same names."
    rows = mask.view(-1, *(1,) * (chosen.ndim - 1))
    return torch.where(rows, chosen, other)
