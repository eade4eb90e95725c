"""Transfer functions: from the shadows of an operation's arguments to those of its results, one file per family.

They hold the mathematics and know no tensor library, only NumPy and the abstract domain. A front end binds them: it
names its operations, fetches their arguments and passes shadows, plain numbers and arrays (as `rules` does).
"""
