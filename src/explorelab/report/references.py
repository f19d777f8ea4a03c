"""What the report cites, numbered in the order in which it is cited."""

from __future__ import annotations

REFERENCES = {
    "reverdy2014": "Reverdy, P. B., Srivastava, V., & Leonard, N. E. (2014). Modeling human decision making in generalized "
    "Gaussian multiarmed bandits. Proceedings of the IEEE, 102(4), 544–571.",
    "wilson2019": "Wilson, R. C., & Collins, A. G. E. (2019). Ten simple rules for the computational modeling of behavioral "
    "data. eLife, 8, e49547.",
    "paparoditis2002": "Paparoditis, E., & Politis, D. N. (2002). Local block bootstrap. Comptes Rendus Mathématique, "
    "335(11), 959–962.",
    "schwarz1978": "Schwarz, G. (1978). Estimating the dimension of a model. The Annals of Statistics, 6(2), 461–464.",
    "stephan2009": "Stephan, K. E., Penny, W. D., Daunizeau, J., Moran, R. J., & Friston, K. J. (2009). Bayesian model "
    "selection for group studies. NeuroImage, 46(4), 1004–1017.",
    "rigoux2014": "Rigoux, L., Stephan, K. E., Friston, K. J., & Daunizeau, J. (2014). Bayesian model selection for group "
    "studies – revisited. NeuroImage, 84, 971–985.",
    "huys2011": "Huys, Q. J. M., Cools, R., Gölzer, M., Friedel, E., Heinz, A., Dolan, R. J., & Dayan, P. (2011). "
    "Disentangling the roles of approach, activation and valence in instrumental and Pavlovian responding. PLoS "
    "Computational Biology, 7(4), e1002028.",
    "bell2002": "Bell, R. M., & McCaffrey, D. F. (2002). Bias reduction in standard errors for linear regression with "
    "multi-stage samples. Survey Methodology, 28(2), 169–181.",
    "kass1995": "Kass, R. E., & Raftery, A. E. (1995). Bayes factors. Journal of the American Statistical Association, "
    "90(430), 773–795.",
    "mcfadden1974": "McFadden, D. (1974). Conditional logit analysis of qualitative choice behavior. In P. Zarembka (Ed.), "
    "Frontiers in econometrics (pp. 105–142). Academic Press.",
    "robbins1952": "Robbins, H. (1952). Some aspects of the sequential design of experiments. Bulletin of the American "
    "Mathematical Society, 58(5), 527–535.",
    "daw2006": "Daw, N. D., O'Doherty, J. P., Dayan, P., Seymour, B., & Dolan, R. J. (2006). Cortical substrates for "
    "exploratory decisions in humans. Nature, 441, 876–879.",
    "wu2018": "Wu, C. M., Schulz, E., Speekenbrink, M., Nelson, J. D., & Meder, B. (2018). Generalization guides human "
    "exploration in vast spaces. Nature Human Behaviour, 2, 915–924.",
    "rescorla1972": "Rescorla, R. A., & Wagner, A. R. (1972). A theory of Pavlovian conditioning: Variations in the "
    "effectiveness of reinforcement and nonreinforcement. In A. H. Black & W. F. Prokasy (Eds.), Classical conditioning II "
    "(pp. 64–99). Appleton-Century-Crofts.",
    "jax2018": "Bradbury, J., Frostig, R., Hawkins, P., Johnson, M. J., Leary, C., Maclaurin, D., Necula, G., Paszke, A., "
    "VanderPlas, J., Wanderman-Milne, S., & Zhang, Q. (2018). JAX: composable transformations of Python+NumPy programs "
    "[Computer software].",
}

OF_AGENTS = {
    "stochastic-ucl": "reverdy2014",
    "situated-ucl": "reverdy2014",
    "roving-ucl": "reverdy2014",
    "deterministic-ucl": "reverdy2014",
    "block-ucl": "reverdy2014",
    "win-stay-lose-shift": "robbins1952",
    "kalman-ucb": "daw2006",
    "kalman-value": "daw2006",
    "gp-ucb-constant": "wu2018",
    "delta-rule": "rescorla1972",
}
"""Where an agent comes from, as a model of people."""


class Citations:
    """Numbers for references, given out as they are asked for."""

    def __init__(self) -> None:
        self._keys: list[str] = []

    def __call__(self, *keys: str) -> str:
        """[1], or [1, 2]."""
        for key in keys:
            if key not in self._keys:
                self._keys.append(key)
        return f"[{', '.join(str(self._keys.index(key) + 1) for key in keys)}]"

    @property
    def listed(self) -> list[str]:
        """Every reference that was cited, in order."""
        return [REFERENCES[key] for key in self._keys]
