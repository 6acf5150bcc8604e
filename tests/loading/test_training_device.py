"""Devices, transfers, the model and synthetic input; a machine without an accelerator plays one here."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any

import pytest
import torch

from course_lib.errors import CourseError
from course_lib.loading.candidates import mover
from course_lib.loading.device import chosen_device, describe_device, synchronise
from course_lib.loading.model import as_model_input, build_model, training_step
from course_lib.loading.synthetic import describe_input, refuse_unlike, synthetic_batches

CPU = torch.device("cpu")


class FakeAccelerator:
    """Stands in for ``torch.accelerator`` and notes which device was synchronised."""

    def __init__(self, kind: str, count: int = 1) -> None:
        self.kind, self.count = kind, count
        self.synchronised: list[torch.device] = []

    def is_available(self) -> bool:
        return self.count > 0

    def current_accelerator(self) -> torch.device:
        return torch.device(self.kind)

    def device_count(self) -> int:
        return self.count

    def synchronize(self, device: torch.device) -> None:
        self.synchronised.append(device)


@pytest.fixture
def accelerator(monkeypatch: pytest.MonkeyPatch) -> Any:
    def install(kind: str, count: int = 1) -> FakeAccelerator:
        fake = FakeAccelerator(kind, count)
        monkeypatch.setattr(torch, "accelerator", fake)
        return fake

    return install


def real_batch(dtype: torch.dtype = torch.uint8) -> dict[str, torch.Tensor]:
    return {
        "image": torch.zeros((8, 3, 32, 32), dtype=dtype),
        "label": torch.zeros(8, dtype=torch.int64),
        "position": torch.arange(8),
    }


@pytest.mark.parametrize("kind", ["cuda", "mps"])
def test_auto_takes_the_accelerator_and_synchronises_it_by_its_own_call(accelerator: Any, kind: str) -> None:
    fake = accelerator(kind)

    device = chosen_device("auto")
    synchronise(device)

    assert device.type == kind
    assert fake.synchronised == [torch.device(kind)]


def test_nothing_is_synchronised_on_the_cpu_and_the_description_says_so(accelerator: Any) -> None:
    fake = accelerator("cuda")

    synchronise(CPU)

    assert fake.synchronised == []
    assert "nothing is synchronised" in describe_device(CPU)


def test_auto_is_the_cpu_where_there_is_no_accelerator(accelerator: Any) -> None:
    accelerator("cuda", count=0)

    assert chosen_device("auto") == CPU
    assert chosen_device("cpu") == CPU


def test_an_accelerator_is_described_with_how_it_is_synchronised() -> None:
    assert "torch.accelerator.synchronize" in describe_device(torch.device("mps"))


@pytest.mark.parametrize(
    ("kind", "count", "name"), [("cuda", 0, "cuda"), ("mps", 1, "cuda"), ("cuda", 2, "cuda:2")]
)
def test_a_device_that_is_not_there_is_refused(accelerator: Any, kind: str, count: int, name: str) -> None:
    accelerator(kind, count)

    with pytest.raises(CourseError, match="is not on this machine"):
        chosen_device(name)


def test_a_second_accelerator_can_be_named(accelerator: Any) -> None:
    accelerator("cuda", 2)

    assert chosen_device("cuda:1") == torch.device("cuda:1")


def test_a_word_that_is_no_device_is_refused() -> None:
    with pytest.raises(CourseError, match="no device"):
        chosen_device("abacus")


class FakeTensor:
    """Notes how it was moved."""

    def __init__(self, moves: list[str], name: str) -> None:
        self.moves, self.name = moves, name

    def pin_memory(self) -> FakeTensor:
        self.moves.append(f"pin {self.name}")
        return self

    def to(self, device: torch.device, non_blocking: bool = False) -> FakeTensor:
        self.moves.append(f"move {self.name} to {device}{' without blocking' if non_blocking else ''}")
        return self


@pytest.mark.parametrize(
    ("pinned", "expected"),
    [
        (False, ["move image to cuda", "move label to cuda"]),
        (
            True,
            [
                "pin image",
                "move image to cuda without blocking",
                "pin label",
                "move label to cuda without blocking",
            ],
        ),
    ],
)
def test_only_pinned_batches_are_moved_without_blocking(pinned: bool, expected: list[str]) -> None:
    moves: list[str] = []
    batch = {name: FakeTensor(moves, name) for name in ("image", "label", "position")}

    mover(torch.device("cuda"), pinned=pinned)(batch)  # type: ignore[arg-type]

    assert moves == expected


@pytest.mark.parametrize("kind", ["cpu", "mps"])
def test_pinned_memory_is_refused_without_cuda(kind: str) -> None:
    with pytest.raises(CourseError, match="CUDA devices only"):
        mover(torch.device(kind), pinned=True)


def test_on_the_cpu_nothing_is_moved() -> None:
    batch = real_batch()

    assert mover(CPU)(batch)["image"] is batch["image"]


def test_the_same_seed_gives_the_same_weights_and_leaves_the_global_generator_alone() -> None:
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)

    first, second, other = build_model(7), build_model(7), build_model(8)

    assert torch.equal(torch.rand(3), expected)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert not torch.equal(next(first.parameters()), next(other.parameters()))
    assert first(torch.zeros(2, 3, 32, 32)).shape == (2, 10)


@pytest.mark.parametrize("repeats", [1, 3])
def test_a_slow_device_does_the_real_forward_and_backward_pass_again(repeats: int) -> None:
    model = build_model(7)
    before = next(model.parameters()).clone()
    passes = []
    model.register_forward_hook(lambda *_: passes.append("forward"))
    next(model.parameters()).register_hook(lambda _: passes.append("backward"))

    training_step(model, repeats=repeats)({**real_batch(), "image": torch.full((8, 3, 32, 32), 9).byte()})

    assert passes == ["forward", "backward"] * repeats
    assert not torch.equal(next(model.parameters()), before)


def test_bytes_and_normalised_images_reach_the_model_on_the_same_scale() -> None:
    assert as_model_input(torch.tensor([0, 255], dtype=torch.uint8)).tolist() == [-1.0, 1.0]
    floats = torch.tensor([0.5])
    assert as_model_input(floats) is floats


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_synthetic_input_is_alike_in_shape_type_and_placement(dtype: torch.dtype) -> None:
    real = real_batch(dtype)
    synthetic = next(synthetic_batches(real, seed=1))

    refuse_unlike(
        describe_input(real, computed_on=CPU, steps=3), describe_input(synthetic, computed_on=CPU, steps=3)
    )
    assert synthetic["image"].float().std() > 0
    assert 0 <= synthetic["label"].min() <= synthetic["label"].max() < 10


def test_synthetic_input_is_one_seeded_batch_without_end() -> None:
    one, two = islice(synthetic_batches(real_batch(), seed=1), 2)
    again, other = (
        next(synthetic_batches(real_batch(), seed=1)),
        next(synthetic_batches(real_batch(), seed=2)),
    )

    assert one["image"] is two["image"]
    assert torch.equal(one["image"], again["image"])
    assert not torch.equal(one["image"], other["image"])


@pytest.mark.parametrize(
    "change",
    [
        {"shape": (9, 3, 32, 32)},
        {"dtype": "torch.float32"},
        {"label_dtype": "torch.int32"},
        {"delivered_on": "cuda"},
        {"computed_on": "cuda"},
        {"steps": 4},
    ],
)
def test_input_that_is_not_alike_is_refused_with_what_differs(change: dict[str, Any]) -> None:
    real = describe_input(real_batch(), computed_on=CPU, steps=3)

    with pytest.raises(CourseError, match=f"because {next(iter(change))} differs"):
        refuse_unlike(real, replace(real, **change))


def test_a_batch_that_lies_on_the_device_on_purpose_must_still_be_computed_in_the_same_place() -> None:
    real = describe_input(real_batch(), computed_on=CPU, steps=3)

    refuse_unlike(real, replace(real, delivered_on="cuda"), "device")
    with pytest.raises(CourseError, match="computed_on differs"):
        refuse_unlike(real, replace(real, delivered_on="cuda", computed_on="cuda"), "device")
