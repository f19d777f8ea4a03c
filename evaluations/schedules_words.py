"""The words of the page about schedules."""

INTRODUCTION = """# Which schedule do people follow?

<!-- Written by evaluations/schedules_page.py: change that, not this. -->

The paper models people by the stochastic UCL algorithm and leaves open whether its schedules are right: "to ascertain
the correctness of these functional forms", alpha_t = 1/(K t) for the credibility of the limit and nu / log t for the
temperature. Here people's choices are predicted by models that differ in these two schedules and in nothing else.

**ANSWER**

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
LIMITS = ""
