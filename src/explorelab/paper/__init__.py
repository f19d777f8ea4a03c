"""The paper's simulation figures and their companions, reproduced by one command."""

from explorelab.paper.exhibits import EXHIBITS
from explorelab.paper.reproduce import reproduce

__all__ = ["EXHIBITS", "reproduce"]
