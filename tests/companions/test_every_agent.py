"""Every agent of the catalogue: a companion that does all it promises, or one sentence that says why there is none."""

import numpy as np
import pytest

import explorelab as xl
from explorelab.agents import AGENTS
from explorelab.errors import InputError
from tests.support.beliefs import NEEDED, one_of_each
from tests.support.siblings import slow

pytestmark = pytest.mark.quick_programs

TASK = xl.tasks.on_graph(xl.tasks.line([0.0, 1.0, 2.0, 3.5], 1.0), start=1)
LARGE = "roving-ucl"
OTHERS = {name: build for name, build in AGENTS.items() if name != LARGE}
EVERY = [*one_of_each(lambda agent: (agent.rule.learner.name, agent.rule.commitment.name), OTHERS), *slow(LARGE)]


@pytest.mark.parametrize("agent", EVERY)
def test_an_agent_is_thought_along_with_or_refused_in_a_sentence(agent, tmp_path):
    try:
        mind = xl.companion(AGENTS[agent](**NEEDED.get(agent, {})), None, TASK, horizon=3, n_points=8)
        mind = mind.observe(2, 2.5).observe(3, 3.0, advised=3)
    except InputError as error:
        said = str(error)
        assert "\n" not in said
        assert any(why in said for why in ("lapse", "cannot be fitted", "stays with an arm", "no free parameter")), said
        return
    np.testing.assert_allclose(mind.next_choice.sum(), 1.0)
    assert mind.next_choice[:2].sum() == 0  # out of reach
    assert np.isfinite(mind.estimates["estimate"]).all()
    assert mind.advice().arm in (None, 2, 3)
    found = mind.assessment()
    assert np.isfinite([found.regret, found.regret_to_come, found.regret_if_advised]).all()
    xl.save_companion(mind, tmp_path / "mind.nc")
    np.testing.assert_array_equal(xl.load_companion(tmp_path / "mind.nc").next_choice, mind.next_choice)
