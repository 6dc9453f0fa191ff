"""What a width is validated on: in several columns residuals, not labels."""

import numpy as np

from multiobs import MultiObservationRegressor
from multiobs.auto import validation


def judged_labels(monkeypatch, d, statistic, transport):
    rng = np.random.default_rng(0)
    X = rng.random((200, d))
    y = 50 * X.sum(axis=1) + rng.normal(size=200)
    seen = []
    honest = validation.risk_of_loss

    def spy(loss, tuples, Z, labels, **more):
        seen.append(float(np.std(labels)))
        return honest(loss, tuples, Z, labels, **more)

    monkeypatch.setattr(validation, "risk_of_loss", spy)
    MultiObservationRegressor(statistic, "nearest", transport=transport, random_state=0).fit(X, y)
    return max(seen)


def test_labels_are_less_their_pilot_where_neighbours_are_far(monkeypatch):
    # in working units the labels have about unit spread, of which the mean is nearly all
    assert judged_labels(monkeypatch, 3, "variance", "location") < 0.2
    assert judged_labels(monkeypatch, 3, "variance", None) > 0.5
    assert judged_labels(monkeypatch, 1, "variance", "location") > 0.5
