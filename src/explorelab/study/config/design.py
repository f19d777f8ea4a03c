"""What a study is: what blocks are played on, the clock, who plays which blocks, the payment. `study.toml` describes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from explorelab.study.config.blocks.boards import Board, Dynamic, grid_board
from explorelab.study.config.blocks.scenes import OUTCOME_MS, Scene
from explorelab.tasks import Task

if TYPE_CHECKING:
    from explorelab.study.config.blocks.block_design import BlockDesign, Condition
    from explorelab.study.session.pages.exclusions import Exclude
    from explorelab.study.session.pages.page_types import Form, Page
    from explorelab.study.session.pages.picture_files import Picture


@dataclass(frozen=True)
class Payment:
    """What people earn: a base, and a bonus for the points of the task blocks."""

    currency: str = "USD"
    base: float = 5.0
    per_point: float = 0.0005
    """Money per point; a negative total counts as zero."""
    most: float = 10.0
    """The largest bonus."""

    def bonus(self, points: float) -> float:
        """The bonus for these points, in whole cents."""
        return round(min(max(points, 0.0) * self.per_point, self.most), 2)


@dataclass(frozen=True)
class Completion:
    """How people leave: a code to copy, and where to send them (with {code} in the address, if there is one)."""

    code: str = ""
    redirect: str = ""


@dataclass(frozen=True)
class Server:
    """Limits of the server."""

    return_within_minutes: float = 120.0
    """How long after they were last seen people may come back and continue."""
    arrivals_per_minute: int = 300
    """New page loads from one address."""
    requests_per_second: int = 20
    """Requests of one person."""
    new_people_per_hour: int = 200
    """From one address, all at once if necessary: a class behind one address gets in, a script cannot fill the disk."""
    address_requests_per_second: int = 500
    """Requests from one address, whoever sends them."""


@dataclass(frozen=True, eq=False)
class Advice:
    """Squares that a computer suggests in task blocks."""

    arms: tuple[str, ...]
    """Conditions: names of policies in `explorelab.companions.advice`."""
    agent: str | None = None
    """The model of a person; None: that of the group or, without one, `PERSON`."""
    group: Any = field(default=None, repr=False)
    """A fit to other people, from which personal advice starts; None for a weak prior."""
    prior: Mapping[str, float] | None = None
    """What the adviser expects of squares; None: what the study's landscapes are like."""
    from_choice: int = 1
    """The first choice of a block that is advised."""
    n_points: int = 64
    """Points that carry the estimate of a person."""
    within_ms: int = 300
    """Advice that is not ready this long after a choice's clock started is not shown."""
    processes: int = 1
    """Processes that compute advice, for each process of the server."""

    @property
    def person(self) -> str | None:
        """The model of a person; None for the group's."""
        return PERSON if self.agent is None and self.group is None else self.agent


PERSON = "situated-ucl"
"""The model of a person where neither study.toml nor a group names one."""


@dataclass(frozen=True)
class Texts:
    """Everything that people read. Pages are Markdown; `labels` are the short texts of buttons, dots and notices."""

    language: str
    direction: Literal["ltr", "rtl"]
    pages: Mapping[str, str]
    """consent, instructions, debriefing, declined, withdrawn, preview, expired."""
    labels: Mapping[str, str]
    title: str = ""
    """The study's title in this language; empty for the one in study.toml."""
    more: Mapping[str, str] = field(default_factory=dict)
    """The texts of the study's own pages, Markdown by file."""
    forms: Mapping[str, Form] = field(default_factory=dict)
    """The questions of the study's own pages, by file."""
    pictures: Mapping[str, str] = field(default_factory=dict)
    """Names of pictures by what the texts call them."""
    no_pictures: Mapping[str, str] = field(default_factory=dict)
    """What is wrong with pictures that are not shown."""


UNTIMED_MS = 1000
"""How long people are expected to think about a choice without a deadline."""


