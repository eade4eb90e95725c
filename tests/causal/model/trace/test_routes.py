"""Truth values that are read out of the input: where they change nothing, and where they do."""

from __future__ import annotations

import warnings

from needs import need

torch = need("torch")

import attnproof as ap
import numpy as np
import pytest
from torch import nn

ROOM = nn.Linear(4, 4)


def warned(x):
    if (x > 2).any():
        warnings.warn("large", stacklevel=2)
    return x.cumsum(1)


def contained(x):
    if 100.0 in x[:, [-1, 0]]:
        warnings.warn("large", stacklevel=2)
    return x.cumsum(1) + 1.0


def computed_twice(x):
    if x.sum() > 0:
        return x.cumsum(1) + ROOM(x)
    return x.cumsum(1) + ROOM(x)


def read_again(x):
    for _ in range(20):  # one truth value, so two routes
        if x[0, -1, 0] > 0:
            continue
    return x.cumsum(1)


def drawn_after(x):
    if x[0, -1, 0] > 0:
        warnings.warn("large", stacklevel=2)
    return x.cumsum(1) + torch.rand(4)


class Table(nn.Module):
    """A buffer whose bytes NumPy holds as well."""

    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.from_numpy(np.arange(4.0, dtype=np.float32)))

    def forward(self, x):
        if x[0, -1, 0] > 0:
            warnings.warn("large", stacklevel=2)
        return x.cumsum(1) + self.table


HARMLESS = [warned, contained, computed_twice, read_again, drawn_after, Table()]


@pytest.mark.filterwarnings("ignore:large")
@pytest.mark.parametrize("program", HARMLESS, ids=lambda f: getattr(f, "__name__", type(f).__name__))
def test_a_read_that_changes_nothing_counts_for_nothing(program):
    torch.manual_seed(0)
    verdict = ap.check_model(program, torch.randn(1, 6, 4), sequence_axis=1)
    assert verdict.status is ap.Status.PROVED
    assert "change nothing" in verdict.evidence[0].detail


def test_inputs_for_which_it_raises_are_excluded():
    def checked(x):
        if not (x < 100).all():  # an assert of this file is pytest's own, which looks at the tensor
            raise AssertionError("too large")
        if torch.isnan(x).any():
            raise ValueError("nan")
        return x.cumsum(1)

    verdict = ap.check_model(checked, torch.randn(1, 6, 4), sequence_axis=1)
    assert verdict.status is ap.Status.PROVED_IF
    first, second = sorted(c.text for c in verdict.conditions)
    assert first != second
    assert first.startswith("inputs for which it raises at")


class Remembers(nn.Module):
    """After an input that is large somewhere, it looks ahead in every later call."""

    def __init__(self):
        super().__init__()
        self.was_large = False

    def forward(self, x):
        y = x.flip(1) if self.was_large else x.cumsum(1)
        if (x > 100).any():
            self.was_large = True
        return y


def test_what_another_route_leaves_for_the_next_call_is_a_condition():
    verdict = ap.check_model(Remembers(), torch.randn(1, 6, 4), sequence_axis=1)
    assert verdict.status is ap.Status.PROVED_IF
    assert "every call starts from the state as given" in verdict.conditions[0].text


# -- reads that do steer -----------------------------------------------------------------------------------------------


def doubled(x):
    return x.cumsum(1) * 2 if (x > 1.5).any() else x.cumsum(1)


def counted(x):
    return x.cumsum(1) * (1 + sum(bool(x[0, t, 0] > 0) for t in (-1, -2)))


def seeded(x):
    if x[0, -1, 0] > 0:
        torch.manual_seed(1)
    return x.cumsum(1) + torch.rand(4)


def remembered(x):
    mean, variance = torch.zeros(4), torch.ones(4)
    if x[0, -1, 0] > 0:  # writes what its schema does not say
        torch.nn.functional.batch_norm(x[0], mean, variance, training=True)
    return x.cumsum(1) + mean


def made_a_tensor(x):
    return x.cumsum(1) + torch.tensor(float(bool(x[0, -1, 0] > 0)))


def written_in_place(x):
    y = x.cumsum(1)
    if x[0, -1, 0] > 0:
        y[:, 0] += 1
    return y


def through_numpy(x):
    a = np.zeros(4, np.float32)
    if x[0, -1, 0] > 0:
        a[:] = 1
    return x.cumsum(1) + torch.from_numpy(a)


def swallowed(x):
    try:
        assert (x[0, -1] < 0).all()
    except AssertionError:
        return x.cumsum(1) * 2
    return x.cumsum(1)


class Shared(nn.Module):
    """The same, written through NumPy."""

    def __init__(self):
        super().__init__()
        self.array = np.zeros(4, np.float32)
        self.register_buffer("table", torch.from_numpy(self.array))

    def forward(self, x):
        self.array[:] = bool(x[0, -1, 0] > 0)
        return x.cumsum(1) + self.table


STEERING = [doubled, counted, seeded, remembered, made_a_tensor, written_in_place, through_numpy, swallowed]


@pytest.mark.parametrize("program", STEERING, ids=lambda f: f.__name__)
def test_a_read_that_steers_is_refuted(program):
    torch.manual_seed(0)
    x = torch.randn(1, 6, 4)
    assert ap.check_model(program, x, sequence_axis=1).status is ap.Status.REFUTED
    assert ap.check_model(program, x, sequence_axis=1, replay="never").status is ap.Status.UNDECIDED


def raised_for_some(x):
    if x[0, -1, 0] > 50:
        if x.numpy()[0, -1, 1] > 0:
            raise ValueError("of the values given, not of all that lead here")
        return x.flip(1)
    return x.cumsum(1)


def failed_later(x):
    if x[0, -1, 0] > 50:
        return x[:, (x[0, :, 0] > 50).nonzero()[0]].expand(x.shape)
    return x.cumsum(1)


def too_many(x):
    for t in range(6):
        if x[0, t, 0] > 0:
            continue
    return x.cumsum(1)


def failed_on_these_values(x):
    if x[0, -1, 0] > 50:  # where it is so, the place is 0
        return x.cumsum(1) + x.gather(1, (90 - x[:, -1:, :1]).relu().long())
    return x.cumsum(1)


CALLS = []  # from a check, which puts back what it finds


def asked_otherwise_the_next_time(x):
    eval("CALLS").append(None)
    return x.flip(1) if x[0, -1 - len(eval("CALLS")) % 2, 0] > 50 else x.cumsum(1)


OPEN = [raised_for_some, failed_later, failed_on_these_values, asked_otherwise_the_next_time, too_many, Shared()]


@pytest.mark.parametrize("program", OPEN, ids=lambda f: getattr(f, "__name__", type(f).__name__))
def test_a_route_that_is_not_followed_to_its_end_keeps_the_dependency(program):
    torch.manual_seed(0)
    verdict = ap.check_model(program, torch.randn(1, 6, 4), sequence_axis=1, replay="never")
    assert verdict.status is ap.Status.UNDECIDED
