"""docs/operators-guide.md names only what there is."""

from __future__ import annotations

import re

import dagster as dg

from tests.conftest import REPOSITORY
from webrag_core.config import Settings

GUIDE = REPOSITORY / "docs" / "operators-guide.md"
TEXT = GUIDE.read_text()
MOST_BYTES = 150_000


def test_pictures_and_files_are_there_and_small() -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", TEXT)
    assert len([target for target in targets if target.endswith(".png")]) >= 8
    for target in targets:
        file = GUIDE.parent / target
        assert file.is_file(), target
        assert file.stat().st_size < MOST_BYTES, target


def test_every_chapter_that_is_promised_is_there() -> None:
    promised = re.findall(r"\]\(#([^)]+)\)", TEXT)
    headings = re.findall(r"(?m)^## (.+)$", TEXT)
    assert promised == [re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-") for heading in headings]


def test_what_it_names_exists(definitions: dg.Definitions) -> None:
    repository = definitions.get_repository_def()
    assets = {key.to_user_string() for key in definitions.resolve_asset_graph().get_all_asset_keys()}
    checks = {key.name for key in definitions.resolve_asset_graph().asset_check_keys}
    instigators = {one.name for one in [*repository.sensor_defs, *repository.schedule_defs]}
    jobs = {job.name for job in repository.get_all_jobs()}
    for kind, known in {
        "Job": jobs,
        "Asset": assets,
        "Sensor": instigators,
        "Schedule": instigators,
        "Check": checks,
    }.items():
        for name in re.findall(rf"\b{kind} `(\w+)`", TEXT, re.IGNORECASE):
            assert name in known, f"{kind} {name}"
    for name in re.findall(r"(?m)^\| `(\w+)` \| (?:documents|chunks|embeddings) \|", TEXT):
        assert name in checks, name
    for name in re.findall(r"`(WEBRAG_\w+|CHILD_\w+|DATABASE_URL)`", TEXT):
        assert name.lower() in Settings.model_fields, name
