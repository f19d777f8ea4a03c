"""The words of the page about schedules."""

INTRODUCTION = """# Which schedule do people follow?

<!-- Written by evaluations/schedules_page.py: change that, not this. -->

The paper models people by the stochastic UCL algorithm and leaves open whether its schedules are right: "to ascertain
the correctness of these functional forms", alpha_t = 1/(K t) for the credibility of the limit and nu / log t for the
temperature. Here people's choices are predicted by models that differ in these two schedules and in nothing else.

**People do not cool as ν / log t.** In both data sets, with and without habits, ν / log t predicts left-out rounds worse
than a constant temperature: by 0.066 ± 0.009 nats a choice in wu2018 and 0.016 ± 0.006 in meder2025 with habits, by 0.112
± 0.012 and 0.034 ± 0.008 without. If the power is free, the temperature rather rises, as t^0.16 and t^0.08, with habits
(a gain of 0.009 ± 0.005 and 0.016 ± 0.005), and hardly changes without. The paper's feedback cannot describe anybody:
among 121 squares two values are always almost equal, so that one square is certain and all else a lapse (82 % of choices;
R2 0.09 in wu2018, with prior and bonus fixed at the constant model's group means, since its likelihood is flat). Feedback
by the spread of the values, over log t, is level with a constant temperature in wu2018 (-0.011 ± 0.017) and better in
meder2025 (0.027 ± 0.012, frequency 0.59), both without habits; with habits it was not measured.

**The bonus: in wu2018 it does not fall towards the end, and 1/(K t) is no better than a constant.** Without habits people
have a large bonus (2.5 to 3.2 standard deviations; without it, 0.29 and 0.56 nats a choice are lost), and 1/(K t) gains
0.003 ± 0.010 and -0.003 ± 0.013 over a constant one. In wu2018 a bonus of the trials left loses 0.145 ± 0.046, one that
is a power of the horizon gains nothing (-0.014 ± 0.008): no sign that uncertainty is worth more with 40 choices to come
than with 20. In meder2025, whose rounds all have 25 choices, the trials left lose 0.029 ± 0.032, and yet are the most
frequent (0.40).

**Once habits are in the model, there is no upper limit whose schedule could be right.** The pull of new squares does the
exploring, and the bonus becomes negative (-2.7 and -2.1 standard deviations): people try new squares next to those that
they know. In wu2018 the shape of this aversion does not matter (1/(K t): -0.004 ± 0.005); in meder2025 1/(K t) is better
(0.023 ± 0.005), but as an aversion that grows, not as the paper's optimism. Habits matter more than any schedule: R2
rises from 0.325 to 0.474 and from 0.205 to 0.417. And they pass for a bonus: simulated people with habits and a bonus of
-2.2, fitted without habits, seem to have one of +2.2 (last tables). So the bonus of the models without habits is no
evidence for one.

**Could it have been found out?** The study's own design (2 blocks of 90 choices) has no data from people, so this part is
about simulated ones. As a group, yes: in both designs, wu2018's and the study's, the sum over 40 simulated people without
habits picks the true schedule in all seven cases (hardly, where only a bonus of 0 differs). Single people cannot be
sorted: in the study's design 15 % of those with constant schedules and 57 % of those with 1/(K t) are best described by
their own. Such people would show a difference between constant and 1/(K t) of 0.03 nats a choice in wu2018, one way or
the other. Real ones do not (0.003 ± 0.010): they follow neither, or some the one and some the other.

![What each schedule gains over constant ones, and which models simulated people are taken for](schedules.png)

Above: nats a choice gained over a constant bonus and temperature on left-out rounds, mean over people with its 95 %
interval. Below: of 40 simulated people without habits, the percentage whom each model predicts best; the winner by the sum
over people is bold.

## The models

Everyone has a correlated Gaussian prior (Matern 3/2, reward variance and noise known) and chooses by softmax:

    value of a square = mean + bonus x shape(t) x sd          temperature at t = temperature x shape(t)

| schedule of the bonus | shape | | of the temperature | shape |
|---|---|---|---|---|
| none | 0 | | constant | 1 |
| constant | 1 | | ν / log t | 1 / log t |
| 1/(K t), the paper's | q(t) = Φ⁻¹(1 − 1/(K t)) | | t^-c, free | t^-c, c of either sign |
| 1/(K t^a), free power | Φ⁻¹(1 − 1/(K t^a)) | | spread / log t | sd of the values / log t |
| t^b, free | t^b, b of either sign | | T^h, by horizon | T^h |
| 1/(K left), by horizon | q(T − t + 1) | | feedback, the paper's | smallest gap / (2 log t) |
| T^h, by horizon | T^h | | | |

K = sqrt(2 π e), t counts every trial of a block, and T is the block's length: 21 or 41 in wu2018, so that functions of the
horizon can be told from functions of time there; meder2025 has one length. Shapes are scaled to 1 at t = 10 (or T = 30).
Prior mean, length scale, bonus and temperature are estimated for each person, and with habits (those of `situated-ucl`)
stickiness, travel cost, novelty and lapse. The prior variance is fixed (500, 100 in meder2025), because the bonus makes up
for any other; the bonus may be negative.

Each person's rounds are halved, every other one of the same length. A group prior is learned from one half by empirical
Bayes (`em`), and everyone's estimates under it predict the other half. All models start where the constant one, fitted to
the same rounds, ended.

    python -m evaluations.schedules FOLDER             # FOLDER holds wu2018 and meder2025
    python -m evaluations.schedules --simulated
    python -m evaluations.schedules --render
"""
PEOPLE = """R2 = 1 - nLL / (n log N) over all left-out choices. Gains are over the constant model, mean over people with its
standard error; "people better" is out of 80 or 103. Frequencies are those of a random-effects selection, with protected
exceedance probabilities: one among models that differ only in the bonus, one among those that differ only in the
temperature; the constant model is in both.
"""
SIMULATED = """Data of the study's own design have not been collected from people: what follows says what it could find, not
what it found. 40 simulated people play the study's design (landscapes A and B: one is learned from, the other predicted),
and rounds like those of wu2018 on surfaces drawn anew (four of eight are learned from). The same people follow each schedule
in turn, and all models are fitted to each. Cells are how many nats a person a model is worse than the true one on left-out
blocks, mean over people with its standard error. A temperature made by t^-c grows as t^0.4.
"""
LIMITS = """## What this cannot say

- Models were fitted to one half of the rounds and judged on the other, not the other way round as well (`--halves 2`
  would); errors are over people and do not contain this. Grids of all pairs were not measured: one schedule changes at a
  time.
- Everything is conditional on the rest of the model. The control for people who have habits, fitted with them, was not
  run (`--simulated --only "| habits |"`); fitted without, the constant schedules still win as a group in wu2018's design,
  but for 12 % of people, and in the study's they are level with spread / log t (-2.6 ± 3.9 nats a person).
- The free prior mean, the bonus and novelty are three ways to value an unseen square, and trade off against each other:
  the sign of the bonus with habits says that squares far from known ones are avoided, not that people dislike
  information.
- A free power beats a fixed shape only if it is worth its extra parameter on left-out rounds, but is never far behind it
  where both are right, so that it often wins for single people (see its columns in the figure).
- A model without a bonus is the constant one with a bonus of 0: where nobody has a bonus, their predictions are the same.
- All fits but one settled; the free power 1/(K t^a) without habits was still moving after eight rounds.
- The simulated people follow their model exactly, as real ones do not: differences among people are likely to be smaller.
- Not measured: feedback in meder2025 and with habits, powers of the horizon with habits, and free powers of the bonus but
  those in the tables.
"""
