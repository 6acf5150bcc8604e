"""Whether a pack may write to a place: what stands there, and the notes that tell whose it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.shards.format import (
    MANIFEST_FILE,
    IndexFile,
    ShardFile,
    ShardSetManifest,
    manifest_from_json,
)
from course_lib.shards.plan import ShardPlan, pack_recipe
from course_lib.shards.targets import PLAN_NOTE, FolderTarget, StoreTarget, Target
from course_lib.stores.store import Store

RECIPE_NOTE = "recipe"
_OPTIONS = {"target_samples": "--samples-per-shard {}", "target_bytes": '--target-bytes "{} B"'}


def target_for(out: Path | str | Store, prefix: str = "") -> Target:
    """Return the target of a folder or a store."""
    return FolderTarget(Path(out)) if isinstance(out, (str, Path)) else StoreTarget(out, prefix)


def check_before_pack(
    out: Path | str | Store,
    *,
    target_bytes: int | None = None,
    target_samples: int | None = None,
    seed: int = 2026,
    prefix: str = "",
) -> bool:
    """Refuse what a pack would refuse without having read a single sample; nothing is written.

    Parameters
    ----------
    out, target_bytes, target_samples, seed, prefix
        As `pack` takes them.

    Returns
    -------
    bool
        Whether a finished set of this recipe stands there, of these samples or of others.

    Raises
    ------
    CourseError
        For a recipe that cannot be used, and a place that holds other things, a set of another recipe, or an
        interrupted pack of another recipe.
    """
    recipe = pack_recipe(target_bytes=target_bytes, target_samples=target_samples, seed=seed)
    if isinstance(out, (str, Path)) and Path(out).exists() and not Path(out).is_dir():
        raise CourseError(
            f"{out} is no folder", expected="a new or an empty folder", next_step="choose another name"
        )
    target = target_for(out, prefix)
    manifest = _manifest(target)
    if manifest is not None:
        if manifest.recipe != recipe:
            raise _another_set(target, manifest, f"a set of {_said(recipe)}")
        return True
    noted = target.noted(PLAN_NOTE)
    if noted is None:
        _need_empty(target)
    else:
        kept = _kept_recipe(target, noted)
        if kept is not None and kept["recipe"] != recipe:
            raise _another_pack(target, noted, _said(recipe))
    return False


def finished_set(target: Target, plan: ShardPlan) -> ShardSetManifest | None:
    """Return the manifest of a set that is already there, if it is the one that is wanted."""
    manifest = _manifest(target)
    if manifest is None:
        return None
    if manifest.plan_digest != plan.digest:
        raise _another_set(target, manifest, f"the set of plan {plan.digest[:12]}...")
    files: list[ShardFile | IndexFile] = [*manifest.shards, manifest.index]
    for file in files:
        found = target.digests(file.name)
        if found is None or found.sha256 != file.sha256:
            raise CourseError(
                f"The finished shard set in {target.title} is damaged",
                expected=f"{file.name} with SHA-256 {file.sha256[:12]}...",
                found="no such file" if found is None else f"{found.sha256[:12]}...",
                next_step="mend it with `course shards repair`",
            )
    return manifest


def claim(target: Target, plan: ShardPlan, title: str) -> None:
    """Note plan and recipe before the first shard; refuse a place with another plan or with other things."""
    noted = target.noted(PLAN_NOTE)
    if noted is None:
        _need_empty(target)
        kept = {"plan": plan.digest, "samples": title, "recipe": plan.recipe}
        # Before the plan, so that where a plan is noted its recipe is known.
        target.note(RECIPE_NOTE, json.dumps(kept).encode("utf-8"))
        target.note(PLAN_NOTE, plan.digest.encode("ascii"))
    elif noted != plan.digest.encode("ascii"):
        raise _another_pack(target, noted, f"{title}, {_said(plan.recipe)}, plan {plan.digest[:12]}...")


def need_own_plan(target: Target, digest: str) -> None:
    """Refuse a place whose plan is another packer's by now."""
    if target.noted(PLAN_NOTE) != digest.encode("ascii"):
        raise CourseError(
            f"Another packer has taken over {target.title}", next_step="choose another place and pack again"
        )


def _manifest(target: Target) -> ShardSetManifest | None:
    content = target.read(MANIFEST_FILE)
    return None if content is None else manifest_from_json(content, f"{MANIFEST_FILE} in {target.title}")


def _need_empty(target: Target) -> None:
    names = target.names()
    if names:
        raise CourseError(
            f"{target.title} holds other things than a shard set",
            expected="a new or an empty folder",
            found=names[0],
            next_step="choose another one",
        )


def _kept_recipe(target: Target, plan_noted: bytes) -> dict[str, Any] | None:
    """Return what is noted of the recipe; None where nothing is, or it is of another plan."""
    try:
        kept = json.loads(target.noted(RECIPE_NOTE) or b"")
        same = kept["plan"].encode("ascii") == plan_noted
        return {"samples": str(kept["samples"]), "recipe": dict(kept["recipe"])} if same else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _another_set(target: Target, manifest: ShardSetManifest, wanted: str) -> CourseError:
    return CourseError(
        f"{target.title} holds another shard set already",
        expected=f"a new folder, or {wanted}",
        found=f"{manifest.title}, {_said(manifest.recipe)}, plan {manifest.plan_digest[:12]}...",
        next_step="choose another folder",
    )


def _another_pack(target: Target, noted: bytes, wanted: str) -> CourseError:
    found, options = f"plan {noted[:12].decode('ascii', 'replace')}...", ""
    kept = _kept_recipe(target, noted)
    if kept is not None:
        found = f"{kept['samples']}, {_said(kept['recipe'])}, {found}"
        options = f", `{_as_options(kept['recipe'])}`"
    return CourseError(
        f"{target.title} holds an interrupted pack of other samples or another recipe",
        expected=wanted,
        found=found,
        next_step=f"finish that one with its own samples and recipe{options}, or choose another folder",
    )


def _said(recipe: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} {value}" for key, value in recipe.items() if key != "order")


def _as_options(recipe: Mapping[str, Any]) -> str:
    targets = [option.format(recipe[key]) for key, option in _OPTIONS.items() if key in recipe]
    return " ".join([*targets, f"--seed {recipe.get('seed')}"])
