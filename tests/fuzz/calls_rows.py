"""Calls that take rows: the estimator, metasamples, scoring, baselines, plots, model files."""

import functools
import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from fuzz.values import Draw
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer
from sklearn.tree import DecisionTreeRegressor

from multiobs import (
    MultiObservationRegressor,
    Smooth,
    baselines,
    metasamples,
    models,
    samplers,
    scoring,
    statistics,
)

Call = tuple[Callable[..., Any], dict[str, Any]]
PAIRS = ("covariance", "kendall_tau")


def statistic(draw: Draw) -> Any:
    name = draw.of(*statistics.CATALOGUE, "variance", "variance", "variance", "minvar", "ucb")
    if draw.chance(0.7):
        return name
    return draw.of(
        statistics.ucb(draw.of(0.5, 8.0, 1e3), loss=draw.of("quartic", "cubic")),
        statistics.minvar(draw.of(1, 2, 4)),
        statistics.central_moment(draw.of(2, 3, 4)),
        statistics.cumulant(draw.of(1, 3, 4)),
        statistics.l_moment(draw.of(1, 3, 4)),
        statistics.variance().with_loss("gamma"),
        statistics.mean_of(lambda Y: np.abs(Y[:, 0] - Y[:, 1]), 2),
    )


def columns_of(chosen: Any) -> int:
    return 2 if chosen in PAIRS else 1


def sampler(draw: Draw) -> Any:
    if draw.chance(0.75):
        return draw.of("auto", "auto", "auto", "auto", *samplers.SAMPLERS)
    return draw.of(
        samplers.Nearby(draw.of(0.0, 0.1, 1e9, "paper", "auto")),
        samplers.Nearest(draw.of(1, 3, 100)),
        samplers.Adjacent(draw.of(2, 5, 100)),
        samplers.Naive(draw.of(1, 4, 100)),
        samplers.Improved(draw.of(0.1, "paper"), draw.of(1, "search")),
        samplers.Leaves(np.arange(draw.n)[:, None] % 3),
        samplers.SlidingWindow(),
    )


def features(draw: Draw) -> Any:
    return draw.of(
        *[None] * 8, PolynomialFeatures(2), SplineTransformer(3), "smooth", Smooth(n_knots=4),
        Smooth(interactions=True), Smooth(interactions="auto"), LinearRegression(), "smoth",
        object(), PolynomialFeatures, 3,
    )  # fmt: skip


def estimator(draw: Draw) -> Any:
    return draw.of(
        *[None] * 12, LinearRegression(), DecisionTreeRegressor(max_depth=2, random_state=0),
        Ridge, PolynomialFeatures(), "auto" if draw.chance(0.2) else "forest", 3,
    )  # fmt: skip


def model_options(draw: Draw) -> dict[str, Any]:
    """Parameters of an estimator: defaults, and one or two others."""
    options: dict[str, Any] = {"statistic": statistic(draw), "sampler": sampler(draw)}
    more: dict[str, Any] = {
        "features": features(draw),
        "estimator": estimator(draw),
        "link": draw.of("auto", "auto", "identity", "log", "softplus", "logit"),
        "transport": draw.of("auto", "auto", None, "location", "location-scale"),
        "alpha": draw.of("auto", 0.0, 1.0, 1e300),
        "fit_intercept": draw.of(True, True, False),
        "max_tuples": draw.of(None, None, 1, 5, 10**9),
        "random_state": draw.of(None, 0, np.random.default_rng(0), np.random.RandomState(0)),
        "n_jobs": None,
        "verbose": False,
    }
    for name in draw.random.sample(sorted(more), draw.of(0, 0, 1, 2, 4)):
        options[name] = more[name]
    return options


def rows(draw: Draw, chosen: Any) -> dict[str, Any]:
    given = {"X": draw.X(), "y": draw.y(columns_of(chosen))}
    if draw.chance(0.3):
        given["sample_weight"] = draw.weights()
    if draw.chance(0.3):
        given["groups"] = draw.groups()
    return given


