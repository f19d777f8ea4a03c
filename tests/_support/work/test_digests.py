"""Digests: the same in every process for what is the same, and another for what differs in anything that counts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import explorelab as xl
from explorelab._support.work.digests import digest
from explorelab.agents.agent_names import agent_of
from explorelab.errors import NotSentError
from tests.support.work_to_do import doubled, where

pytestmark = [pytest.mark.quick, pytest.mark.quick_programs]

DIFFERENT = {
    "nothing": None, "no": False, "zero": 0, "float zero": 0.0, "text": "0", "bytes": b"0", "empty": (), "empty list": [],
    "empty table": {}, "table": {"a": 1}, "other order": {"b": 1, "a": 1}, "order": {"a": 1, "b": 1},
    "pair": ("ab", "c"), "other pair": ("a", "bc"), "nested": (("a",), "bc"), "array": np.zeros(2), "longer": np.zeros(3),
    "single": np.zeros(2, np.float32), "row": np.zeros((1, 2)), "minus zero": np.array([-0.0, 0.0]),
    "objects": np.array(["a", None], object), "path": Path("a"), "function": doubled, "other function": where,
    "frame": pd.DataFrame({"a": [1]}), "data set": xr.Dataset({"a": 1}), "attribute": xr.Dataset({"a": 1}, attrs={"b": 2}),
    "tree": xr.DataTree.from_dict({"/x": xr.Dataset({"a": 1})}), "agent": agent_of("ucb1"),
    "other agent": agent_of("stochastic-ucl"), "value": agent_of("stochastic-ucl:temperature=2"),
    "habit": agent_of("stochastic-ucl+lapse"),
}  # fmt: skip


def test_what_differs_has_another_digest() -> None:
    digests = {name: digest(value) for name, value in DIFFERENT.items()}
    assert len(set(digests.values())) == len(digests), sorted(digests.items(), key=lambda each: each[1])


def test_what_is_the_same_has_the_same_digest_in_any_process() -> None:
    code = (
        "import numpy as np; from explorelab._support.work.digests import digest;"
        "from explorelab.agents.agent_names import agent_of;"
        "print(digest({'x': np.arange(3.0)}, {'b', 'a', 'c'}, agent_of('stochastic-ucl+lapse:temperature=2')))"
    )
    said = [
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True
        ).stdout.strip()
        for seed in ("1", "2")
    ]
    here = digest({"x": np.arange(3.0)}, {"c", "b", "a"}, agent_of("stochastic-ucl+lapse:temperature=2"))
    assert said == [here, here]


def test_a_view_of_other_memory_order_is_the_same() -> None:
    table = np.arange(6.0).reshape(2, 3)
    assert digest(table) == digest(np.asfortranarray(table)) == digest(table[:, ::-1][:, ::-1])


def test_a_file_of_an_agent_counts_by_its_content(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    text = Path(__file__).parents[2].joinpath("support", "my_models.py").read_text(encoding="utf-8")
    digests = []
    for more in ("", "# changed\n", ""):
        file.write_text(text + more, encoding="utf-8")
        digests.append(digest(agent_of(f"{file}:two_rates")))
    assert digests[0] == digests[2] != digests[1]


def test_what_nobody_can_compare_is_refused() -> None:
    with pytest.raises(NotSentError, match="it depends on a generator"):
        digest(x for x in "ab")


def test_a_closure_is_refused_too() -> None:
    with pytest.raises(NotSentError, match="it depends on a function"):
        digest(lambda: xl)
