"""Statistics and samplers as they are typed: a name, and parameters behind a colon."""

import inspect
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from multiobs.cli.problems import Refusal

if TYPE_CHECKING:
    from multiobs.samplers import Sampler
    from multiobs.statistics import Statistic

LETTERS = {
    r"\mathbb{E}": "E",
    r"\tfrac12": "½",
    r"\tfrac1r": "1/r",
    r"\lambda": "λ",
    r"\Gamma": "Γ",
    r"\rho": "ρ",
    r"\kappa": "κ",
    r"\sigma": "σ",
    r"\mu": "μ",
    r"\sum": "Σ",
    r"\min": " min",
    r"\max": " max",
    r"\,": " ",
    r"\mathrm{sd}": "sd",
    r"\mathrm{Var}": "Var",
    r"\mathrm{sign}": "sign",
    r"\mathcal{Y}": "Y",
}
RAISED = str.maketrans("0123456789k", "⁰¹²³⁴⁵⁶⁷⁸⁹ᵏ")
LOWERED = str.maketrans("0123456789kjr", "₀₁₂₃₄₅₆₇₈₉ₖⱼᵣ")


def statistic_of(text: str) -> "Statistic":
    """Return the statistic of a text such as ``variance``, ``minvar:4`` or ``ucb:lam=2``.

    >>> statistic_of("minvar:4"), statistic_of("ucb:lam=2,loss=cubic")
    (minvar(k=4), ucb(lam=2.0, loss='cubic', reference='auto'))
    """
    from multiobs import statistics

    name, colon, rest = text.partition(":")
    if name not in statistics.CATALOGUE:
        import difflib

        near = difflib.get_close_matches(name, statistics.CATALOGUE, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise Refusal(f"--statistic must be a name of `multiobs statistics`, got {name!r}{hint}")
    if not colon:
        return statistics.CATALOGUE[name]()
    return _called("--statistic", getattr(statistics, name), name, rest)  # type: ignore[no-any-return]


def sampler_of(text: str) -> "str | Sampler":
    """Return the sampler of a text such as ``auto``, ``sliding``, ``nearby:0.5`` or ``nearest:20``.

    >>> sampler_of("nearby:0.5")
    Nearby(epsilon=0.5, ...)
    """
    from multiobs import samplers

    classes: dict[str, Callable[..., Any]] = {
        "naive": samplers.Naive,
        "improved": samplers.Improved,
        "sliding": samplers.SlidingWindow,
        "disjoint": samplers.Disjoint,
        "adjacent": samplers.Adjacent,
        "nearby": samplers.Nearby,
        "nearest": samplers.Nearest,
        "replicates": samplers.Replicates,
    }
    name, colon, rest = text.partition(":")
    if name != "auto" and name not in classes:
        raise Refusal(f"--sampler must be one of auto, {', '.join(classes)}, got {text!r}")
    if not colon:
        if name == "adjacent":
            raise Refusal("--sampler adjacent needs a number of rows, such as adjacent:10")
        return name
    if name == "auto":
        raise Refusal(f"--sampler auto takes no parameters, got {text!r}")
    return _called("--sampler", classes[name], name, rest)  # type: ignore[no-any-return]


def _called(option: str, function: Callable[..., Any], name: str, rest: str) -> Any:
    """Call a function of the package with parameters from a text, each checked by the function."""
    known = inspect.signature(function).parameters
    values: dict[str, Any] = {}
    for place, part in enumerate(rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            key, value = (list(known)[place] if place < len(known) else ""), part
        if key not in known:
            listed = ", ".join(known) or "none"
            raise Refusal(f"{option} {name} takes {listed}, got {part!r}")
        values[key.strip()] = _value(value.strip())
    try:
        return function(**values)
    except (TypeError, ValueError) as problem:
        raise Refusal(f"{option} {name}: {problem}") from None


def _value(text: str) -> Any:
    for convert in (int, float):
        try:
            return convert(text)
        except ValueError:
            continue
    return text


def formula_of(function: Callable[..., Any]) -> str:
    """First sentence of a statistic's docstring, its mathematics in plain letters.

    >>> from multiobs import statistics
    >>> formula_of(statistics.variance)
    'Variance, E[½ (Y₁ - Y₂)²], in squared units of y.'
    """
    first = (inspect.getdoc(function) or "").partition("\n")[0]
    return re.sub(r":math:`([^`]*)`", lambda found: _letters(found[1]), first)


def _letters(latex: str) -> str:
    text = re.sub(r"\\binom\{([^}]*)\}\{([^}]*)\}", r"C(\1, \2)", latex)
    for command, letters in LETTERS.items():
        text = text.replace(command, letters)
    text = re.sub(r"\^\{?([0-9k])\}?", lambda found: found[1].translate(RAISED), text)
    text = re.sub(r"_\{?([0-9kjr])\}?(?![\w:+])", lambda found: found[1].translate(LOWERED), text)
    text = re.sub(r"_\{([^}]*)\}", r"_\1", text)
    return re.sub(r"\^\{([^}]*)\}", r"^\1", text)


def parameters_of(function: Callable[..., Any]) -> list[str]:
    """Names of a statistic's parameters, the first of which may go without its name.

    >>> from multiobs import statistics
    >>> parameters_of(statistics.ucb)
    ['lam', 'loss', 'reference']
    """
    return list(inspect.signature(function).parameters)
