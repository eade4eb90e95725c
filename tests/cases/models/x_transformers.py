"""x-transformers 2.31.10: models whose verdict is known (models.csv)."""

from cases.models import case
from torch import nn
from x_transformers import ContinuousTransformerWrapper, Decoder, Encoder, TransformerWrapper


@case(n=32, width=16)
def xt_continuous_decoder(dtype):
    model = ContinuousTransformerWrapper(
        dim_in=16, dim_out=16, max_seq_len=64, attn_layers=Decoder(dim=32, depth=2, heads=4, attn_dim_head=8)
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def xt_dec_addzero(dtype):
    model = TransformerWrapper(
        num_tokens=50,
        max_seq_len=64,
        attn_layers=Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, attn_add_zero_kv=True),
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def xt_dec_alibi(dtype):
    model = TransformerWrapper(
        num_tokens=50,
        max_seq_len=64,
        attn_layers=Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, alibi_pos_bias=True),
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def xt_dec_dynpos(dtype):
    model = TransformerWrapper(
        num_tokens=50,
        max_seq_len=64,
        attn_layers=Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, dynamic_pos_bias=True),
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def xt_dec_flash_alibi(dtype):
    model = TransformerWrapper(
        num_tokens=50,
        max_seq_len=64,
        attn_layers=Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, attn_flash=True, alibi_pos_bias=True),
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def xt_dec_hybrid_fold1(dtype):
    """Hybrid GRU."""
    model = TransformerWrapper(
        num_tokens=50,
        max_seq_len=64,
        attn_layers=Decoder(
            dim=32,
            depth=2,
            heads=4,
            attn_dim_head=8,
            attn_hybrid_module=nn.GRU(32, 32, batch_first=True),
            attn_hybrid_fold_axial_dim=1,
        ),
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def xt_dec_hyper_dyn(dtype):
    model = TransformerWrapper(
        num_tokens=50,
        max_seq_len=64,
        attn_layers=Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, num_residual_streams=4, integrate_layers=True),
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def xt_dec_maxattend(dtype):
    model = TransformerWrapper(
        num_tokens=50,
        max_seq_len=64,
        attn_layers=Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, attn_max_attend_past=4),
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def xt_dec_memkv(dtype):
    model = TransformerWrapper(
        num_tokens=50, max_seq_len=64, attn_layers=Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, attn_num_mem_kv=4)
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def xt_dec_memtokens(dtype):
    model = TransformerWrapper(
        num_tokens=50,
        max_seq_len=64,
        attn_layers=Decoder(dim=32, depth=2, heads=4, attn_dim_head=8),
        num_memory_tokens=4,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def xt_dec_memtokens_inter(dtype):
    model = TransformerWrapper(
        num_tokens=50,
        max_seq_len=64,
        attn_layers=Decoder(dim=32, depth=2, heads=4, attn_dim_head=8),
        num_memory_tokens=4,
        memory_tokens_interspersed_every=8,
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def xt_dec_resiattn(dtype):
    model = TransformerWrapper(
        num_tokens=50,
        max_seq_len=64,
        attn_layers=Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, residual_attn=True),
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def xt_dec_rotary(dtype):
    model = TransformerWrapper(
        num_tokens=50,
        max_seq_len=64,
        attn_layers=Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, rotary_pos_emb=True),
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, width=32)
def xt_dec_topk_eval_train(dtype):
    model = Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, attn_sparse_topk=2)
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def xt_dec_xpos(dtype):
    model = TransformerWrapper(
        num_tokens=50, max_seq_len=64, attn_layers=Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, rotary_xpos=True)
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def xt_dec_zeroinit(dtype):
    """Branches are zero at init: nothing but the residual."""
    model = TransformerWrapper(
        num_tokens=50,
        max_seq_len=64,
        attn_layers=Decoder(dim=32, depth=2, heads=4, attn_dim_head=8, zero_init_branch_output=True),
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def xt_decoder(dtype):
    model = TransformerWrapper(
        num_tokens=50, max_seq_len=64, attn_layers=Decoder(dim=32, depth=2, heads=4, attn_dim_head=8)
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run


@case(n=32, tokens=50)
def xt_encoder(dtype):
    model = TransformerWrapper(
        num_tokens=50, max_seq_len=64, attn_layers=Encoder(dim=32, depth=2, heads=4, attn_dim_head=8)
    )
    model = model.eval().to(dtype)

    def run(x):
        return model(x)

    return model, run
