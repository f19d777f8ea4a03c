"""A few trials with an agent of a user's own, before anything else is done with it: each way to be wrong gets a sentence.

Parts are traced one after the other, so that the sentence names the one at fault; then the whole agent plays a few trials at
typical values, for its log-probabilities and their slopes.
"""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import explorelab
from explorelab._support import checks
from explorelab.agents import playing
from explorelab.agents.factors import AnyBelief, Moment, Params, Rule, Ways
from explorelab.agents.playing import Seen
from explorelab.errors import InputError

N_ARMS, N_TRIALS = 3, 8
NOISE_VAR = 1.0
ARMS = np.array([0, 1, 2, 0, 1, 2, 2, 0], np.int32)
REWARDS = np.array([0.3, -1.2, 0.8, 1.1, 0.0, -0.4, 2.0, -0.7])
PLACES = np.abs(np.subtract.outer(np.arange(N_ARMS), np.arange(N_ARMS))).astype(float)
CLOSE = 1e-6
"""How far from 1 probabilities may add up to."""
NOT_TRACEABLE = (
    jax.errors.ConcretizationTypeError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)
PACKAGES = (str(Path(explorelab.__file__).parent), "site-packages", "dist-packages", "<frozen")


class _UndeclaredError(Exception):
    """A parameter is read that the agent does not have."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class _Noted(Mapping[str, Any]):
    """Parameters that note which of them are read."""

    def __init__(self, values: Params, read: set[str]) -> None:
        self._values, self._read = values, read

    def __getitem__(self, name: str) -> Any:
        if name not in self._values:
            raise _UndeclaredError(str(name))
        self._read.add(name)
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def _handed_on(noted: _Noted) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    """To a function that a user compiled with `jax.jit`: it is not known which parameters are read there, so all are."""
    noted._read.update(noted)
    return tuple(noted._values.values()), tuple(noted._values)


jax.tree_util.register_pytree_node(
    _Noted, _handed_on, lambda names, values: _Noted(dict(zip(names, values, strict=True)), set())
)


NO_NUMBERS = (
    "look for a logarithm, root or power of a number below 0, a division by 0, or an exponential of a large number in its "
    "learner, limit or choice rule"
)


def check_chosen(name: str, chosen: bool) -> None:
    """Raise if the agent did not choose an arm every time, as its probabilities were not numbers."""
    if not chosen:
        raise InputError(f"{name} gives probabilities that are not numbers on some trial: {NO_NUMBERS}.")


def try_out(name: str, rule: Rule, params: Params) -> frozenset[str]:
    """The names of the parameters that the rule reads; an error in one sentence if it cannot be simulated and fitted."""
    told = {"noise_var": NOISE_VAR, "horizon": float(N_TRIALS), "n_arms": float(N_ARMS), **params}
    read: set[str] = set()
    with jax.enable_x64(True):
        values = {key: jnp.asarray(value, jnp.float64) for key, value in told.items()}
        ways = Ways(jnp.asarray(PLACES), jnp.asarray(PLACES))
        _trace(name, rule, values, ways, read)
        _play(name, rule, values, ways, [key for key in params if np.ndim(params[key]) == 0])
    return frozenset(read)


# Shapes ---------------------------------------------------------------------------------------------------------------


def _trace(name: str, rule: Rule, values: Params, ways: Ways, read: set[str]) -> None:
    """Trace every part by itself and check what it returns."""
    learner = rule.learner
    arm, t, reward = (jax.ShapeDtypeStruct((), kind) for kind in (jnp.int32, jnp.int32, jnp.float64))
    ask = partial(_asked, name)

    def noted(params: Params) -> Params:
        prepared = learner.prepare(_Noted(params, read), ways.distances)
        prepared = prepared if isinstance(prepared, _Noted) else _Noted(prepared, read)
        return _Noted({**prepared._values, "walks": ways.walks}, read) if rule.choice.walks else prepared

    belief = ask("learner's start", lambda p: learner.init(noted(p), N_ARMS), values)
    for what in ("mean", "sd"):
        found = ask("learner's start", lambda p, what=what: _field(learner.init(noted(p), N_ARMS), what), values)
        _shaped(f"{what} of the belief that the learner of {name} starts with", found)
    belief = ask("learner's start", lambda p: learner.resize(noted(p), learner.init(noted(p), N_ARMS), N_TRIALS), values)
    after = ask("learner's update", lambda p, b, a, r: learner.update(noted(p), b, a, r), values, belief, arm, reward)
    _same_belief(name, belief, after)
    value = ask("limit", lambda p, b, t: rule.limit(noted(p), b, _moment(t)), values, belief, t)
    _shaped(f"what the limit of {name} returns", value)
    # All arms on offer, and some of them.
    for offer in (None, jax.ShapeDtypeStruct((N_ARMS,), jnp.bool_)):
        log_probs = ask(
            "choice rule",
            lambda p, b, v, t, o: rule.choice.log_probs(noted(p), b, v, _moment(t), o),
            values, belief, value, t, offer,
        )  # fmt: skip
        _shaped(f"what the choice rule of {name} returns", log_probs)


def _moment(t: Any) -> Moment:
    return Moment(t, t - 1, t - 2)


def _field(belief: AnyBelief, what: str) -> Any:
    if not hasattr(belief, what):
        raise InputError(
            f"a belief must be an array with one number for each arm, or a tuple with the field {what}, got "
            f"{type(getattr(belief, 'own', belief)).__name__}."
        )
    return jnp.asarray(getattr(belief, what))


def _shaped(what: str, found: Any) -> None:
    shape = getattr(found, "shape", None)
    if shape != (N_ARMS,):
        got = f"shape {shape}" if shape is not None else type(found).__name__
        raise InputError(f"{what} must be one number for each arm, of shape ({N_ARMS},) with {N_ARMS} arms, got {got}.")
    if not jnp.issubdtype(found.dtype, jnp.floating):
        raise InputError(f"{what} must be real numbers, got {found.dtype}.")


def _same_belief(name: str, before: Any, after: Any) -> None:
    forms: list[Any] = [jax.tree.structure(each) for each in (before, after)]
    if forms[0] != forms[1]:
        raise InputError(f"the learner's update of {name} must return a belief of the same form as the learner's start.")
    for old, new in zip(jax.tree.leaves(before), jax.tree.leaves(after), strict=True):
        if old.shape != new.shape:
            raise InputError(
                f"the learner's update of {name} must keep the shapes of the belief, got {new.shape} for {old.shape}."
            )


# Errors in the user's functions ---------------------------------------------------------------------------------------


def _asked(name: str, part: str, function: Callable[..., Any], *args: Any) -> Any:
    """The shapes that a part returns; whatever goes wrong in it becomes a sentence about it."""
    try:
        return jax.eval_shape(function, *args)
    except InputError as error:
        raise InputError(f"{name}, {part}: {error}") from None
    except _UndeclaredError as missing:
        raise InputError(
            f"the {part} of {name} reads the parameter {missing.name!r}, which {name} does not declare{where(missing)}: add "
            "it to parameters, or give it a value in values."
        ) from None
    except NOT_TRACEABLE as error:
        raise InputError(
            f"the {part} of {name} cannot be traced by JAX{where(error)}: it needs a value that is known only when it runs; "
            "use jnp.where instead of if, and jnp instead of np, float and int."
        ) from None
    except Exception as error:  # whatever a user's function may raise
        why = str(error).strip().partition("\n")[0].rstrip(".") or "no message"
        raise InputError(f"the {part} of {name} fails with {type(error).__name__}{where(error)}: {why}.") from None


def where(error: BaseException) -> str:
    """The line of the user's file in which it happened, in brackets; empty if it is none of theirs."""
    frames = [each for each in traceback.extract_tb(error.__traceback__) if not any(p in each.filename for p in PACKAGES)]
    if not frames:
        return ""
    last = frames[-1]
    line = (last.line or linecache.getline(last.filename, last.lineno or 0)).strip()
    return f" ({Path(last.filename).name}, line {last.lineno}{': ' + line if line else ''})"


