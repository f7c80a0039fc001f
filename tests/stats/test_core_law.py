"""Arrival laws, mixes and patterns of ordinary workloads, by statistics with fixed seeds."""

import numpy as np
import pytest
from lib.core.spekcore import (
    BLOCK,
    Arrival,
    Asu,
    Generator,
    Ops,
    Stream,
    Workload,
    library,
    periods,
)
from scipy import stats

FFI, LIB = library()
GIB = 1 << 30
MILLION = 1_000_000


def single_stream(stream: Stream, arrival: Arrival | None = None) -> Workload:
    return Workload([Asu(GIB)], [arrival or Arrival(depth=1)], [stream])


def exponentials(n: int, seed: int = 1) -> np.ndarray:
    rng = FFI.new("struct spek_rng *")
    LIB.spek_rng_seed(rng, seed)
    out = np.zeros(n, dtype=np.uint64)
    LIB.shim_expo(rng, FFI.cast("u64 *", out.ctypes.data), n)
    return out / 2.0**32


def test_exponential_numbers() -> None:
    x = exponentials(5 * MILLION)
    assert stats.kstest(x, "expon").pvalue > 0.001
    n = len(x)
    assert x.mean() == pytest.approx(1, abs=4 / np.sqrt(n))
    assert (x**2).mean() == pytest.approx(2, abs=4 * np.sqrt(20 / n))
    # equal counts between 200 quantiles: no seam between layers
    edges = -np.log1p(-np.arange(1, 200) / 200)
    assert stats.chisquare(np.bincount(np.searchsorted(edges, x))).pvalue > 0.001


def test_exponential_tail() -> None:
    x = exponentials(10 * MILLION, 2)
    for limit in (6.8983, 8, 10, 12):
        expected = 10 * MILLION * np.exp(-limit)
        assert (x > limit).sum() == pytest.approx(expected, abs=4 * np.sqrt(expected))
    beyond = x[x > 6.8983151166156426] - 6.8983151166156426
    assert stats.kstest(beyond, "expon").pvalue > 0.001


def test_logarithm_of_uniform_numbers_is_exponential_too() -> None:
    u = np.random.default_rng(1).integers(0, 2**64, MILLION, dtype=np.uint64)
    out = np.zeros(MILLION, dtype=np.uint64)
    LIB.shim_neg_log(FFI.cast("u64 *", u.ctypes.data), FFI.cast("u64 *", out.ctypes.data), MILLION)
    assert stats.kstest(out / 2.0**32, "expon").pvalue > 0.001


@pytest.mark.parametrize("nr_workers", [1, 2, 3])
@pytest.mark.parametrize("rate", [0.2, 100, 1000, 50_000, 12_345_678, 1e9])
def test_poisson_keeps_its_mean_rate(rate: float, nr_workers: int) -> None:
    """A million arrivals: 0.5 % are five standard deviations."""
    count = MILLION // nr_workers
    workload = single_stream(Stream(), Arrival("poisson", rate=rate))
    offered = 0.0
    for worker in range(nr_workers):
        at = Generator(workload, 5, worker, nr_workers).ops(count)["at_ns"]
        mine = count / float(at[-1]) * 1e9
        assert mine == pytest.approx(rate / nr_workers, rel=0.005 * np.sqrt(nr_workers))
        offered += mine
    assert offered == pytest.approx(rate, rel=0.005)


@pytest.mark.parametrize("rate", [100, 50_000, 10_000_000])
def test_poisson_gaps_of_workers_together(rate: float) -> None:
    workload = single_stream(Stream(), Arrival("poisson", rate=rate))
    parts = [Generator(workload, 1, w, 4).ops(60_000)["at_ns"] for w in range(4)]
    at = np.sort(np.concatenate(parts))
    at = at[at <= min(part[-1] for part in parts)]
    # times are whole ns: give each a fraction back
    gaps = np.diff(np.sort(at + np.random.default_rng(1).random(len(at))))
    assert stats.kstest(gaps, stats.expon(scale=1e9 / rate).cdf).pvalue > 0.001
    # as many in equal intervals as Poisson says: variance equals mean
    counts = np.histogram(at, bins=2000)[0]
    assert counts.var() / counts.mean() == pytest.approx(1, abs=4 * np.sqrt(2 / 2000))


@pytest.mark.parametrize("nr_workers", [1, 2, 5])
def test_constant_rate_has_equal_gaps_over_workers(nr_workers: int) -> None:
    workload = single_stream(Stream(), Arrival("constant", rate=777.7))
    parts = [Generator(workload, 1, w, nr_workers).ops(10_000)["at_ns"] for w in range(nr_workers)]
    gaps = np.diff(np.sort(np.concatenate(parts)).astype(np.int64))
    assert set(gaps) <= {1285842, 1285843}


# One day in 24 s: a night, a morning's rise, a jump, a fall.
DAY = [(0.0, 20_000.0), (8.0, 20_000.0), (12.0, 90_000.0), (12.0, 60_000.0), (24.0, 20_000.0)]


