"""The abstract run, under the name that other projects import: see `attnproof.causal.model.trace`."""

from .model.trace import *  # noqa: F403
from .model.trace import __all__ as __all__
