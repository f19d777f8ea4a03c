"""What the researcher's page of a study is answered from, and the entrance before it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from explorelab.study.admin.entry.entrance import Entrance
from explorelab.study.admin.overview import Overviews
from explorelab.study.assessment.assessment_desk import AssessmentDesk
from explorelab.study.server.context import Context


class Office:
    """The study, its database and everything that is told about it."""

    def __init__(
        self,
        context: Context,
        entrance: Entrance,
        notices: Callable[[], Awaitable[list[str]]],
        assessments: AssessmentDesk,
    ) -> None:
        self.study, self.store, self.now = context
        self.entrance = entrance
        self.overviews = Overviews(self.study)
        self.notices, self.assessments = notices, assessments