def due(at_ns: np.ndarray) -> np.ndarray:
    """I/Os that DAY, repeated, has from the start to these times, in closed form."""
    times, rates = np.array(DAY).T
    areas = np.concatenate([[0], np.cumsum(np.diff(times) * (rates[1:] + rates[:-1]) / 2)])
    passes, at = np.divmod(at_ns / 1e9, times[-1])
    segment = np.searchsorted(times, at, side="right") - 1
    into, length = at - times[segment], np.diff(times)[segment]
    slope = np.diff(rates)[segment] / length
    area: np.ndarray = passes * areas[-1] + areas[segment]
    area += into * (rates[segment] + slope * into / 2)
    return area


@pytest.mark.parametrize("nr_workers", [1, 4])
def test_poisson_arrivals_on_a_curve(nr_workers: int) -> None:
    """In units of the cumulative rate it is a Poisson process of rate 1, and windows of equal
    length have as many arrivals as the area under the curve says."""
    workload = single_stream(Stream(), Arrival("poisson", curve=DAY, repeats=1))
    count = MILLION // nr_workers
    parts = [Generator(workload, 1, w, nr_workers).ops(count) for w in range(nr_workers)]
    at = np.sort(np.concatenate([part["at_ns"] for part in parts]))
    end = min(int(part["at_ns"][-1]) for part in parts)
    at = at[at <= end]
    # Times are whole ns: give each a fraction back.
    exact = due(at - np.random.default_rng(1).random(len(at)))
    assert stats.kstest(np.diff(np.sort(exact)), "expon").pvalue > 0.001

    edges = np.linspace(0, end, 200)
    counts = np.histogram(at, bins=edges)[0]
    expected = np.diff(due(edges))
    assert stats.chisquare(counts, expected * counts.sum() / expected.sum()).pvalue > 0.001
    assert len(at) == pytest.approx(due(np.array([end]))[0], abs=4 * np.sqrt(len(at)))


def test_equal_areas_under_a_curve_are_counted_exactly() -> None:
    workload = single_stream(Stream(), Arrival("constant", curve=DAY, repeats=1))
    parts = [Generator(workload, 1, w, 3).ops(400_000)["at_ns"] for w in range(3)]
    at = np.sort(np.concatenate(parts))
    edges = np.arange(1, 24, dtype=np.float64) * 1e9 / 4
    assert (np.searchsorted(at, edges, side="right") == np.floor(due(edges) + 1e-6)).all()


def on_off(tail: float, on_ns: int = 10**9, off_ns: int = 10**9) -> Workload:
    """Constant arrivals, 20 per second in on periods; @tail 0: exponential lengths."""
    arrival = Arrival(
        "constant", rate=20, on_ns=on_ns, off_ns=off_ns, tail_milli=round(tail * 1000)
    )
    return single_stream(Stream(), arrival)


@pytest.mark.parametrize("tail", [0, 1.05, 1.4, 2, 3.5])
def test_on_and_off_periods(tail: float) -> None:
    both = periods(on_off(tail, 10**9, 3 * 10**9), 1, MILLION)
    for lengths, mean in zip(both, (1e9, 3e9), strict=True):
        x = lengths / mean
        law = stats.expon()
        if tail:
            # The mean is that of numbers cut at 2^20 times the least.
            least = (tail - 1) / (tail - 2 ** (-20 * (tail - 1)))
            law = stats.pareto(tail, scale=least)
            assert least * (1 - 1e-6) <= x.min() and x.max() <= least * 2**20
        assert stats.kstest(x, law.cdf).pvalue > 0.001
        # Below a shape of 2, only the cut makes the variance finite.
        if not tail or tail > 2:
            assert x.mean() == pytest.approx(1, abs=4 * law.std() / np.sqrt(MILLION))
    # None depends on another: the one after it of its kind, or the other kind.
    ranks = [stats.rankdata(lengths) for lengths in both]
    for a, b in ((ranks[0], ranks[1]), *((rank[1:], rank[:-1]) for rank in ranks)):
        assert abs(np.corrcoef(a, b)[0, 1]) < 4 / np.sqrt(MILLION)


@pytest.mark.parametrize("tail", [0, 1.8, 3])
def test_mean_rate_with_pauses(tail: float) -> None:
    """The rate times the share of on periods."""
    on_ns, off_ns = 10**8, 9 * 10**8
    at = Generator(on_off(tail, on_ns, off_ns), 1).ops(MILLION)["at_ns"]
    mean = 20 * on_ns / (on_ns + off_ns)
    assert MILLION / int(at[-1]) * 1e9 == pytest.approx(mean, rel=0.01)


