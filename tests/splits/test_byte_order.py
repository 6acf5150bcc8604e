"""The order of texts by their bytes: that of Python sorting the bytes, equal texts as they came."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.splits import byte_order as module
from course_lib.splits.byte_order import byte_order

# Few letters and lengths around a word of 8 bytes, so that many texts are alike for one word or more.
TEXTS = st.lists(st.text("ab9é图", max_size=12), min_size=1, max_size=40)


def by_bytes(texts: list[str]) -> list[int]:
    return sorted(range(len(texts)), key=lambda place: texts[place].encode("utf-8"))


@settings(deadline=None)
@given(TEXTS, st.sampled_from(["", "x", "sample-00", "éé-"]))
def test_texts_of_any_length_are_in_the_order_of_their_bytes(texts: list[str], beginning: str) -> None:
    texts = [beginning + text for text in texts]
    assert byte_order(pa.array(texts)).tolist() == by_bytes(texts)


def test_scripts_are_ordered_by_bytes_and_not_by_language() -> None:
    texts = ["é", "z", "Z", "图", "\U0001f600", "\ufb01", "a"]
    assert byte_order(pa.array(texts)).tolist() == by_bytes(texts)


def test_a_slice_is_ordered_by_its_own_texts() -> None:
    texts = [f"row-{number:04d}" for number in (7, 3, 9, 1, 8, 2)]
    assert byte_order(pa.array(texts)[1:5]).tolist() == by_bytes(texts[1:5])


def test_blocks_leave_no_trace_in_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"row-{number}" for number in np.random.default_rng(5).permutation(200).tolist()]
    monkeypatch.setattr(module, "_BLOCK", 7)
    assert byte_order(pa.array(texts)).tolist() == by_bytes(texts)


def test_equal_texts_stay_in_the_order_they_came_in() -> None:
    texts = ["same-text", "a", "same-text", "same-text", "b", "a"] * 20
    assert byte_order(pa.array(texts)).tolist() == by_bytes(texts)
