"""The varied input of a PyTorch program with other numbers in it, and its numbers on the host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .dense import dense

if TYPE_CHECKING:
    from torch import Tensor

    from .setting import Setting


@dataclass(frozen=True)
class Variation:
    """How the varied input is changed; the positions lie along `axis`."""

    axis: int

    def replaced(self, x: Tensor, positions: np.ndarray, scale: float, seed: int, vocabulary: int | None) -> Tensor:
        """The input with the positions replaced: other tokens, or noise of the input's spread times the scale."""
        import torch

        x = x.clone()
        where = torch.from_numpy(positions).to(x.device)
        rows = x.movedim(self.axis, 0)
        old = rows[where]
        generator = torch.Generator().manual_seed(1000003 * seed + int(positions[0]) + len(positions))
        if x.is_floating_point() or x.is_complex():
            spread = float(_spread(x)) * scale
            real = torch.complex128 if x.is_complex() else torch.float64
            new = (spread * torch.randn(old.shape, generator=generator, dtype=real)).to(x.dtype).to(x.device)
        else:
            bound = 2 if x.dtype is torch.bool else int(vocabulary or 2)
            shift = torch.randint(1, max(bound, 2), old.shape, generator=generator).to(x.device)
            new = ((old.long() + shift) % bound).to(x.dtype)
        rows[where] = new
        return x

    def mixed(self, x: Tensor, changed: Tensor, positions: np.ndarray) -> Tensor:
        """The input with the positions of another one."""
        import torch

        mixed = x.clone()
        where = torch.from_numpy(positions).to(x.device)
        mixed.movedim(self.axis, 0)[where] = changed.movedim(self.axis, 0)[where]
        return mixed

    def shaken(self, x: Tensor, epsilon: float, seed: int, wide: bool) -> Tensor:
        """The input moved by a few last places, where it holds real numbers; in double precision where `wide`."""
        import torch

        if not x.is_floating_point():
            return x
        generator = torch.Generator().manual_seed(seed)
        noise = torch.randn(x.shape, generator=generator, dtype=torch.float64).to(x.device)
        return (x.double() * (1 + epsilon * noise)).to(torch.float64 if wide else x.dtype)

    def host(self, x: Tensor, wide: bool = False) -> np.ndarray:
        """The numbers as an array of NumPy, in double precision where it is asked for or NumPy has no such type.

        It may lie in the tensor's memory.
        """
        import torch

        x = dense(x).cpu()
        wide = (wide and x.is_floating_point()) or x.dtype is torch.bfloat16
        array: np.ndarray = (x.double() if wide else x).numpy()
        return array

    def back(self, x: np.ndarray, like: Tensor | None, dtype: str, setting: Setting) -> Tensor:
        """The numbers of a varied input as one, of its own type in a native run, where `like` lies."""
        import torch

        t = torch.from_numpy(np.array(x))
        if setting.precision == "native":
            t = t.to(getattr(torch, dtype))
        return t if like is None else t.to(like.device)

    @staticmethod
    def type_of(x: Tensor) -> str:
        """The name of the number format."""
        return str(x.dtype).removeprefix("torch.")


def _spread(x: Tensor) -> Tensor:
    import torch

    magnitude = x.detach().abs().double()
    rms = magnitude[torch.isfinite(magnitude)].square().mean().sqrt()
    return rms if bool(rms > 0) else torch.ones_like(rms)
