"""pytorch-tcn 1.2.3."""

from cases.models import numbers
from pytorch_tcn import TCN

SMALL = {"num_inputs": 32, "num_channels": [32, 32], "kernel_size": 3, "input_shape": "NLC", "dropout": 0.0}
CAUSAL = SMALL | {"causal": True}

tcn_causal = numbers(lambda: TCN(**CAUSAL))
tcn_causal_batchnorm_train = numbers(lambda: TCN(**CAUSAL, use_norm="batch_norm"), training=True)
tcn_causal_layernorm = numbers(lambda: TCN(**CAUSAL, use_norm="layer_norm"))
tcn_causal_nonorm_skip = numbers(lambda: TCN(**CAUSAL, use_norm=None, use_skip_connections=True, use_gate=True))
tcn_off = numbers(lambda: TCN(**SMALL, causal=False))
