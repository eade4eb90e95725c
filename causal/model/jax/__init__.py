"""Models written for JAX: functions, modules of flax (linen, nnx) and equinox, told apart by what they are.

Each becomes a function of the arrays that it keeps and of its inputs (`models`), which JAX records (`program`); what is
proved, searched and said is what it is for any library (`..decide` and on).
"""
