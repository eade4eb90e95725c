"""A number of any library as the ratio of whole numbers that it is; nothing is rounded."""

from __future__ import annotations

from typing import Any


def ratio(value: Any) -> tuple[int, int] | None:
    """Numerator and denominator of an int, float, Fraction, Decimal, or a scalar of NumPy, SymPy, mpmath or FLINT.

    None for what is no rational number of these; OverflowError or ValueError for infinities and NaN.

    >>> ratio(0.75), ratio("0.75")
    ((3, 4), None)
    """
    library = type(value).__module__.partition(".")[0]
    if hasattr(value, "as_integer_ratio"):
        p, q = value.as_integer_ratio()
    elif hasattr(value, "numerator") and hasattr(value, "denominator"):
        p, q = value.numerator, value.denominator
    elif library == "flint" and hasattr(value, "p") and hasattr(value, "q"):
        p, q = value.p, value.q
    elif getattr(value, "is_Float", False) or (library == "mpmath" and hasattr(value, "_mpf_")):
        sign, mantissa, exponent = value._mpf_[:3]
        if not mantissa and exponent:  # how mpmath writes what is not finite
            raise ValueError(f"{value} is not finite")
        numerator = (-1 if sign else 1) * int(mantissa)
        p, q = (numerator << exponent, 1) if exponent >= 0 else (numerator, 1 << -exponent)
    elif str(getattr(value, "dtype", "")) in ("bfloat16", "float16"):
        p, q = float(value).as_integer_ratio()
    else:
        return None
    try:
        return int(p), int(q)
    except TypeError:  # a duration of NumPy has a numerator, too
        return None