def hurst(tail: float, sources: int = 50, bins: int = 1 << 15) -> float:
    """Of the arrivals of @sources processes per 100 ms, from the slope of the variance of means
    over 16 to 1024 bins (variance-time plot)."""
    counts = np.zeros(bins)
    first = 2 * bins  # all begin with an on period: leave out the start
    for source in range(sources):
        at = Generator(on_off(tail), source).ops((bins + first) * 3)["at_ns"]
        number = (at // 10**8).astype(np.int64) - first
        assert number[-1] >= bins
        counts += np.bincount(number[(number >= 0) & (number < bins)], minlength=bins)
    scales = 2 ** np.arange(4, 11)
    variances = [counts[: bins - bins % m].reshape(-1, m).mean(axis=1).var() for m in scales]
    slope = np.polyfit(np.log(scales), np.log(variances), 1)[0]
    return float(1 + slope / 2)


def test_many_processes_with_heavy_tails_are_self_similar() -> None:
    """Willinger et al.: H = (3 - a) / 2 for a shape a below 2, whatever else; and 1/2 without."""
    assert hurst(1.4) == pytest.approx(0.8, abs=0.08)
    assert hurst(0) == pytest.approx(0.5, abs=0.08)


def test_size_mix_of_spek() -> None:
    """10 % 8 KiB, 20 % 16 KiB, 30 % 32 KiB, 40 % 64 KiB; two thirds reads; independent."""
    mix = {8 << 10: 10, 16 << 10: 20, 32 << 10: 30, 64 << 10: 40}
    ops = Generator(single_stream(Stream(sizes=mix, read_ppm=666_667)), 1).ops(MILLION)
    table = np.array(
        [[((ops["bytes"] == b) & (ops["write"] == w)).sum() for b in mix] for w in (0, 1)]
    )
    law = np.outer([0.666667, 0.333333], [0.1, 0.2, 0.3, 0.4]) * MILLION
    assert stats.chisquare(table.ravel(), law.ravel()).pvalue > 0.001
    assert stats.chi2_contingency(table).pvalue > 0.001


def test_many_sizes_and_rare_ones() -> None:
    mix = {512 * (i + 1): (i + 1) ** 2 for i in range(64)}
    ops = Generator(single_stream(Stream(sizes=mix, read_ppm=500_000)), 1).ops(MILLION)
    counts = np.bincount(ops["bytes"] // 512, minlength=65)[1:]
    law = np.array(list(mix.values())) / sum(mix.values()) * MILLION
    assert stats.chisquare(counts, law).pvalue > 0.001


@pytest.mark.parametrize("ppm", [0, 1000, 250_000, 999_000, 1_000_000])
def test_read_share(ppm: int) -> None:
    ops = Generator(single_stream(Stream(read_ppm=ppm)), 1).ops(MILLION)
    reads = int((ops["write"] == 0).sum())
    assert stats.binomtest(reads, MILLION, ppm / MILLION).pvalue > 0.001


@pytest.mark.parametrize("ppm", [100_000, 500_000, 950_000])
def test_sequential_share(ppm: int) -> None:
    ops = Generator(single_stream(Stream(seq_ppm=ppm)), 1).ops(MILLION)
    follows = int((ops["addr"][1:] == (ops["addr"] + ops["bytes"])[:-1]).sum())
    # an I/O at the very end has no successor, and chance gives one: both 1 in 2^18
    assert stats.binomtest(follows, MILLION - 1, ppm / MILLION).pvalue > 0.001


def stream_counts(ops: Ops, n: int) -> np.ndarray:
    return np.bincount(ops["stream"], minlength=n)


@pytest.mark.parametrize(
    "arrival",
    [Arrival(depth=4), Arrival("poisson", rate=1000), Arrival("constant", rate=1000)],
    ids=["closed", "poisson", "constant"],
)
@pytest.mark.parametrize("nr_workers", [1, 2])
def test_weights_of_streams(arrival: Arrival, nr_workers: int) -> None:
    weights = [1, 2, 3, 500, 94]
    streams = [Stream(weight=w, sizes=BLOCK * (i + 1)) for i, w in enumerate(weights)]
    workload = Workload([Asu(GIB)], [arrival], streams)
    for worker in range(nr_workers):
        ops = Generator(workload, 9, worker, nr_workers).ops(500_000)
        law = np.array(weights) / sum(weights) * len(ops)
        assert stats.chisquare(stream_counts(ops, 5), law).pvalue > 0.001


def test_uniform_addresses() -> None:
    ops = Generator(single_stream(Stream()), 1).ops(MILLION)
    slots = (ops["addr"] // BLOCK).astype(np.int64)
    for modulus in (2, 64, 1000):
        assert stats.chisquare(np.bincount(slots % modulus, minlength=modulus)).pvalue > 0.001
    assert stats.chisquare(np.bincount(slots // 256, minlength=1024)).pvalue > 0.001
    # addresses do not depend on the ones before
    assert abs(np.corrcoef(slots[1:], slots[:-1])[0, 1]) < 4 / np.sqrt(MILLION)


@pytest.mark.parametrize("replicas", [2, 3, 1000])
def test_replicas_are_equally_likely(replicas: int) -> None:
    ops = Generator(single_stream(Stream(replicas=replicas)), 1).ops(MILLION)
    assert stats.chisquare(np.bincount(ops["replica"], minlength=replicas)).pvalue > 0.001
