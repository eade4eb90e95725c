"""agent-attention-pytorch 0.1.7."""

from agent_attention_pytorch import AgentSelfAttention
from cases.models import numbers

agent_attn = numbers(lambda: AgentSelfAttention(dim=32, num_agent_tokens=8, dim_head=8, heads=4))
