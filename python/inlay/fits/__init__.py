"""Many fits of one compiled model: what runs in a worker, and what hands the work out.

A worker needs inlay, NumPy and nutpie's compiled core: nothing here imports PyTensor or PyMC. `inlay.pymc.fit_many`
makes the functions of a model and calls `run`.
"""
