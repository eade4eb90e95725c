"""x-transformers 2.31.10."""

from cases.models import numbers, tokens
from torch import nn
from x_transformers import ContinuousTransformerWrapper, Decoder, Encoder, TransformerWrapper

SMALL = {"dim": 32, "depth": 2, "heads": 4, "attn_dim_head": 8}


def decoder(**options):
    """A language model on a small decoder with these options."""
    return language_model(Decoder(**SMALL, **options))


def language_model(layers, **options):
    return TransformerWrapper(num_tokens=50, max_seq_len=64, attn_layers=layers, **options)


xt_continuous_decoder = numbers(
    lambda: ContinuousTransformerWrapper(dim_in=16, dim_out=16, max_seq_len=64, attn_layers=Decoder(**SMALL)), width=16
)
xt_dec_addzero = tokens(lambda: decoder(attn_add_zero_kv=True))
xt_dec_alibi = tokens(lambda: decoder(alibi_pos_bias=True))
xt_dec_dynpos = tokens(lambda: decoder(dynamic_pos_bias=True))
xt_dec_flash_alibi = tokens(lambda: decoder(attn_flash=True, alibi_pos_bias=True))
xt_dec_hybrid_fold1 = tokens(
    lambda: decoder(attn_hybrid_module=nn.GRU(32, 32, batch_first=True), attn_hybrid_fold_axial_dim=1)
)
xt_dec_hyper_dyn = tokens(lambda: decoder(num_residual_streams=4, integrate_layers=True))
xt_dec_maxattend = tokens(lambda: decoder(attn_max_attend_past=4))
xt_dec_memkv = tokens(lambda: decoder(attn_num_mem_kv=4))
xt_dec_memtokens = tokens(lambda: language_model(Decoder(**SMALL), num_memory_tokens=4))
xt_dec_memtokens_inter = tokens(
    lambda: language_model(Decoder(**SMALL), num_memory_tokens=4, memory_tokens_interspersed_every=8)
)
xt_dec_resiattn = tokens(lambda: decoder(residual_attn=True))
xt_dec_rotary = tokens(lambda: decoder(rotary_pos_emb=True))
xt_dec_topk_eval_train = numbers(lambda: Decoder(**SMALL, attn_sparse_topk=2))
xt_dec_xpos = tokens(lambda: decoder(rotary_xpos=True))
xt_dec_zeroinit = tokens(lambda: decoder(zero_init_branch_output=True))
xt_decoder = tokens(lambda: decoder())
xt_encoder = tokens(lambda: language_model(Encoder(**SMALL)))