def fit(draw: Draw) -> Call:
    options = model_options(draw)

    def call(X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **options: Any) -> Any:
        model = MultiObservationRegressor(**options).fit(X, y, sample_weight, groups)
        return model.predict(X)

    return call, {**options, **rows(draw, options["statistic"])}


@functools.lru_cache(maxsize=512)
def fitted(kind: int) -> Any:
    """A good fit, or none at all."""
    rng = np.random.default_rng(kind)
    d = 1 + kind % 3
    X = rng.random((30, d))
    y = X[:, 0] + rng.normal(size=30) * (1 + X[:, 0])
    makers: list[Callable[[], Any]] = [
        lambda: MultiObservationRegressor(random_state=0),
        lambda: MultiObservationRegressor("ucb"),
        lambda: MultiObservationRegressor("minvar", transport=None),
        lambda: MultiObservationRegressor(features="smooth"),
        lambda: MultiObservationRegressor(link="log"),
        lambda: MultiObservationRegressor(estimator=LinearRegression(), random_state=0),
        lambda: MultiObservationRegressor(features=PolynomialFeatures(2)),
        lambda: MultiObservationRegressor(sampler="nearest", transport=None),
        lambda: MultiObservationRegressor(fit_intercept=False, transport=None),
        lambda: MultiObservationRegressor(),
    ]
    at = kind // 3 % len(makers)
    made = makers[at]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return made if at == 9 else made.fit(X, y)


def question(draw: Draw, method: str, given: dict[str, Any]) -> Call:
    """A question to a good fit, some of them about positions that are out of range."""
    kind = draw.random.randrange(30)
    draw.d = 1 + kind % 3
    if "X" in given:
        given["X"] = draw.X()
    model = fitted(kind)

    def call(**given: Any) -> Any:
        return getattr(model, method)(**given)

    return call, given


