"""Statements in plain text as Markdown: what it reads as marks escaped, exponents raised and indices lowered."""

from __future__ import annotations

import re

BRACED = re.compile(r"([\^_])\{([^{}]*)\}")
SINGLE = re.compile(
    r"\^([−-]?\d+|[^\W_])(?![A-Za-zα-ω0-9])"  # a number or a letter; two letters are a word
    r"|(?<=[^\s_`])_(\d+|[A-Za-zα-ω]\d?)(?![A-Za-zα-ω0-9_])"
)


def escaped(text: str) -> str:
    """Plain text with the characters escaped that Markdown reads as marks."""
    return re.sub(r"([\\`*_{}\[\]<>|])", r"\\\1", text)


def typeset(text: str) -> str:
    """The same, with exponents and indices where a reader expects them.

    >>> typeset("so y_i ≤ e^{x_i + 1} − 2^n, as in `largest_safe_mask`")
    'so y<sub>i</sub> ≤ e<sup>x<sub>i</sub> + 1</sup> − 2<sup>n</sup>, as in \\\\`largest\\\\_safe\\\\_mask\\\\`'
    """
    marks = {"^": ("\x01", "\x02"), "_": ("\x03", "\x04")}

    def single(found: re.Match[str]) -> str:
        above, below = found.groups()
        start, end = marks["^" if above else "_"]
        return f"{start}{above or below}{end}"

    def braced(found: re.Match[str]) -> str:
        start, end = marks[found[1]]
        return f"{start}{found[2]}{end}"

    text = BRACED.sub(braced, SINGLE.sub(single, text))
    return escaped(text).translate({1: "<sup>", 2: "</sup>", 3: "<sub>", 4: "</sub>"})
