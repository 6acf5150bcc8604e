"""One small model whose training step is the consumer of the measurements of loading."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

CLASS_COUNT = 10
"""Classes of the images that the model tells apart."""

Batch = dict[str, torch.Tensor]
"""What a loader delivers: at least ``image`` and ``label``."""


def build_model(seed: int) -> nn.Module:
    """Return a convolutional network for images of shape (3, 32, 32), with weights drawn from ``seed``.

    Returns
    -------
    torch.nn.Module
        Takes float32 of shape (batch, 3, 32, 32), gives one score for each of ten classes. 53,626 weights.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.Sequential(
            *_halving(3, 24),
            *_halving(24, 48),
            *_halving(48, 96),
            nn.AdaptiveAvgPool2d(1),
            nn.Flatten(),
            nn.Linear(96, CLASS_COUNT),
        )


def training_step(model: nn.Module, *, repeats: int = 1) -> Callable[[Batch], None]:
    """Return the function that trains ``model`` on one batch which is already on the model's device.

    Parameters
    ----------
    model : torch.nn.Module
        Changed by every call: forward pass, backward pass, one step of SGD with momentum.
    repeats : int
        The forward and backward pass is really done so often before the optimiser's step: a slow device
        without any sleeping.
    """
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss_of = nn.CrossEntropyLoss()

    def train_on(batch: Batch) -> None:
        for _ in range(repeats):
            optimiser.zero_grad(set_to_none=True)
            loss_of(model(as_model_input(batch["image"])), batch["label"]).backward()
        optimiser.step()

    return train_on


def as_model_input(images: torch.Tensor) -> torch.Tensor:
    """Return float32 images; whole numbers of 0 to 255 become -1 to 1 on the device they are on."""
    if images.dtype == torch.uint8:
        return images.float().div_(127.5).sub_(1.0)
    return images


def _halving(inputs: int, outputs: int) -> tuple[nn.Module, ...]:
    """Return layers that halve height and width, cheap enough for a laptop's CPU."""
    return nn.Conv2d(inputs, outputs, kernel_size=3, stride=2, padding=1), nn.ReLU(inplace=True)
