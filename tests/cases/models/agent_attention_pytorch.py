"""agent-attention-pytorch 0.1.7: models whose verdict is known (models.csv)."""

from agent_attention_pytorch import AgentSelfAttention
from cases.models import case


@case(n=32, width=32)
def agent_attn(dtype):
    model = AgentSelfAttention(dim=32, num_agent_tokens=8, dim_head=8, heads=4)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run
