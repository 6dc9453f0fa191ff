"""Fits of more rows than memory holds, on one machine or many."""

from multiobs.scale.budget import bytes_of
from multiobs.scale.executors import DaskFutures, Executor, Processes, Serial, Threads
from multiobs.scale.files import predict
from multiobs.scale.fitting import fit
from multiobs.scale.pooling import pool
from multiobs.scale.scores import score
from multiobs.scale.sources import Query

__all__ = [
    "DaskFutures",
    "Executor",
    "Processes",
    "Query",
    "Serial",
    "Threads",
    "bytes_of",
    "fit",
    "pool",
    "predict",
    "score",
]
