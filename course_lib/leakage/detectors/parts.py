"""The three columns that most detectors need from a split: ids, the part of each, and the parts' names."""

from __future__ import annotations

from collections.abc import Iterable, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError

if TYPE_CHECKING:
    import pyarrow

    from course_lib.splits import SampleTable


@dataclass(frozen=True, eq=False)
class Parts:
    """Which sample lies in which part.

    Attributes
    ----------
    ids : sequence of str, or pyarrow.Array
        Sample ids.
    codes : ndarray of int8, shape (samples,)
        Place of each sample's part in ``names``; the first name is the training part.
    names : tuple of str
    """

    ids: Any
    codes: NDArray[np.int8]
    names: tuple[str, ...] = ("train", "test")

    def __post_init__(self) -> None:
        codes = np.asarray(self.codes)
        if len(codes) != len(self.ids):
            raise CourseError(
                "A split needs one part for each sample", expected=f"{len(self.ids)} parts", found=len(codes)
            )
        if len(codes) and not 0 <= codes.min() <= codes.max() < len(self.names):
            raise CourseError(
                "A split has a part without a name",
                expected=f"codes 0 to {len(self.names) - 1} for {', '.join(self.names)}",
                found=f"{codes.min()} to {codes.max()}",
            )
        object.__setattr__(self, "codes", codes.astype(np.int8))

    def __len__(self) -> int:
        return len(self.codes)

    def ids_at(self, positions: Iterable[int]) -> tuple[str, ...]:
        """Return the ids at ``positions``, in their order."""
        return tuple(str(self.ids[int(position)]) for position in positions)

    def arrow_ids(self) -> pyarrow.Array:
        """Return the ids as an Arrow array of strings."""
        import pyarrow as pa

        if isinstance(self.ids, pa.ChunkedArray):
            return self.ids.combine_chunks()
        return self.ids if isinstance(self.ids, pa.Array) else pa.array(list(self.ids), type=pa.string())

    def positions_in(self, samples: SampleTable) -> NDArray[np.intp]:
        """Return where each of these ids stands in ``samples``.

        Raises
        ------
        CourseError
            When the data set lacks some of them.
        """
        import pyarrow.compute as pc

        found = pc.index_in(self.arrow_ids(), value_set=samples.ids)
        if found.null_count:
            first = self.ids_at([int(np.flatnonzero(np.asarray(found.is_null()))[0])])[0]
            raise CourseError(
                f"{samples.dataset} lacks samples of the split",
                expected=f"{len(self):,} samples",
                found=f"{found.null_count:,} missing, the first is {first}",
                next_step="use the data that the split was made from",
            )
        return np.asarray(found, dtype=np.intp)

    def aligned(self, values: Sized, what: str) -> None:
        """Check that there is one value for each sample.

        Raises
        ------
        CourseError
            When the numbers differ.
        """
        if len(values) != len(self):
            raise CourseError(
                f"The {what} do not match the split",
                expected=f"{len(self):,}, one for each sample",
                found=f"{len(values):,}",
                next_step="give them in the order of the split's ids",
            )


def parts_of(split: Any) -> Parts:
    """Return the columns of a `Split`, a `SplitManifest` or of `Parts` themselves."""
    if isinstance(split, Parts):
        return split
    ids = split.samples.ids if hasattr(split, "samples") else split.ids
    return Parts(ids, split.codes, tuple(split.names))
