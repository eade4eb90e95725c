"""omninet-pytorch 0.0.6: models whose verdict is known (models.csv)."""

from cases.models import case
from omninet_pytorch import Omninet, OmninetCausal


@case(n=32, width=32)
def omninet_causal(dtype):
    model = OmninetCausal(dim=32, depth=2, dim_head=8, heads=4, pool_layer_tokens_every=2)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, width=32)
def omninet_off(dtype):
    model = Omninet(dim=32, depth=2, dim_head=8, heads=4, pool_layer_tokens_every=2)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run
