"""Finance."""

import numpy as np

from plain.examples import example, numbers


def prices_of(days):
    return 100 * np.exp(np.cumsum(numbers(days) / np.sqrt(100 * days)))


PRICES = prices_of(30)


@example(PRICES, large=lambda: (prices_of(1_000_000),))
def simple_returns(prices):
    return np.diff(prices) / prices[:-1]


@example(PRICES, large=lambda: (prices_of(500_000),))
def log_returns(prices):
    return np.log(prices[1:] / prices[:-1])


@example(PRICES, large=lambda: (prices_of(1_000_000),))
def sharpe(prices):
    r = prices[1:] / prices[:-1] - 1
    return np.sqrt(252) * r.mean() / r.std()


@example(PRICES, large=lambda: (prices_of(500_000),))
def drawdown(prices):
    peaks = np.maximum.accumulate(prices)
    falls = (peaks - prices) / peaks
    return falls, falls.max()


@example(
    0.05, np.array([-1000.0, 300.0, 400.0, 500.0]), large=lambda: (0.05, numbers(200))
)
def present_value(rate, flows):
    periods = np.arange(flows.size)
    return np.sum(flows / (1 + rate) ** periods)


@example(1000.0, 0.04, 6, static=("n",), large=lambda: (1000.0, 0.04, 240))
def annuity_table(principal, rate, n):
    payment = principal * rate / (1 - (1 + rate) ** -n)
    table = np.zeros((n, 3))
    balance = principal
    for k in range(n):
        interest = balance * rate
        table[k] = interest, payment - interest, balance
        balance = balance - (payment - interest)
    return table


@example(PRICES, large=lambda: (prices_of(250),))
def ema_crossover(prices):
    def ema(n):
        a = 2 / (n + 1)
        out = np.empty(len(prices))
        out[0] = prices[0]
        for i in range(1, len(prices)):
            out[i] = a * prices[i] + (1 - a) * out[i - 1]
        return out

    return np.sign(ema(5) - ema(12))


@example(PRICES, large=lambda: (prices_of(500_000),))
def rsi(prices):
    d = np.diff(prices)
    up = np.where(d > 0, d, 0.0)
    down = np.where(d < 0, -d, 0.0)
    return 100 - 100 / (1 + up.mean() / down.mean())


@example(
    100.0,
    np.linspace(80, 120, 5),
    0.5,
    0.02,
    0.25,
    large=lambda: (100.0, np.linspace(80, 120, 20_000), 0.5, 0.02, 0.25),
)
def binomial_call(spot, strikes, years, rate, volatility):
    n = 8
    dt = years / n
    u = np.exp(volatility * np.sqrt(dt))
    p = (np.exp(rate * dt) - 1 / u) / (u - 1 / u)
    k = np.arange(n + 1)
    values = np.maximum(spot * u ** (n - 2 * k) - strikes[:, None], 0)
    for _ in range(n):
        values = np.exp(-rate * dt) * (p * values[:, :-1] + (1 - p) * values[:, 1:])
    return values[:, 0]


@example(
    0.01 * numbers(20, 3),
    np.array([0.5, 0.3, 0.2]),
    large=lambda: (0.01 * numbers(100_000, 20), np.full(20, 0.05)),
)
def portfolio(returns, weights):
    mean = returns.mean(axis=0) @ weights
    risk = np.sqrt(weights @ np.cov(returns.T) @ weights)
    return mean, risk


@example(0.01 * numbers(50), large=lambda: (0.01 * numbers(500_000),))
def value_at_risk(returns):
    return -np.percentile(returns, 5)


@example(PRICES, large=lambda: (prices_of(500_000),))
def bollinger(prices):
    n = 5
    count = len(prices) - n + 1
    means = np.zeros(count)
    stds = np.zeros(count)
    for k in range(n):
        means += prices[k : k + count]
    means /= n
    for k in range(n):
        stds += (prices[k : k + count] - means) ** 2
    stds = np.sqrt(stds / n)
    return means - 2 * stds, means + 2 * stds


@example(PRICES, 102.0, large=lambda: (prices_of(2_000_000), 102.0))
def days_above(prices, level):
    return np.sum(prices > level), np.any(prices > 2 * level)


@example(
    np.array([100, 250, 75]),
    np.array([19.99, 5.49, 30.0]),
    large=lambda: (numbers(500_000, dtype="int64"), 100 * np.abs(numbers(500_000))),
)
def invoice(quantity, price):
    net = quantity * price
    net[net > 1500] *= 0.9
    return np.round(net.sum() * 1.19, 2)
