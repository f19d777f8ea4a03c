"""A design of one's own: blocks, factors between and within persons, and the orders of play; its conditions and plans."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import NamedTuple

from explorelab.choices.advice_given import ARM_OF_STUDY
from explorelab.study.config.blocks.orders import Order, drawn_order, n_orders, orders
from explorelab.study.config.blocks.scenes import Scene
from explorelab.study.config.design import BlockPlan

ADVICE = ARM_OF_STUDY
"""The factor that a table [advice] adds to a design."""
ORDERED = 3_000_000
"""Used instead of a trial in the seed of an order."""


class Factor(NamedTuple):
    """Something that differs between persons, or between the blocks of a person."""

    name: str
    levels: tuple[str, ...]
    within: bool
    blocks: tuple[str, ...]
    """The blocks that it changes."""


class BlockVariants(NamedTuple):
    """A block of study.toml under every combination of the factors that change it."""

    name: str
    repeat: int
    order: Order
    """Of its variants within persons."""
    variants: Mapping[tuple[str, ...], BlockPlan]
    """By the levels of the factors that change it, in the order of the design's factors."""


class BlocksPage(NamedTuple):
    """A page of blocks."""

    blocks: tuple[str, ...]
    order: Order = "fixed"
    """Of the blocks; each stays together with its repetitions and variants."""


class Condition(NamedTuple):
    """Something that people are assigned to: a level of each factor between persons, and a number for each order."""

    between: tuple[tuple[str, str], ...]
    orders: tuple[int, ...]

    @property
    def name(self) -> str:
        """The condition as one word, for tables and the database."""
        return "-".join([*(level for _, level in self.between), *(f"o{number + 1}" for number in self.orders)]) or "all"

    @property
    def factors(self) -> dict[str, str]:
        """What distinguishes it from others, by name."""
        several = len(self.orders) > 1
        told = {f"order_{i}" if several else "order": f"{number + 1}" for i, number in enumerate(self.orders, start=1)}
        return {**dict(self.between), **told}


class Ordered(NamedTuple):
    """Some things whose order is counterbalanced: the blocks of a page (block "") or the variants of one of its blocks."""

    page: int
    block: str
    order: Order
    n: int


@dataclass(frozen=True, eq=False)
class BlockDesign:
    """Blocks, factors and orders."""

    blocks: Mapping[str, BlockVariants]
    factors: tuple[Factor, ...]
    pages: tuple[BlocksPage, ...]
    scenes: Mapping[str, Scene]
    """Everything that blocks are played on, by the name in their plans."""
    arms: tuple[str, ...] = ()
    """Kinds of advice, if there is any: one more factor between persons."""

    @cached_property
    def between(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Factors between persons with their levels, advice the last."""
        found = [(factor.name, factor.levels) for factor in self.factors if not factor.within]
        return tuple([*found, (ADVICE, self.arms)] if self.arms else found)

    @cached_property
    def ordered(self) -> tuple[Ordered, ...]:
        """Everything whose order is counterbalanced between persons."""
        return tuple(each for each in self._all_ordered() if n_orders(each.order, each.n) > 1)

    def _all_ordered(self) -> Iterator[Ordered]:
        for number, page in enumerate(self.pages):
            yield Ordered(number, "", page.order, len(page.blocks))
            for name in page.blocks:
                yield Ordered(number, name, self.blocks[name].order, len(self.within(name)))

    @property
    def every_plan(self) -> list[BlockPlan]:
        """Every block under every combination of levels."""
        return [plan for block in self.blocks.values() for plan in block.variants.values()]

    @property
    def n_conditions(self) -> int:
        """How many conditions there are."""
        return prod(len(levels) for _, levels in self.between) * prod(n_orders(each.order, each.n) for each in self.ordered)

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """Every combination of levels between persons and orders."""
        levels = product(*([(name, level) for level in known] for name, known in self.between))
        numbers = list(product(*(range(n_orders(each.order, each.n)) for each in self.ordered)))
        return tuple(Condition(each, order) for each in levels for order in numbers)

    @property
    def in_first_order(self) -> tuple[Condition, ...]:
        """The conditions with the first of each order."""
        return tuple(condition for condition in self.conditions if not any(condition.orders))

    def plan(self, condition: Condition, seed: int = 0) -> tuple[BlockPlan, ...]:
        """All blocks of someone in this condition, in the order of play."""
        between = dict(condition.between)
        assigned = {(each.page, each.block): n for each, n in zip(self.ordered, condition.orders, strict=True)}
        plans: list[BlockPlan] = []
        for number, page in enumerate(self.pages):
            for at in self._arranged(page.order, len(page.blocks), assigned.get((number, "")), seed, number):
                name = page.blocks[at]
                of_block = self.blocks[name]
                combinations = self.within(name)
                for again in range(of_block.repeat):
                    order = self._arranged(
                        of_block.order, len(combinations), assigned.get((number, name)), seed, number, at + 1, again
                    )
                    plans += [self._plan(name, {**between, **combinations[i]}, number) for i in order]
        return tuple(plans)

    @staticmethod
    def _arranged(order: Order, n: int, assigned: int | None, *seed: int) -> Sequence[int]:
        if order == "drawn":
            return drawn_order(n, *seed, ORDERED)
        return orders(order, n)[assigned or 0]

    def make_ready(self) -> None:
        """Draw a path of every kind, so that programs are compiled before anybody waits for them."""
        for plan in self.every_plan:
            self.scenes[plan.scene].means(0, 0, plan.n_trials)

    def within(self, name: str) -> list[dict[str, str]]:
        """The combinations of levels that a person meets in a block."""
        factors = [factor for factor in self.factors if factor.within and name in factor.blocks]
        each = product(*([(factor.name, level) for level in factor.levels] for factor in factors))
        return [dict(levels) for levels in each]

    def _plan(self, name: str, levels: Mapping[str, str], page: int) -> BlockPlan:
        """The block under these levels of factors, of which those within persons that do not change it have none."""
        changing = tuple(levels[factor.name] for factor in self.factors if name in factor.blocks)
        plan = self.blocks[name].variants[changing]
        told = {factor.name: levels.get(factor.name, "") for factor in self.factors}
        advice = levels.get(ADVICE, "") if plan.advice else ""
        return plan._replace(page=page, advice=advice, levels=json.dumps(told))
