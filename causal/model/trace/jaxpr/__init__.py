"""The abstract run over a jaxpr, JAX's own record of a program: the same shadows and the same mathematics.

JAX traces the whole program before anything runs, so that nothing can leave the tensors, no memory is shared and no
value is read into Python: a proof has no doors to watch. `interpreter` walks over the equations, one file per family of
primitives binds them to `transfer`, and what no number of the input can reach is computed by the primitive itself,
when someone asks for it.
"""
