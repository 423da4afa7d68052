"""Spark frames: hashed where their rows are, by the same rules as every other frame.

``rows`` describes a frame and asks for its sums. ``types`` names Spark's types. ``job`` runs one
Spark job, whose tasks each answer with a few numbers. ``parcel`` packs our own code to go with the
job, ``loader`` unpacks it in a worker, and ``worker`` is what then runs there.

Nothing here imports pyspark: a frame brings all that is needed of it.
"""