def clusters(draw: Draw) -> Any:
    draw.n = 30
    return draw.of(None, None, None, "serial", np.arange(30) // 3, ["a"] * 30, draw.groups())


METHODS: dict[str, Callable[[Draw], dict[str, Any]]] = {
    "predict": lambda draw: dict(X=None),
    "predict_interval": lambda draw: dict(
        X=None, level=draw.of(0.95, 0.5, 0.999), method=draw.of("auto", "linear", "log"),
        bias=draw.of(None, None, "undersmooth"), n_bootstrap=5, clusters=clusters(draw),
    ),
    "summary": lambda draw: dict(level=draw.of(0.95, 0.5), clusters=clusters(draw)),
    "test_constant": lambda draw: dict(clusters=clusters(draw)),
    "wald_test": lambda draw: dict(
        R=draw.of([1.0, 0.0], np.eye(2), [[0.0, 1.0]], np.zeros((1, 2)), [[1.0, 1.0], [2.0, 2.0]],
                  np.eye(3), [1e300, 1.0]), q=draw.of(0.0, [0.0, 1.0], 1e300),
        clusters=clusters(draw),
    ),
    "metasample_report": lambda draw: {},
    "partial_effects": lambda draw: dict(level=draw.of(0.95, 0.5), n_points=draw.of(2, 5)),
    "score": lambda draw: dict(X=None, y=draw.y(), sample_weight=draw.weights()),
}  # fmt: skip


def stream(draw: Draw) -> Call:
    options = {
        "statistic": statistic(draw),
        "sampler": draw.of("sliding", samplers.Nearby(0.1), "nearest", samplers.Nearby("auto")),
        "transport": draw.of("auto", None, None, "location"),
    }
    draw.d = draw.of(1, 1, 1, 2)
    X = np.sort(draw.positions(), axis=0)
    given = {"X": draw.dressed(X), "y": draw.y(), "sample_weight": draw.weights()}

    def call(X: Any, y: Any, sample_weight: Any, **options: Any) -> Any:
        model = MultiObservationRegressor(**options).partial_fit(X, y, sample_weight)
        return model.partial_fit(X, y).predict(X) if draw.chance(0.3) else model.predict(X)

    return call, {**options, **given}


def listed(draw: Draw) -> Call:
    chosen = statistic(draw)
    given = rows(draw, chosen) | {"statistic": chosen, "sampler": sampler(draw)}
    if draw.chance(0.5):
        given |= {"transport": None, "random_state": draw.of(0, None), "limit": draw.of(10, 10**6)}
    return metasamples, given


def scored(function: Callable[..., Any], names: tuple[str, ...]) -> Callable[[Draw], Call]:
    def make(draw: Draw) -> Call:
        chosen = statistic(draw)
        own = draw.of("adjacent", "adjacent", sampler(draw))
        forecasts = {"a": draw.prediction(), "b": draw.prediction()}
        every: dict[str, Any] = {
            "statistic": chosen, "X": draw.X(), "y": draw.y(columns_of(chosen)),
            "prediction": draw.prediction(), "predictions": forecasts, "forecasts": forecasts,
            "sampler": own, "time": draw.dressed(np.arange(float(draw.n))),
        }  # fmt: skip
        more: dict[str, Any] = {
            "sample_weight": draw.weights(), "groups": draw.groups(),
            "loss": draw.of("default", "squared", "gamma", "qlike", "poisson"),
            "transport": draw.of("auto", None, np.zeros(draw.n), lambda X: np.zeros(len(X))),
            "reference": draw.of(None, 0.0, 1.0), "benchmark": draw.of(None, "a", "c"),
            "errors": draw.of("shared", "hac"), "bandwidth": draw.of(None, 1, 100),
            "instruments": draw.of("constant", "linear", np.ones((draw.n, 2)), draw.y()),
            "n_bins": draw.of(1, 3, 100), "theta": draw.of(3, [0.0, 1.0], [], 101),
            "window": draw.of(None, 5, 1), "windows": draw.of(None, [5], [3, 6]),
            "side": draw.of("both", "low", "high"), "levels": draw.of((0.05, 0.0001), (0.5, 0.1)),
        }  # fmt: skip
        given = {name: every[name] for name in names if name in every}
        options = [name for name in names if name in more]
        for name in draw.random.sample(options, min(draw.of(0, 0, 1, 2, 3), len(options))):
            given[name] = more[name]
        return function, given

    return make


ROWS = ("statistic", "X", "y")
USUAL = ("sampler", "sample_weight", "groups", "transport")
SCORES: dict[str, Callable[[Draw], Call]] = {
    "scoring.score": scored(scoring.score, (*ROWS, "prediction", *USUAL, "loss", "reference")),
    "scoring.compare": scored(
        lambda **given: str(scoring.compare(**given)) and scoring.compare(**given),
        (*ROWS, "predictions", *USUAL, "loss", "reference", "benchmark", "errors", "bandwidth"),
    ),
    "scoring.calibration_test": scored(
        scoring.calibration_test,
        (*ROWS, "prediction", *USUAL, "instruments", "errors", "bandwidth"),
    ),
    "scoring.reliability_curve": scored(
        scoring.reliability_curve, (*ROWS, "prediction", *USUAL, "n_bins")
    ),
    "scoring.decompose": scored(scoring.decompose, (*ROWS, "prediction", *USUAL, "loss")),
    "scoring.murphy_curve": scored(
        scoring.murphy_curve, (*ROWS, "predictions", *USUAL, "theta")
    ),
    "scoring.backtest": scored(
        scoring.backtest,
        ("statistic", "time", "y", "forecasts", "window", "windows", "benchmark", "loss", "side",
         "levels", "bandwidth", "groups"),
    ),
}  # fmt: skip


def scorer(draw: Draw) -> Call:
    chosen = draw.of("own", statistic(draw), statistic(draw))
    given = dict(
        statistic=chosen, loss=draw.of("default", "squared", "gamma"),
        sampler=draw.of("adjacent", sampler(draw)),
        predict=draw.of(None, lambda m, X: np.ones(len(X)), 3), transport=draw.of("auto", None),
        estimator=draw.of(fitted(0), fitted(9), LinearRegression(),
         LinearRegression().fit([[0.0], [1.0]], [0, 1])),
        X=draw.X(1), y=draw.y(),
    )  # fmt: skip

    def call(estimator: Any, X: Any, y: Any, **options: Any) -> Any:
        return scoring.make_scorer(**options)(estimator, X, y)

    return call, given


def paths(draw: Draw) -> Call:
    model = MultiObservationRegressor(draw.of("variance", "minvar", "ucb"), transport=None)
    if draw.chance(0.5):
        return scoring.drift_curve, dict(
            statistic=statistic(draw), X=draw.X(), y=draw.y(),
            widths=draw.of(None, [0.1, 0.5], [], [-1.0], 0.1, [np.nan]),
            random_state=draw.of(0, None),
        )  # fmt: skip
    return scoring.epsilon_path, dict(
        estimator=draw.of(model, model, LinearRegression()), X=draw.X(), y=draw.y(),
        epsilons=draw.of(None, [0.1, 0.5], [], [-1.0], 0.3),
        at=draw.of(None, [[0.5]], 0.5, [0.1, 0.2]),
        cv=draw.of(2, 3, 1, 100), n_jobs=None,
    )  # fmt: skip


def baseline(draw: Draw) -> Call:
    own = draw.of(None, None, LinearRegression(), DecisionTreeRegressor(max_depth=2), 3, "forest")
    kinds: list[tuple[Any, dict[str, Any]]] = [
        (baselines.TwoMomentRegressor, {"estimator": own, "degree": draw.of(1, 2)}),
        (baselines.EmpiricalStatisticRegressor,
         {"n_replicates": draw.of("sqrt", 2, 3, 100), "estimator": own}),
        (baselines.ResidualRegressor, {"mean_estimator": draw.of("auto", own), "estimator": own}),
        (baselines.LocalPlugInRegressor,
         {"neighbourhood": "nearest", "n_neighbors": draw.of("auto", 2, 50), "projection": own}),
        (baselines.LocalPlugInRegressor,
         {"n_trees": 2, "min_leaf": draw.of("auto", 1, 50), "random_state": 0}),
    ]  # fmt: skip
    kind, options = draw.of(*kinds)
    chosen = statistic(draw)

    def call(X: Any, y: Any, **options: Any) -> Any:
        return kind(**options).fit(X, y).predict(X)

    return call, {"statistic": chosen, "X": draw.X(), "y": draw.y(), **options}


def plug_in(draw: Draw) -> Call:
    chosen = statistic(draw)
    return baselines.plug_in, dict(
        statistic=chosen, y=draw.y(columns_of(chosen)), weights=draw.weights()
    )


def model_file(draw: Draw) -> Call:
    """Bytes that come back as the model they were, and bytes that are no model."""
    kind = draw.random.randrange(30)
    draw.d = 1 + kind % 3

    def there_and_back(model: Any, X: Any, notes: Any, level: Any) -> Any:
        stored = models.loads(models.dumps(model, notes=notes))
        return stored.predict(X), stored.predict_interval(X, level=level)

    if draw.chance(0.6):
        good = fitted(kind)
        return there_and_back, dict(
            model=draw.of(good, good, good, LinearRegression()), X=draw.X(),
            notes=draw.of(None, {"a": "b"}, {"a": object()}), level=draw.of(0.95, 0.5),
        )  # fmt: skip
    data = bytearray(io.BytesIO(b"multiobs" * 9).getvalue())
    if draw.chance(0.5):
        data = bytearray(models.dumps(fitted(0)))
        for _ in range(draw.of(0, 1, 5)):
            data[draw.random.randrange(len(data))] = draw.random.randrange(256)
    return (lambda data: models.loads(data).predict([[0.5]])), {"data": bytes(data)}


CALLS: dict[str, tuple[float, Callable[[Draw], Call]]] = {
    "fit": (24, fit),
    **{
        name: (3, lambda draw, name=name, make=make: question(draw, name, make(draw)))
        for name, make in METHODS.items()
    },
    "partial_fit": (4, stream),
    "metasamples": (8, listed),
    **{name: (6, make) for name, make in SCORES.items()},
    "scoring.make_scorer": (4, scorer),
    "scoring paths": (2, paths),
    "baselines": (8, baseline),
    "baselines.plug_in": (5, plug_in),
    "models": (4, model_file),
}
