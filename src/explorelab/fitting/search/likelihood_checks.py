"""Whether an agent can be fitted to these choices at all, checked before anything is."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from explorelab.agents.own.trial import NO_NUMBERS
from explorelab.choices.table import Choices
from explorelab.errors import InputError
from explorelab.fitting.likelihood import Block, replay
from explorelab.fitting.model import Fitted
from explorelab.fitting.objective import Data, Model
from explorelab.fitting.search.solve import predicted
from explorelab.fitting.spaces import natural

TRIED = 8
"""Blocks on which a user's own agent is tried out."""
CLOSE = 1e-6
"""How close to one probabilities must add up."""


def check_likelihood(choices: Choices, fitted: Fitted) -> None:
    """Raise if the agent chooses with certainty, so that its likelihood is zero where people choose otherwise.

    Also raise if its probabilities are counted from draws, as a choice never drawn would count as impossible; and if a
    user's own agent gives what are no probabilities.
    """
    agent = fitted.agent
    if not agent.rule.choice.exact:
        raise InputError(
            f"{agent.name} with correlated arms cannot be fitted: the probability that an arm is the best is known "
            "only by counting draws. Fit it with independent arms (length_scale 0), or use kalman-thompson."
        )
    if agent.rule.choice.certain and _never(fitted, "lapse"):
        how = f"{agent.name}, above 0" if "lapse" in agent.params else f"{agent.name}+lapse"
        raise InputError(
            f"{agent.name} always chooses the arm that looks best: a single other choice makes its likelihood zero. "
            f"Let it lapse ({how}), or use a rule that chooses at random, such as stochastic-ucl."
        )
    if agent.rule.commitment.length is not None:
        _check_commitment(choices, fitted)
    if agent.own:
        _check_probabilities(choices, fitted)


def _check_commitment(choices: Choices, fitted: Fitted) -> None:
    """Raise if someone leaves an arm that the agent is bound to; no parameter affects when it is, so any point will do."""
    centre = np.zeros((choices.n_rows, 1, len(fitted.space)))
    possible = np.isfinite(predicted(fitted, np.arange(choices.n_rows), centre, progress=False)[:, 0])
    if possible.all():
        return
    row = int(possible.argmin())
    who, name = choices.participants[choices.participant[row]], fitted.agent.name
    raise InputError(
        f"{name} stays with an arm for several choices, but participant {who} does not (block {choices.block[row]}): its "
        "likelihood is zero there, with or without habits. Use a rule that decides at every choice, such as stochastic-ucl."
    )


def _never(fitted: Fitted, parameter: str) -> bool:
    """Whether the agent lacks the parameter, or holds it at 0."""
    free = any(dimension.name == parameter for dimension in fitted.space)
    return not free and float(fitted.data.fixed.get(parameter, 0.0)) == 0


def _check_probabilities(choices: Choices, fitted: Fitted) -> None:
    """Raise if a user's own agent gives some of these choices, at typical values, what are no probabilities."""
    rows = np.unique(np.linspace(0, choices.n_rows - 1, TRIED).round().astype(int))
    blocks = jax.tree.map(lambda x: np.asarray(x)[rows], fitted.data.blocks)
    with jax.enable_x64(True):
        log_probs = np.asarray(_log_probs(fitted.model, fitted.data._replace(blocks=blocks, maps=None)))
    total = np.where(choices.present[rows], np.exp(log_probs).sum(2), 1.0)
    wrong = ~(np.abs(total - 1) < CLOSE)
    if not wrong.any():
        return
    at, t = map(int, np.argwhere(wrong)[0])
    who, name = choices.participants[choices.participant[rows[at]]], fitted.agent.name
    where = f"participant {who}, block {choices.block[rows[at]]}, trial {t + 1}, at typical values of its parameters"
    if np.isnan(total[at, t]):
        raise InputError(f"{name} gives probabilities that are not numbers ({where}): {NO_NUMBERS}.")
    raise InputError(
        f"{name} gives probabilities that add up to {total[at, t]:.6g} ({where}): end its choice rule with "
        "jax.nn.log_softmax."
    )


@partial(jax.jit, static_argnames="model")
def _log_probs(model: Model, data: Data) -> Float[Array, "row trial arm"]:
    params = {**data.fixed, **natural(model.axes, data.origin, jnp.zeros(len(model.axes)))}

    def one(block: Block) -> Float[Array, "trial arm"]:
        return replay(model.rule, params, data.ways, model.n_arms, block).log_probs

    return jax.vmap(one)(data.blocks)
