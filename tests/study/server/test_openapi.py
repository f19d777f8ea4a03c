"""The server's description of itself, from which the page's types are made: whole, and the one that is committed."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[3]
COMMITTED = ROOT / "page" / "openapi.json"


@pytest.fixture(scope="module")
def text() -> str:
    return runpy.run_path(str(ROOT / "scripts" / "openapi.py"))["interface"]()


@pytest.fixture(scope="module")
def described(text: str) -> dict[str, Any]:
    return json.loads(text)


def answers(described: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The schema of every answer in JSON to a request that was fine."""
    for path, ways in described["paths"].items():
        for method, operation in ways.items():
            content = operation["responses"].get("200", {}).get("content", {})
            if "application/json" in content:
                yield f"{method} {path}", content["application/json"]["schema"]


def referred(part: Any) -> Iterator[str]:
    """The names of schemas that a part of the description refers to."""
    if isinstance(part, dict):
        if "$ref" in part:
            yield part["$ref"].rpartition("/")[2]
        part = list(part.values())
    if isinstance(part, list):
        for each in part:
            yield from referred(each)


def sent(described: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The schemas of all that is sent, also within something else."""
    schemas, found = described["components"]["schemas"], {}
    waiting = list(referred([schema for _, schema in answers(described)]))
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = schemas[name]
            waiting += referred(schemas[name])
    return found


def test_the_committed_description_is_that_of_the_server(text: str) -> None:
    assert COMMITTED.read_text(encoding="utf-8") == text, "run `make openapi`, then `npm run check` in page/"


def test_every_answer_has_a_type(described: dict[str, Any]) -> None:
    assert [asked for asked, schema in answers(described) if "$ref" not in schema] == []


def test_every_field_of_an_answer_is_always_sent(described: dict[str, Any]) -> None:
    found = sent(described)
    assert {"State", "PersonRow"} <= set(found)
    # Studies without advice are answered as if there were no such thing.
    optional = {
        name: set(one.get("properties", {})) - set(one.get("required", [])) - {"advice"} for name, one in found.items()
    }
    assert {name: fields for name, fields in optional.items() if fields} == {}


def test_one_name_is_one_type(described: dict[str, Any]) -> None:
    """FastAPI puts the module before the names of two models that are called the same."""
    assert [name for name in described["components"]["schemas"] if "__" in name] == []
