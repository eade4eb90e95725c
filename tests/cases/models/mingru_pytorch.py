"""minGRU-pytorch 0.2.1."""

from cases.models import numbers
from minGRU_pytorch import minGRU

mingru = numbers(lambda: minGRU(dim=32))
