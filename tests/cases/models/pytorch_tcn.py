"""pytorch-tcn 1.2.3: models whose verdict is known (models.csv)."""

from cases.models import case
from pytorch_tcn import TCN


@case(n=32, width=32)
def tcn_causal(dtype):
    model = TCN(32, [32, 32], kernel_size=3, causal=True, input_shape="NLC", dropout=0.0)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, width=32)
def tcn_causal_batchnorm_train(dtype):
    """Train(): batch statistics over time."""
    model = TCN(32, [32, 32], kernel_size=3, causal=True, use_norm="batch_norm", input_shape="NLC", dropout=0.0)
    model = model.train().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, width=32)
def tcn_causal_layernorm(dtype):
    model = TCN(32, [32, 32], kernel_size=3, causal=True, use_norm="layer_norm", input_shape="NLC", dropout=0.0)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, width=32)
def tcn_causal_nonorm_skip(dtype):
    model = TCN(
        32,
        [32, 32],
        kernel_size=3,
        causal=True,
        use_norm=None,
        use_skip_connections=True,
        use_gate=True,
        input_shape="NLC",
        dropout=0.0,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, width=32)
def tcn_off(dtype):
    model = TCN(32, [32, 32], kernel_size=3, causal=False, input_shape="NLC", dropout=0.0)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run