class BlockPlan(NamedTuple):
    """One block that a person will play."""

    kind: Literal["training", "task"]
    dynamic: Dynamic
    timing: str
    deadline_ms: int
    """0 if there is no deadline."""
    landscape: str
    """The name of its task."""
    n_trials: int
    advice: str = ""
    """The kind of advice given in it; "" if advice is no part of the study or of the block."""
    page: int = 0
    """On which of the pages of kind blocks it is played, from 0."""
    name: str = ""
    """Its name in study.toml; empty in the paper's design."""
    scene: str = ""
    """What it is played on, a name in the study's design; empty in the paper's, where the landscape says it."""
    levels: str = ""
    """JSON: the level of each factor of the design; empty in the paper's."""


class PlayedOn(Protocol):
    """A block, planned or begun, as far as it says what it is played on."""

    @property
    def landscape(self) -> str:
        """The name of its task."""

    @property
    def scene(self) -> str:
        """The name of its scene; empty in the paper's design."""


class Cell(NamedTuple):
    """One condition of the design, by the first block; `second_dynamic` is that of the second ("" if there is none).

    `advice` is the kind of advice in all task blocks ("" in a study without).
    """

    timing: str
    dynamic: Dynamic
    landscape: str
    second_dynamic: str
    advice: str = ""

    @property
    def name(self) -> str:
        """The cell as one word, for tables and the database."""
        return "-".join(part for part in self if part)

    @property
    def factors(self) -> dict[str, str]:
        """What the condition consists of, by name."""
        return {name: value for name, value in self._asdict().items() if value}


