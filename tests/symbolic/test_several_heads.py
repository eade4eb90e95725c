"""Whether what the heads of a layer leak cancels in W_O (T22), on small layers."""

import pytest
import sympy
from attnproof.symbolic.prefix import Head
from attnproof.symbolic.several_heads import MOST, Layer, LayerHead, TooManyChoices
from sympy import Matrix

pytestmark = pytest.mark.claim("T22")
LEAK = Head.of([[0, 1], [1, 0]], [[1, 0], [0, 1]], forbidden=[1])
ALIKE = Head.of([[0, 0], [1, 0]], [[1, 2], [0, 2]], forbidden=[1])  # position 1 counts twice whatever the keys
SAFE = Head.of([[0, 0], [1, 0]], [[1, 0], [0, 0]], forbidden=[1])
X, Y = Matrix([1, 0]), Matrix([0, 1])


def layer(*parts, at=None):
    return Layer(tuple(LayerHead(head, form, effect) for head, form, effect in parts), at)


@pytest.mark.parametrize(
    ("parts", "safe"),
    [
        ([], True),
        ([(SAFE, X, X)], True),
        ([(LEAK, X, X)], False),
        ([(LEAK, X, 0 * X)], True),  # W_O reads nothing
        ([(LEAK, X, X), (LEAK, X, -X)], True),  # the same head twice
        ([(LEAK, X, X), (LEAK, Y, -X)], False),  # other keys
        ([(LEAK, X, X), (LEAK, X, X), (LEAK, X, -2 * X)], True),
        ([(ALIKE, X, X), (ALIKE, Y, -X)], True),  # other keys, but the share of position 1 does not depend on them
        ([(ALIKE, X, X), (ALIKE, Y, -2 * X)], False),
        ([(ALIKE, X, X), (ALIKE, Y, -Y)], False),  # other values
        ([(SAFE, X, X), (ALIKE, X, X), (ALIKE, Y, -X)], True),
    ],
)
def test_leaks_cancel_exactly_where_what_is_carried_adds_up_to_0(parts, safe):
    assert layer(*parts).safe() is safe
    before, after = Matrix([[2, 3], [5, 7]]), Matrix([[2, 3], [11, -4]])
    assert layer(*parts).differs(before, after) is not safe


def test_the_query_of_a_position_scores_itself_by_the_symmetric_part():
    turn, eye = Matrix([[0, 1], [-1, 0]]), sympy.eye(2)
    blind = Head.of([[1, 0], [0, 0]], [[0, 1], [0, -1]], forbidden=[1])
    assert not blind.safe_by_criterion()
    assert layer((blind, turn, eye), at=0).safe()
    assert not layer((blind, eye, eye), at=0).safe()


def test_too_many_choices_are_refused():
    head = Head.of(sympy.eye(17), sympy.eye(17), forbidden=range(1, 17))
    many = layer((head, X, X), (head, Y, X))
    assert many.choices() > MOST
    with pytest.raises(TooManyChoices, match="too many to multiply out"):
        many.safe()
    assert many.differs(sympy.zeros(17, 2), sympy.zeros(17, 2).col_insert(0, sympy.ones(17, 1))[:, :2])
