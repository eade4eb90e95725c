"""minGRU-pytorch 0.2.1: models whose verdict is known (models.csv)."""

from cases.models import case
from minGRU_pytorch import minGRU


@case(n=32, width=32)
def mingru(dtype):
    """Log-space heinsen scan (logcumsumexp)."""
    model = minGRU(dim=32)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run
