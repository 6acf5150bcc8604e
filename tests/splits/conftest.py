"""Small sample tables for the tests of splits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from made_calls import make_calls

from course_lib.splits import SampleTable


@pytest.fixture
def calls() -> SampleTable:
    return make_calls()


@pytest.fixture
def shuffled() -> Callable[[SampleTable], SampleTable]:
    return lambda samples: samples.take(np.random.default_rng(7).permutation(len(samples)))
