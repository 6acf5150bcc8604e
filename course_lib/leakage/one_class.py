"""All images of one class out of both official parts, to be compared with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.leakage.detectors import Parts

if TYPE_CHECKING:
    from course_lib.datasets import ImageSet


def images_of_class(train: ImageSet, test: ImageSet, name: str) -> tuple[Parts, NDArray[np.uint8]]:
    """Return the ids and the pixels of one class.

    Parameters
    ----------
    train, test : ImageSet
        The official parts, without a transform.
    name : str
        One of the class names.

    Returns
    -------
    Parts
        The ids, and of which part each is.
    ndarray of uint8, shape (samples, height, width, 3)
        In the order of these ids.

    Raises
    ------
    CourseError
        When there is no such class.
    """
    if name not in train.classes:
        raise CourseError("There is no such class", expected=" or ".join(train.classes), found=repr(name))
    label = train.classes.index(name)
    ids, codes, pixels = [], [], []
    for code, part in enumerate((train, test)):
        for at in np.flatnonzero(np.asarray(part.labels) == label).tolist():
            ids.append(part.sample_id(at))
            codes.append(code)
            pixels.append(np.asarray(part[at][0]))
    return Parts(ids, np.array(codes, dtype=np.int8)), np.stack(pixels)
