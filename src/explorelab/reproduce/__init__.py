"""The paper's simulation figures and their companions, made anew from one command."""

from explorelab.reproduce.exhibits import EXHIBITS
from explorelab.reproduce.run import reproduce

__all__ = ["EXHIBITS", "reproduce"]
