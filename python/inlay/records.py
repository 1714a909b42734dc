"""Dataclasses as what JSON knows."""

import json
from dataclasses import asdict


def as_dict(record):
    """The fields of a dataclass, and of those in it, as plain lists, dicts, numbers and text."""
    return json.loads(json.dumps(asdict(record)))
