"""A metadata measurement whose storage stops answering, for a test; a watched process imports it by name."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from course_lib.stores import metadata_work
from course_lib.stores.metadata import metadata_task
from course_lib.watched import Emit


def stall(request: dict[str, Any], emit: Emit) -> Any:
    def never(path: Path) -> int:
        emit({"operation": "stat", "repeat": 0, "done": 0})
        time.sleep(600)
        return 0

    metadata_work._stat = never
    return metadata_task(request, lambda event: None)
