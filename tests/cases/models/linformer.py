"""linformer 0.2.3: models whose verdict is known (models.csv)."""

from cases.models import case
from linformer import LinformerLM


@case(n=32, tokens=50)
def linformer_lm(dtype):
    """No causal option; control."""
    model = LinformerLM(num_tokens=50, dim=32, seq_len=32, depth=2, k=8, heads=4)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run