# Numbers --------------------------------------------------------------------------------------------------------------


def _play(name: str, rule: Rule, values: Params, ways: Ways, free: Sequence[str]) -> None:
    """Play a few trials and check the log-probabilities and their slopes along the parameters."""
    log_probs, slopes = _log_probs_and_slopes(rule, ways, {key: values[key] for key in free}, values)
    probs = np.asarray(log_probs)
    if np.isnan(probs).any():
        raise InputError(f"the choice rule of {name} gives log-probabilities that are not numbers at typical values.")
    total = np.exp(probs).sum(1)
    off = int(np.abs(total - 1).argmax())
    if not abs(total[off] - 1) < CLOSE:
        raise InputError(
            f"the choice rule of {name} must return log-probabilities that add up to one, got probabilities that add up to "
            f"{total[off]:.6g} on trial {off + 1}: end it with jax.nn.log_softmax."
        )
    for key, slope in slopes.items():
        if not np.isfinite(np.where(np.isfinite(probs), np.asarray(slope), 0.0)).all():
            raise InputError(
                f"the slope of the log-probabilities of {name} along {key} is not finite at {key} = "
                f"{checks.shown(float(values[key]))}: a fit needs one; both branches of a jnp.where must be finite."
            )


@partial(jax.jit, static_argnames="rule")
def _log_probs_and_slopes(rule: Rule, ways: Ways, free: Params, values: Params) -> tuple[Any, Any]:
    def log_probs(free: Params) -> Any:
        return _played(rule, ways, {**values, **free})

    # Backwards, as samplers differentiate: a branch that is not taken must be finite too.
    return log_probs(free), jax.jacrev(log_probs)(free) if free else {}


def _played(rule: Rule, ways: Ways, params: Params) -> Any:
    ready = dict(rule.learner.prepare(params, ways.distances))
    ready |= {"walks": ways.walks} if rule.choice.walks else {}
    now = playing.with_room(rule, ready, playing.begun(rule, ready, N_ARMS), N_TRIALS)

    def trial(now: playing.Playing, seen: tuple[Any, ...]) -> tuple[playing.Playing, Any]:
        t, position, arm, reward = seen
        result = playing.log_probs(rule, ready, now, t, position, None)
        return playing.learned(rule, ready, now, None, Seen(arm, arm, reward, jnp.bool_(True))), result

    before = np.concatenate([[-1], ARMS[:-1]]).astype(np.int32)
    times = np.arange(1, N_TRIALS + 1, dtype=np.int32)
    return jax.lax.scan(trial, now, tuple(map(jnp.asarray, (times, before, ARMS, REWARDS))))[1]
