"""How long a statement takes, under the names of torch.utils.benchmark."""

from __future__ import annotations

import statistics
import timeit
from typing import Any

from .. import _gradus


class Measurement:
    """Times of a statement, in seconds for one run."""

    def __init__(self, number_per_run: int, raw_times: list[float], label: str) -> None:
        self.number_per_run, self.raw_times, self.label = number_per_run, raw_times, label
        self.times = [time / number_per_run for time in raw_times]

    @property
    def mean(self) -> Any:
        return statistics.mean(self.times)

    @property
    def median(self) -> Any:
        return statistics.median(self.times)

    @property
    def iqr(self) -> Any:
        return self._iqr()

    def _iqr(self) -> float:
        quarters = statistics.quantiles(self.times, n=4) if len(self.times) > 3 else [0.0]
        return quarters[-1] - quarters[0]

    def __repr__(self) -> str:
        value, unit = next(((self.median * factor, unit) for factor, unit in ((1, "s"), (1e3, "ms"), (1e6, "us"))
                            if self.median * factor >= 1), (self.median * 1e9, "ns"))
        return f"<gradus.utils.benchmark.Measurement of {self.label}>\n  {value:.2f} {unit}\n  " \
               f"{len(self.times)} measurements, {self.number_per_run} runs each"


def _waits() -> None:
    if _gradus._cuda.is_available():
        _gradus._cuda.synchronize()


class Timer:
    """Runs a statement after a setup, with these names; num_threads is that of one operation."""

    def __init__(self, stmt: str = "pass", setup: str = "pass", globals: dict[str, Any] | None = None, label: str | None = None,
                 sub_label: str | None = None, description: str | None = None, num_threads: int = 1) -> None:
        self._label = ": ".join(text for text in (label or stmt, sub_label, description) if text)
        self._threads = num_threads
        self._timer = timeit.Timer(stmt, setup, globals=dict(globals or {}))

    def _time(self, number: int) -> float:
        before = _gradus.get_num_threads()
        _gradus.set_num_threads(self._threads)
        try:
            _waits()
            start = timeit.default_timer()
            self._timer.timeit(number)
            _waits()
            return timeit.default_timer() - start
        finally:
            _gradus.set_num_threads(before)

    def timeit(self, number: int = 1000000) -> Measurement:
        """The time of that many runs."""
        self._time(max(1, number // 100))
        return Measurement(number, [self._time(number)], self._label)

    def blocked_autorange(self, callback: Any = None, min_run_time: float = 0.2) -> Measurement:
        """Times of as many runs as min_run_time seconds allow."""
        number = 1
        while (time := self._time(number)) < min_run_time / 100:
            number *= 2
        times = [time]
        while sum(times) < min_run_time:
            times.append(self._time(number))
        return Measurement(number, times, self._label)


__all__ = ["Measurement", "Timer"]
