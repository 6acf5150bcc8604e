"""The device that computes: which one, and when its work is really done.

On an accelerator (CUDA, MPS) an operation returns as soon as it is queued, so a clock that is read without
synchronising times the submission only. On the CPU an operation has finished when it returns.
"""

from __future__ import annotations

import torch

from course_lib.errors import CourseError

KINDS = ("auto", "cpu", "cuda", "mps")
"""Names of devices that a measurement takes; ``"cuda:1"`` and the like are fine too."""


def chosen_device(name: str = "auto") -> torch.device:
    """Return the device of that name, or the machine's accelerator, else the CPU, for ``"auto"``.

    Raises
    ------
    CourseError
        When there is no such device here.
    """
    accelerator = _accelerator()
    if name == "auto":
        return accelerator or torch.device("cpu")
    here = ("cpu", accelerator.type) if accelerator else ("cpu",)
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError) as error:
        raise CourseError(f"{name!r} is no device", expected=" or ".join(("auto", *here))) from error
    if device.type not in here or (device.index or 0) >= _device_count(device):
        raise CourseError(
            f"The device {name} is not on this machine",
            expected=" or ".join(("auto", *here)),
            next_step="choose auto, which takes the accelerator where there is one",
        )
    return device


def synchronise(device: torch.device) -> None:
    """Wait until everything queued on ``device`` is done, by the device's own call; nothing on the CPU."""
    if device.type != "cpu":
        torch.accelerator.synchronize(device)


def describe_device(device: torch.device) -> str:
    """Say what computes, and how its times come to be true.

    Examples
    --------
    >>> describe_device(torch.device("cpu"))  # doctest: +SKIP
    'CPU, 2 threads; its operations have finished when they return, so nothing is synchronised'
    """
    if device.type == "cpu":
        threads = torch.get_num_threads()
        return (
            f"CPU, {threads} thread{'' if threads == 1 else 's'}; its operations have finished when they "
            "return, so nothing is synchronised"
        )
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type.upper()
    return f"{name} ({device}); synchronised by torch.accelerator.synchronize at every limit"


def _accelerator() -> torch.device | None:
    return torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None


def _device_count(device: torch.device) -> int:
    return 1 if device.type == "cpu" else torch.accelerator.device_count()
