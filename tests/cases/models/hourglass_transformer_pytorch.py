"""hourglass-transformer-pytorch 0.0.6."""

from cases.models import tokens
from hourglass_transformer_pytorch import HourglassTransformerLM

SMALL = {"num_tokens": 50, "dim": 32, "max_seq_len": 32, "heads": 4, "dim_head": 8}
TWO = SMALL | {"depth": (1, 2, 1), "shorten_factor": 4}
NESTED = SMALL | {"depth": (1, (1, 1, 1), 1), "shorten_factor": (2, 4)}

hourglass_causal = tokens(lambda: HourglassTransformerLM(**TWO, causal=True))
hourglass_causal_linear = tokens(lambda: HourglassTransformerLM(**TWO, causal=True, updown_sample_type="linear"))
hourglass_causal_nested = tokens(lambda: HourglassTransformerLM(**NESTED, causal=True))
hourglass_causal_noresample = tokens(lambda: HourglassTransformerLM(**TWO, causal=True, attn_resampling=False))
hourglass_off = tokens(lambda: HourglassTransformerLM(**TWO, causal=False))
