"""Designs of one's own: whoever is in a condition plays every block that it has, in its order."""

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from explorelab.study.config.blocks.block_design import BlockDesign, BlocksPage, BlockVariants, Factor
from explorelab.study.config.blocks.orders import ORDERS, n_orders
from explorelab.study.config.design import BlockPlan

NAMES = ("a", "b", "c")


@st.composite
def designs(draw) -> BlockDesign:
    """Up to three blocks, factors over some of them, on one page or two."""
    names = NAMES[: draw(st.integers(1, 3))]
    factors = tuple(
        Factor(
            f"f{i}", tuple(f"l{k}" for k in range(draw(st.integers(2, 3)))), draw(st.booleans()),
            tuple(name for name in names if draw(st.booleans())),
        )
        for i in range(draw(st.integers(0, 2)))
    )  # fmt: skip
    blocks = {}
    for name in names:
        combinations: list[tuple[str, ...]] = [()]
        for factor in factors:
            if name in factor.blocks:
                combinations = [(*one, level) for one in combinations for level in factor.levels]
        plans = {
            levels: BlockPlan("task", "standard", "", 0, "t", 5, name=name, scene="-".join([name, *levels]))
            for levels in combinations
        }
        most = 4 if len(combinations) > 4 else 9
        order = draw(st.sampled_from([each for each in ORDERS if each != "full" or len(combinations) <= most]))
        blocks[name] = BlockVariants(name, draw(st.integers(1, 2)), order, plans)
    cut = draw(st.integers(0, len(names) - 1))
    parts = [names[:cut], names[cut:]] if cut else [names]
    pages = tuple(BlocksPage(part, draw(st.sampled_from(ORDERS))) for part in parts)
    arms = draw(st.sampled_from([(), ("none", "personal")]))
    return BlockDesign(blocks, factors, pages, {}, arms)


@settings(max_examples=150, deadline=None)
@given(designs(), st.integers(0, 2**62))
def test_everyone_plays_every_block_as_often_as_it_is_repeated_under_every_level_within_persons(design, seed):
    assert len(design.conditions) == design.n_conditions
    assert len({condition.name for condition in design.conditions}) == design.n_conditions
    for condition in design.conditions[:: max(1, design.n_conditions // 20)]:
        plan = design.plan(condition, seed)
        assert plan == design.plan(condition, seed)
        between = dict(condition.between)
        played = Counter((each.page, each.name, each.levels) for each in plan)
        assert set(played.values()) <= {block.repeat for block in design.blocks.values()}
        for number, page in enumerate(design.pages):
            mine = [each for each in plan if each.page == number]
            for name in page.blocks:
                of_block = [each for each in mine if each.name == name]
                within = [f for f in design.factors if f.within and name in f.blocks]
                n = 1
                for factor in within:
                    n *= len(factor.levels)
                assert len(of_block) == n * design.blocks[name].repeat
                at = [i for i, each in enumerate(mine) if each.name == name]
                assert at == list(range(at[0], at[0] + len(at)))  # a block stays together
        for each in plan:
            levels = json.loads(each.levels)
            assert all(levels[f.name] == between[f.name] for f in design.factors if not f.within)
            changed = [levels[f.name] for f in design.factors if each.name in f.blocks]
            assert each.scene == "-".join([each.name, *changed])
        assert [each.page for each in plan] == sorted(each.page for each in plan)


@settings(max_examples=100, deadline=None)
@given(designs())
def test_over_all_conditions_each_variant_is_as_often_at_each_place_where_orders_are_balanced(design):
    for number, page in enumerate(design.pages):
        for name in page.blocks:
            n, order = len(design.within(name)), design.blocks[name].order
            if order not in ("latin", "full") or n < 2:
                continue
            places = Counter()
            for condition in design.conditions:
                mine = [each for each in design.plan(condition) if (each.page, each.name) == (number, name)]
                places.update((place, each.levels) for place, each in enumerate(mine[:n]))
            assert len(set(places.values())) == 1


@pytest.mark.parametrize("order", ["latin", "full"])
def test_blocks_of_a_page_are_counterbalanced_too(order):
    blocks = {
        name: BlockVariants(name, 1, "fixed", {(): BlockPlan("task", "standard", "", 0, "t", 5, name=name)})
        for name in NAMES
    }
    design = BlockDesign(blocks, (), (BlocksPage(("a",)), BlocksPage(("b", "c"), order)), {})
    assert [condition.factors for condition in design.conditions] == [{"order": "1"}, {"order": "2"}]
    played = [[each.name for each in design.plan(condition)] for condition in design.conditions]
    assert played == [["a", "b", "c"], ["a", "c", "b"]]
    assert n_orders(order, 2) == 2


def test_one_condition_has_a_name_too():
    blocks = {"a": BlockVariants("a", 1, "latin", {(): BlockPlan("task", "standard", "", 0, "t", 5, name="a")})}
    design = BlockDesign(blocks, (), (BlocksPage(("a",)),), {})
    assert [condition.name for condition in design.conditions] == ["all"]
