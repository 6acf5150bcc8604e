"""PyTorch's DataLoader over the workbook's samples, whose failures are told in plain words."""

from __future__ import annotations

import multiprocessing
import multiprocessing.util
import os
import sys
import tempfile
import traceback
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader

from course_lib.errors import CourseError
from course_lib.loading.conditions import LoaderConditions, check_batches
from course_lib.loading.failures import explained
from course_lib.loading.samples import LoadedSamples
from course_lib.loading.sampling import EpochSampler

_LONGEST_SOCKET_PATH = 107 if sys.platform == "linux" else 103
_LONGEST_FOLDER = _LONGEST_SOCKET_PATH - len("/pymp-12345678/listener-12345678")


class ExplainedLoader(DataLoader[Any]):
    """A DataLoader that raises CourseError when a worker is killed, hangs or cannot prepare a sample.

    After a failure its workers are given up, so that it can be read again with new ones.
    """

    sampler: EpochSampler

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        try:
            yield from super().__iter__()
        except (Exception, KeyboardInterrupt) as error:
            self._iterator = None
            if self.num_workers:
                # A notebook keeps the last traceback, and its frames would keep the workers alive.
                for each in (error, error.__cause__, error.__context__):
                    if each is not None:
                        traceback.clear_frames(each.__traceback__)
            if isinstance(error, KeyboardInterrupt):
                raise
            told = explained(error, has_workers=self.num_workers > 0)
            if told is error:
                raise
            raise told from error


def build_loader(samples: LoadedSamples, conditions: LoaderConditions) -> ExplainedLoader:
    """Return the DataLoader of one run; nothing is read and no worker starts before it is iterated.

    Parameters
    ----------
    samples : LoadedSamples
        From :func:`course_lib.loading.open_samples`, for the same conditions.
    conditions : LoaderConditions
        How to load.

    Returns
    -------
    ExplainedLoader
        Hands out dicts of "image", "label" and "position"; the last batch may be smaller. Before
        each further epoch call ``loader.sampler.set_epoch(...)``.

    Raises
    ------
    CourseError
        When there are fewer samples than a batch or fewer batches than workers, for a start method
        that this system does not have, and where the folder for temporary files has too long a name.
    """
    check_batches(conditions, len(samples))
    options: dict[str, Any] = {}
    if conditions.workers:
        methods = multiprocessing.get_all_start_methods()
        if conditions.start_method and conditions.start_method not in methods:
            raise CourseError(
                "Workers cannot be started in this way here",
                expected=f"one of {', '.join(methods)}",
                found=conditions.start_method,
            )
        _need_room_for_sockets()
        options = {
            "prefetch_factor": conditions.prefetch,
            "persistent_workers": conditions.persistent_workers,
            "timeout": conditions.batch_seconds_at_most,
            "multiprocessing_context": conditions.start_method or None,
        }
    return ExplainedLoader(
        samples,
        batch_size=conditions.batch_size,
        sampler=EpochSampler(
            len(samples), shuffle=conditions.shuffle, seed=conditions.seed, epoch=conditions.epoch
        ),
        num_workers=conditions.workers,
        **options,
    )


def _need_room_for_sockets() -> None:
    """Refuse a folder in which workers could make no socket: their batches would be lost without a word."""
    chooses_itself = hasattr(multiprocessing.util, "_get_base_temp_dir")  # newer Pythons take a shorter one
    if os.name == "nt" or chooses_itself or torch.multiprocessing.get_sharing_strategy() != "file_descriptor":
        return
    folder = tempfile.gettempdir()
    if len(os.fsencode(folder)) > _LONGEST_FOLDER:
        raise CourseError(
            "The folder for temporary files has too long a name for workers to hand batches over",
            expected=f"at most {_LONGEST_FOLDER} bytes",
            found=f"{len(os.fsencode(folder))}: {folder}",
            next_step="set the environment variable TMPDIR to a shorter folder, for example /tmp",
        )
