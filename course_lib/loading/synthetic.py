"""Synthetic input: batches of the same shape, type and placement as real ones, without reading anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from course_lib.errors import CourseError

if TYPE_CHECKING:
    import torch

    from course_lib.loading.model import Batch

Placement = Literal["host", "device"]


@dataclass(frozen=True)
class InputDescription:
    """What the model was fed in one run.

    Attributes
    ----------
    shape : tuple of int
        Of one batch of images.
    dtype : str
        For example ``"torch.uint8"``.
    label_dtype : str
        Type of the labels.
    delivered_on : str
        Kind of the device on which a batch arrives from its source, for example ``"cpu"``.
    computed_on : str
        Kind of the device on which the model is fed.
    steps : int
        Measured steps, warm-up left out.
    """

    shape: tuple[int, ...]
    dtype: str
    label_dtype: str
    delivered_on: str
    computed_on: str
    steps: int

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for a record."""
        return {**asdict(self), "shape": list(self.shape)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> InputDescription:
        """Return the description that :meth:`as_dict` gave."""
        return cls(**{**values, "shape": tuple(values["shape"])})

    def __str__(self) -> str:
        """Say it in one line."""
        shape = " x ".join(map(str, self.shape))
        dtype = self.dtype.removeprefix("torch.")
        return f"{shape} {dtype}, delivered on {self.delivered_on}, {self.steps} steps"


def describe_input(batch: Batch, *, computed_on: torch.device, steps: int) -> InputDescription:
    """Describe the batches of a run by one of them, as its source delivered it."""
    image, label = batch["image"], batch["label"]
    return InputDescription(
        shape=tuple(image.shape),
        dtype=str(image.dtype),
        label_dtype=str(label.dtype),
        delivered_on=image.device.type,
        computed_on=computed_on.type,
        steps=steps,
    )


def refuse_unlike(real: InputDescription, synthetic: InputDescription, placement: Placement = "host") -> None:
    """Refuse to compare real with synthetic input that differs in anything but where it comes from.

    Parameters
    ----------
    real, synthetic : InputDescription
        One of each.
    placement : {"host", "device"}
        Stated placement of the synthetic input. ``"device"`` leaves the transfer out on purpose; then only
        the device on which both are computed must be the same.

    Raises
    ------
    CourseError
        When shape, type, placement or number of steps differ.
    """
    for name in ("shape", "dtype", "label_dtype", "delivered_on", "computed_on", "steps"):
        if name == "delivered_on" and placement == "device":
            continue
        expected, found = getattr(real, name), getattr(synthetic, name)
        if expected != found:
            raise CourseError(
                f"Real and synthetic input cannot be compared, because {name} differs",
                expected=expected,
                found=found,
                next_step="make the synthetic input from a batch of the real one",
            )


def synthetic_batches(like: Batch, seed: int, *, device: torch.device | None = None) -> Iterator[Batch]:
    """Yield one seeded batch again and again, without end.

    Parameters
    ----------
    like : dict of tensor
        A real batch, whose shapes and types are taken over; its values are not.
    seed : int
        Of the values.
    device : torch.device, optional
        Where the batch lies ready; in the host's memory when left out.
    """
    import torch

    from course_lib.loading.model import CLASS_COUNT

    generator = torch.Generator().manual_seed(seed)
    image, label = like["image"], like["label"]
    if image.dtype.is_floating_point:
        made = torch.randn(image.shape, generator=generator).to(image.dtype)
    else:
        made = torch.randint(0, 256, image.shape, generator=generator).to(image.dtype)
    labels = torch.randint(0, CLASS_COUNT, label.shape, generator=generator).to(label.dtype)
    batch = {"image": made, "label": labels}
    if device is not None:
        batch = {name: tensor.to(device) for name, tensor in batch.items()}
    while True:
        yield batch