@dataclass(frozen=True, eq=False)
class Study:
    """A study as `study.toml` and the texts beside it describe it."""

    name: str
    title: str
    width: int
    height: int
    landscapes: Mapping[str, Task]
    """What squares are worth, by name; each has width x height arms."""
    timings: Mapping[str, int]
    """Milliseconds for a choice, by name."""
    training: tuple[BlockPlan, ...]
    """Blocks that everyone plays first."""
    task_timings: tuple[str, ...]
    task_dynamics: tuple[Dynamic, ...]
    task_landscapes: tuple[str, ...]
    n_task_blocks: int
    """1 or 2; the second has the other timing, the other landscape, and one of the remaining dynamics."""
    n_trials: int
    texts: Texts
    payment: Payment = field(default_factory=Payment)
    completion: Completion = field(default_factory=Completion)
    server: Server = field(default_factory=Server)
    advice: Advice | None = None
    pages: tuple[Page, ...] = ()
    """What people see between consent and debriefing; none for the usual course: instructions, then all blocks."""
    least_per_hour: float | None = None
    """What the base payment should come to in an hour; `study check` says if it does not."""
    exclude: Exclude | None = None
    """Who is to be left out of analyses; None if the study states no rules."""
    assessment: bool = True
    """Whether the researcher's page shows the companion's assessment of everyone who is playing."""
    database: str = "sqlite:///study.db"
    """Address of the database; a relative SQLite file is in the study folder."""
    unfilled: Texts | None = None
    """The texts with their placeholders, for people whose payment differs from today's."""
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    """The pictures that its texts show, by name."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """The study's files by name, in a form that can be shared."""
    versions: Mapping[str, Study] = field(default_factory=dict)
    """The same study in each of its languages, the usual one first; empty if it has one language."""
    design: BlockDesign | None = None
    """Blocks of one's own; None for the paper's design, which the settings of training and task describe."""

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages in which people can take part, the usual one first."""
        return tuple(self.versions) or (self.texts.language,)

    def speaking(self, language: str | None) -> Study:
        """The study with its texts in this language, or in its usual one if it does not have that."""
        return self.versions.get(language or "", self)

    @property
    def n_arms(self) -> int:
        """How many squares there are; square number = x * height + y."""
        return self.width * self.height

    @cached_property
    def cells(self) -> tuple[Cell | Condition, ...]:
        """Every condition to which people are assigned."""
        return self._papers_cells if self.design is None else self.design.conditions

    @property
    def _papers_cells(self) -> tuple[Cell, ...]:
        """Timings x dynamics x landscapes of the first block x other dynamics of the second x advice."""
        firsts = product(self.task_timings, self.task_dynamics, self.task_landscapes)
        arms = ("",) if self.advice is None else self.advice.arms
        return tuple(Cell(*first, second, arm) for first in firsts for second in self._seconds(first[1]) for arm in arms)

    def _seconds(self, first: Dynamic) -> tuple[str, ...]:
        if self.n_task_blocks == 1:
            return ("",)
        return tuple(other for other in self.task_dynamics if other != first) or (first,)

    @property
    def longest(self) -> tuple[Cell | Condition, ...]:
        """Conditions among which is one whose blocks take longest: no order makes a difference."""
        return self.cells if self.design is None else self.design.in_first_order

    def plan(self, cell: Cell | Condition, seed: int = 0) -> tuple[BlockPlan, ...]:
        """All blocks of someone in this condition, in the order of play; the person's seed is for orders that are drawn."""
        if self.design is not None:
            assert not isinstance(cell, Cell)
            return self.design.plan(cell, seed)
        assert isinstance(cell, Cell)
        deadline_ms = self.timings[cell.timing]
        first = BlockPlan("task", cell.dynamic, cell.timing, deadline_ms, cell.landscape, self.n_trials, cell.advice)
        if not cell.second_dynamic:
            return (*self.training, first)
        timing = _other(self.task_timings, cell.timing)
        second = first._replace(
            dynamic=cell.second_dynamic,  # type: ignore[arg-type]
            timing=timing,
            deadline_ms=self.timings[timing],
            landscape=_other(self.task_landscapes, cell.landscape),
        )
        return (*self.training, first, second)

    @cached_property
    def board(self) -> Board:
        """The squares of the paper's design."""
        return grid_board(self.width, self.height)

    @cached_property
    def scenes(self) -> Mapping[str, Scene]:
        """Everything that blocks are played on, by the name of the scene or, in the paper's design, of the landscape."""
        if self.design is not None:
            return self.design.scenes
        return {name: Scene(task, self.board) for name, task in self.landscapes.items()}

    @cached_property
    def scene_of_task(self) -> Mapping[str, Scene]:
        """For each landscape, or task of one's own, a scene on which it is played."""
        if self.design is None:
            return self.scenes
        return {plan.landscape: self.scenes[plan.scene] for plan in self.design.every_plan}

    @cached_property
    def counting_scenes(self) -> Mapping[str, Scene]:
        """What blocks that count are played on, by their name or, in the paper's design, that of the landscape."""
        if self.design is None:
            return {name: self.scenes[name] for name in self.task_landscapes if name in self.scenes}
        return {plan.name: self.scenes[plan.scene] for plan in self.design.every_plan if plan.kind == "task"}

    def task_number(self, number: int) -> int:
        """The number among the blocks that count, from 1, of a block that counts; `number` is that among all, from 0."""
        if self.design is None:
            return number - len(self.training) + 1
        kinds = [plan.kind for plan in self.plan(self.cells[0])]
        return kinds[: number + 1].count("task")

    def scene(self, block: PlayedOn) -> Scene | None:
        """What this block is played on; None if the study no longer has it."""
        return self.scenes.get(block.scene or block.landscape)

    def choice_ms(self, block: BlockPlan) -> int:
        """How long a choice in this block is expected to take."""
        scene = self.scene(block)
        return block.deadline_ms or UNTIMED_MS + (OUTCOME_MS if scene is None else scene.outcome_ms)

    def board_of(self, block: PlayedOn) -> Board:
        """The board of this block."""
        scene = self.scene(block)
        return self.board if scene is None else scene.board


def _other(names: tuple[str, ...], name: str) -> str:
    """The next name in the list, cyclically: of two, the other one."""
    return names[(names.index(name) + 1) % len(names)]
