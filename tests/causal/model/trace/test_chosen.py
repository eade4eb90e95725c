"""Rows that data choose (`nonzero`, `where`, a mask as an index): put back, and twins that leak."""

from __future__ import annotations

import contextlib
import copy
import itertools

from needs import need

torch = need("torch")

import attnproof as ap
import pytest
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

TOKENS, WIDTH, EXPERTS, EACH = 6, 4, 3, 2


def weights(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


ROUTER, MATRICES = weights(WIDTH, EXPERTS), weights(EXPERTS, WIDTH, WIDTH, seed=1)


def experts(step):
    """(1, tokens, width) → the same: for each expert, `step` adds to the output what it makes of the tokens."""

    def run(x):
        h = x.reshape(-1, WIDTH)
        score, chosen = (h @ ROUTER).softmax(-1).topk(EACH, -1)
        mask = F.one_hot(chosen, EXPERTS).permute(2, 1, 0)
        out = torch.zeros_like(h)
        for j, matrix in enumerate(MATRICES):
            out = step(out, h, mask[j], score, matrix)
        return out.view(x.shape)

    return run


def tokens():
    """Always the same."""
    torch.manual_seed(0)
    return torch.randn(1, TOKENS, WIDTH)


def checked(step, **options):
    """The verdict on such experts."""
    return ap.check_model(experts(step), tokens(), sequence_axis=1, **options)


def assert_leaks(model, x):
    """A run without values proves nothing, and a search finds the leak."""
    assert ap.check_model(model, x, sequence_axis=1, replay="never").status.name == "UNDECIDED"
    assert ap.check_model(model, x, sequence_axis=1).status.name == "REFUTED"


# -- nobody feels who else was chosen ----------------------------------------------------------------------------------


def added(out, h, mask, score, matrix):
    each, token = torch.where(mask)
    return out.index_add_(0, token, h[token] @ matrix * score[token, each, None])


def added_apart(out, h, mask, score, matrix):
    each, token = mask.nonzero(as_tuple=True)
    return out.index_add(
        0, token, F.silu(F.linear(h.index_select(0, token), matrix)) * score[token, each].unsqueeze(-1)
    )


def reshaped(out, h, mask, score, matrix):
    each, token = torch.where(mask)
    rows = h[None, token].reshape(-1, WIDTH)
    return out.index_add_(0, token, (F.linear(rows[None], matrix)[0] * score[token, each, None]).to(out.dtype))


def masked(out, h, mask, score, matrix):
    hit = mask.bool().any(0)
    share = (score * mask.T).sum(-1, keepdim=True)
    out[hit] += h[hit] @ matrix * share[hit]
    return out


def written(out, h, mask, score, matrix):
    token = mask.sum(0).nonzero().squeeze(-1)
    out[token] = out[token] + F.layer_norm(h[token], (WIDTH,)).view(-1, 2, 2).flatten(1) @ matrix
    return out


def scattered(out, h, mask, score, matrix):
    place = torch.argwhere(mask.bool())
    each, token = place[:, 0], place.select(1, 1)
    index = token[:, None].expand(-1, WIDTH)
    return out.scatter_add(
        0, index, torch.cat((h.gather(0, index).chunk(2, -1)), -1) @ matrix * score[token, each, None]
    )


def everywhere(out, h, mask, score, matrix):
    """A mask over two axes."""
    pairs = h.view(2, TOKENS // 2, WIDTH)
    hit = mask.any(0).view(2, TOKENS // 2)
    return out.view_as(pairs).index_put((hit,), (pairs[hit] @ matrix), accumulate=True).view_as(out)


def selected(out, h, mask, score, matrix):
    hit = mask.bool().any(0)
    token = hit.nonzero()[:, 0]
    gate = (h @ matrix).sum(-1).masked_select(hit)
    return out.index_copy_(0, token, (out[token] + gate[:, None].tanh()).clamp(-1, 1))


BACK = [added, added_apart, reshaped, masked, written, scattered, everywhere, selected]


@pytest.mark.parametrize("step", BACK, ids=lambda step: step.__name__)
def test_rows_that_are_put_back_forget_who_was_chosen(step):
    verdict = checked(step)
    assert verdict.status.name == "PROVED", verdict
    assert any("that data choose" in sentence for sentence in verdict.assumptions), verdict.assumptions


# -- and somebody does -------------------------------------------------------------------------------------------------


def twin(change, by_mask=False):
    """Experts in which `change` looks at the rows that were chosen."""

    def step(out, h, mask, score, matrix):
        hit = mask.sum(0) > 0
        token = hit.nonzero().squeeze(1)
        return out.index_add_(0, token, change(h[hit if by_mask else token], token, h))

    return step


@torch.jit.script
def by_count(rows):
    return rows * rows.size(0)


class _Count:
    """An index that looks at its surroundings."""

    def __init__(self, rows):
        self.rows, self.count = rows, 0

    def __index__(self):
        self.count = self.rows.shape[0]
        return 0


class _Own(torch.Tensor):
    pass


def _held(rows):
    other = torch.zeros(1)
    other.data = rows
    return other


def _suppressed(step):
    passed = 1.0
    with contextlib.suppress(RuntimeError):
        step()
        passed = 2.0
    return passed


def _in_a_graph(rows):
    """How many rows there are, from the graph of what follows from them."""
    with torch.enable_grad():
        summed = (rows * torch.ones(1, requires_grad=True)).sum(1)
        return summed.grad_fn._saved_self_sym_sizes[0]


class _Sizes(TorchDispatchMode):
    """A mode of the program's, which is told what every operation is given."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.size = args[0].shape[0]
        return func(*args, **(kwargs or {}))


class _Shapes(TorchFunctionMode):
    """The like for functions, which was on before the check."""

    size = 1

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is torch.Tensor.neg:
            self.size = args[0].shape[0]
        return func(*args, **(kwargs or {}))


def _in_a_mode(rows):
    with _Sizes() as mode:
        rows.neg()
    return mode.size


def _passes(step):
    try:
        step()
    except RuntimeError:
        return 1.0
    return 2.0


LEAKS = {
    "capacity": lambda rows, token, h: torch.cat((0 * rows[:-2], rows[-2:])),
    "a graph": lambda rows, token, h: rows * _in_a_graph(rows),
    "mean": lambda rows, token, h: rows - rows.mean(0),
    "a mode": lambda rows, token, h: rows * _in_a_mode(rows),
    "largest": lambda rows, token, h: rows / rows.abs().max(),
    "softmax": lambda rows, token, h: rows.softmax(0),
    "variance": lambda rows, token, h: rows / (rows.var(0, unbiased=False) + 1),
    "batch norm": lambda rows, token, h: torch.batch_norm(rows, None, None, None, None, True, 0.0, 1.0, False),
    "place among them": lambda rows, token, h: rows * torch.ones_like(token).flip(0).cumsum(0).flip(0)[:, None],
    "shape": lambda rows, token, h: rows * rows.shape[0],
    "size": lambda rows, token, h: rows * rows.size(0),
    "length": lambda rows, token, h: rows * len(token),
    "number": lambda rows, token, h: rows * token.numel(),
    "strides": lambda rows, token, h: rows * rows.T.contiguous().stride(0),
    "a list": lambda rows, token, h: rows * len(token.tolist()),
    "zeros in a list": lambda rows, token, h: rows * len((token * 0).tolist()),
    "one by one": lambda rows, token, h: torch.stack(list(rows)[::-1]) if len(rows) else rows,
    "the last": lambda rows, token, h: rows + rows[-1:].sum(),
    "the next": lambda rows, token, h: rows.roll(-1, 0),
    "backwards": lambda rows, token, h: rows.flip(0),
    "in order": lambda rows, token, h: rows.sort(0)[0],
    "the best": lambda rows, token, h: rows * (rows >= rows.amax(0)),
    "among themselves": lambda rows, token, h: (rows @ rows.T).softmax(-1) @ rows,
    "their product": lambda rows, token, h: rows @ (rows.T @ rows),
    "in their table": lambda rows, token, h: rows[token % rows.shape[0]],
    "script": lambda rows, token, h: by_count(rows),
    "scattered": lambda rows, token, h: rows * torch.zeros(TOKENS, 1).index_fill(0, token, 1.0).sum(),
    "counted": lambda rows, token, h: rows * torch.bincount(token, minlength=TOKENS).sum(),
    "under a gradient": lambda rows, token, h: rows + torch.func.grad(lambda r: (r * r.shape[0]).sum())(rows),
    "in a gradient": lambda rows, token, h: rows + torch.func.jvp(lambda r: h[:1] * r.shape[0], (rows,), (rows,))[0],
    "in a vmap": lambda rows, token, h: torch.vmap(lambda c: c * c.shape[0], 1, 1)(rows),
    "in an index": lambda rows, token, h: rows + h[at := _Count(rows)] * 0 + at.count,
    "copied": lambda rows, token, h: rows * copy.deepcopy(rows).shape[0],
    "wrapped": lambda rows, token, h: rows * rows.as_subclass(_Own).shape[0],
    "a parameter": lambda rows, token, h: rows * torch.nn.Parameter(rows).shape[0],
    "its data": lambda rows, token, h: rows * _held(rows).shape[0],
    "detached": lambda rows, token, h: rows * rows.data.shape[0],
    "einsum": lambda rows, token, h: torch.einsum("sd,td->sd", rows, rows),
    "nested": lambda rows, token, h: rows * torch.nested.nested_tensor([rows, rows]).size(1) if len(rows) else rows,
    "unique": lambda rows, token, h: rows * torch.unique(token).shape[0],
    "normalised": lambda rows, token, h: F.normalize(rows, dim=0),
    "transposed": lambda rows, token, h: rows.T.mean(-1) + rows,
    "viewed": lambda rows, token, h: rows * rows.reshape(2, -1).shape[1],
    "as many as all": lambda rows, token, h: rows * _passes(lambda: rows.narrow(0, 0, TOKENS)),
    "as many columns": lambda rows, token, h: rows * _passes(lambda: rows.T.narrow(-1, 0, TOKENS)),
    "in one part": lambda rows, token, h: rows * _passes(lambda: rows.split([TOKENS])),
    "suppressed": lambda rows, token, h: rows * _suppressed(lambda: rows.narrow(0, 0, TOKENS)),
    "of one size": lambda rows, token, h: rows * _passes(lambda: rows.sum_to_size(TOKENS, WIDTH)),
    "padded": lambda rows, token, h: F.pad(rows, (0, 0, 0, TOKENS))[:TOKENS].sum() + rows,
}


def test_a_mode_around_the_check_sees_how_many_there_are():
    with _Shapes() as mode:

        def told(rows, token, h):
            rows.neg()
            return rows * mode.size

        assert checked(twin(told), replay="never").status.name == "UNDECIDED"


def test_rows_that_are_returned_show_how_many_there_are():
    def returned(x):
        return x, x[0][x[0, :, 0] > 0][None]

    for replay in ("never", "auto"):
        verdict = ap.check_model(returned, tokens(), sequence_axis=1, output_axis=1, replay=replay)
        assert verdict.status.name == "UNDECIDED", verdict


EARLIER = {  # what follows from how many were chosen before
    "the first": lambda rows, token, h: torch.cat((rows[:2], 0 * rows[2:])),
    "running": lambda rows, token, h: rows * torch.ones_like(token).cumsum(0)[:, None],
    "beside a table": lambda rows, token, h: rows + h[: rows.shape[0]],
}


@pytest.mark.parametrize("by_mask", [True, False])
def test_a_twin_that_looks_at_nothing_is_proved(by_mask):
    assert checked(twin(lambda rows, token, h: rows.tanh(), by_mask)).status.name == "PROVED"


@pytest.mark.parametrize(("name", "by_mask"), zip(LEAKS, itertools.cycle([True, False])), ids=LEAKS)
def test_a_row_that_feels_the_others_is_refuted(name, by_mask):
    assert_leaks(experts(twin(LEAKS[name], by_mask)), tokens())


@pytest.mark.parametrize("name", EARLIER)
def test_a_row_that_feels_its_place_is_never_proved(name):
    verdict = checked(twin(EARLIER[name]))
    assert verdict.status.name == "UNDECIDED", (name, verdict)


# What depends on no number, but on how many there are.
ONES = {
    "sum": lambda ones, token: ones.sum(),
    "another in its shape": lambda ones, token: torch.ones(1).expand_as(ones).sum(),
    "mean": lambda ones, token: 1 / (1 / ones).cumsum(0).mean(),
    "products": lambda ones, token: (ones[:, None] * ones[None]).sum(1)[:, None],
    "outer": lambda ones, token: torch.outer(ones, ones).sum(0)[:, None],
    "matrices": lambda ones, token: ones[:, None] @ (ones[None] @ ones[:, None]),
    "batch": lambda ones, token: torch.bmm(ones[:, None, None], ones[:, None, None]).sum(0),
    "largest": lambda ones, token: (ones * torch.arange(2.0)[:, None]).cumsum(1).amax(1)[1],
    "softmax": lambda ones, token: ones.softmax(0)[:, None],
    "norm": lambda ones, token: ones.norm(),
    "length of a column": lambda ones, token: ones[None].expand(3, -1).reshape(-1).norm(),
    "added at one place": lambda ones, token: torch.zeros(2).index_add(0, token * 0, ones)[0],
    "put at one place": lambda ones, token: torch.zeros(2).index_put((token * 0,), ones, accumulate=True)[0],
    "scattered at one place": lambda ones, token: torch.zeros(2).scatter_add(0, token * 0, ones)[0],
    "at places of their own": lambda ones, token: torch.zeros(TOKENS).index_add(0, token, ones).sum(),
    "written": lambda ones, token: torch.zeros(TOKENS).index_copy(0, token, ones).sum(),
    "filled": lambda ones, token: torch.zeros(TOKENS).index_put((token,), torch.ones(())).sum(),
    "joined": lambda ones, token: torch.cat((ones, ones)).sum(),
    "counted": lambda ones, token: torch.count_nonzero(ones),
    "split": lambda ones, token: torch.tensor(float(len(ones.split(1)))),
    "unbound": lambda ones, token: sum(ones.unbind()),
    "padded": lambda ones, token: F.pad(ones, (0, TOKENS)).sum(),
    "diagonal": lambda ones, token: ones.diag().sum(),
    "drawn": lambda ones, token: ones[(token * 0 - 1).long()].cumsum(0)[-1:],
    "tril": lambda ones, token: (ones[:, None] * ones).tril().sum(0)[:, None],
}


@pytest.mark.parametrize("name", ONES)
def test_how_many_are_chosen_is_seen_in_no_number(name):
    step = twin(lambda rows, token, h: rows * ONES[name](token * 0.0 + 1.0, token))
    assert_leaks(experts(step), tokens())


# -- one row, of as many tokens as there are columns -----------------------------------------------------------------


def alone(combine, choice=torch.argmax):
    """The one token that scores best, beside all."""

    def run(x):
        h = x[0]
        best = F.one_hot(choice(h.sum(-1)), WIDTH) > 0
        (token,) = torch.where(best)
        return combine(h, h[token], token, best)[None]

    return run


ALONE = {
    "added": lambda h, row, token, best: h + row,
    "into": lambda h, row, token, best: h.clone().add_(row),
    "copied": lambda h, row, token, best: torch.empty_like(h).copy_(row),
    "assigned": lambda h, row, token, best: h.new_zeros(WIDTH, WIDTH).index_put_((torch.arange(WIDTH),), row),
    "sliced": lambda h, row, token, best: torch.cat([h[:1], h[1:] + row[:1]]),
    "chosen": lambda h, row, token, best: torch.where(h > 0, h, row),
    "expanded": lambda h, row, token, best: row.expand(WIDTH, WIDTH),
    "expanded as": lambda h, row, token, best: row.expand_as(h),
    "squeezed": lambda h, row, token, best: h + row.squeeze(),
    "squeezed away": lambda h, row, token, best: h + row.squeeze(0),
    "viewed": lambda h, row, token, best: h + row.view(WIDTH),
    "flat": lambda h, row, token, best: h + row.flatten(),
    "opened": lambda h, row, token, best: h + row.reshape(1, -1),
    "selected": lambda h, row, token, best: h + row[0],
    "a column": lambda h, row, token, best: h * row.T,
    "products": lambda h, row, token, best: h @ row.T + h,
    "linear": lambda h, row, token, best: F.linear(h, row) + h,
    "outer": lambda h, row, token, best: (h[:, None] * row[None]).sum(1),
    "between": lambda h, row, token, best: torch.lerp(h, row, 0.5),
    "scattered": lambda h, row, token, best: h.masked_scatter(torch.ones(WIDTH, WIDTH) > 0, row.repeat(WIDTH, 1)),
    "beside indices": lambda h, row, token, best: h + h[token, torch.arange(WIDTH)],
    "at columns": lambda h, row, token, best: h + h[:, token],
    "gathered": lambda h, row, token, best: h + h.gather(0, token[:, None].expand(-1, WIDTH)),
    "as numbers": lambda h, row, token, best: h + token,
    "in rows": lambda h, row, token, best: h.index_add(0, torch.arange(1), row) + h.index_add(0, token - token, row),
    "at another place": lambda h, row, token, best: h.index_add(0, (token + 1) % WIDTH, row),
    "twice": lambda h, row, token, best: h + h[torch.where(h.sum(-1) == h.sum(-1).amin())[0]] * row,
    "and written": lambda h, row, token, best: _shared(h, row),
    "maximum": lambda h, row, token, best: torch.maximum(h, row),
    "broadcast": lambda h, row, token, best: torch.broadcast_tensors(h, row)[1] * 1,
    "mean": lambda h, row, token, best: h + row.mean(0),
    "in a batch": lambda h, row, token, best: h + torch.bmm(row[None], h[None])[0],
    "rows of a batch": lambda h, row, token, best: (row[:, None] @ h[None])[:, 0] + h,
}


def _shared(h, row):
    column = row.T.contiguous()
    column *= 2  # the row, too, where there is one
    return h + row[:1]


@pytest.mark.parametrize("name", ALONE)
def test_one_row_is_not_taken_for_many(name):
    torch.manual_seed(1)
    assert_leaks(alone(ALONE[name]), torch.randn(1, WIDTH, WIDTH))


# -- another program where one row is alone -----------------------------------------------------------------------


def few(change):
    """Often one token, often none or two, through `change`."""

    def run(x):
        h = x[0]
        (token,) = torch.where(h[:, 0] > 0.8)
        return torch.zeros_like(h).index_add(0, token, change(h[token]))[None]

    return run


def doubled(rows):
    columns = rows.T.contiguous()  # as they are, where there is one row
    columns.mul_(2)
    return rows


def doubled_in_parts(rows):
    halves = torch.cat([rows[None, :, :2], rows[None, :, 2:]])
    halves.transpose(0, 1).reshape(-1, WIDTH).mul_(2)  # a view of one row, and a copy of several
    return torch.cat([halves[0], halves[1]], 1)


OTHERWISE = {
    "an axis less": lambda rows: rows + (rows.squeeze().unsqueeze(1) * torch.ones(WIDTH)).sum(-1),
    "no axis": lambda rows: rows + (rows.squeeze(0).unsqueeze(1) * torch.ones(WIDTH)).sum(-1),
    "memory": doubled,
    "memory in parts": doubled_in_parts,
}


@pytest.mark.parametrize("name", OTHERWISE)
def test_one_row_alone_is_not_computed_otherwise(name):
    assert_leaks(few(OTHERWISE[name]), tokens())
