"""Programs that draw random numbers."""

from __future__ import annotations

from corpus.elements import Array, Library
from corpus.program import program

KEY = "key<fry>[]{7}"
M = "f32[2,3]{1.5 -2.0 3.0 0.25 5.0 -0.5}"


@program(f"{KEY} f32[]{{-1.0}} f32[]{{3.0}}")
def uniform_between(jax: Library, key: Array, low: Array, high: Array) -> Array:
    """Numbers between two that are arguments."""
    return jax.random.uniform(key, (4,), minval=low, maxval=high)


@program(KEY, partitionable=False)
def uniform_in_halves(jax: Library, key: Array) -> Array:
    """The older layout of a matrix."""
    return jax.random.uniform(key, (2, 3))


@program("u32[2]{1 2}")
def uniform_of_words(jax: Library, words: Array) -> Array:
    """A key that is given as its words."""
    return jax.random.uniform(words, (3,))


@program("u32[2]{1 2}", partitionable=False)
def normal_of_words_in_halves(jax: Library, words: Array) -> Array:
    """A key that is given as its words, and the older layout."""
    return jax.random.normal(words, (3,))


@program(KEY)
def normal_halves(jax: Library, key: Array) -> Array:
    """Normal numbers of 16 bits."""
    return jax.random.normal(key, (3,), "float16")


@program(KEY, x64=True)
def normal_double(jax: Library, key: Array) -> Array:
    """Normal numbers of 64 bits."""
    return jax.random.normal(key, (3,), "float64")


@program(KEY)
def dice(jax: Library, key: Array) -> Array:
    """Integers between two."""
    return jax.random.randint(key, (4,), 1, 7)


@program(f"{KEY} f32[3]{{0.1 0.5 0.9}}")
def coins(jax: Library, key: Array, p: Array) -> Array:
    """Coins of several probabilities."""
    return jax.random.bernoulli(key, p)


@program(f"{KEY} {M}")
def categories(jax: Library, key: Array, logits: Array) -> Array:
    """A category of each row of log-odds."""
    return jax.random.categorical(key, logits)


@program(KEY)
def an_order(jax: Library, key: Array) -> Array:
    """The first numbers in a random order."""
    return jax.random.permutation(key, 8)


@program(f"{KEY} {M}")
def columns_in_an_order(jax: Library, key: Array, x: Array) -> Array:
    """Whole columns change their places."""
    return jax.random.permutation(key, x, axis=1)


@program(f"{KEY} {M}")
def rows_in_orders(jax: Library, key: Array, x: Array) -> Array:
    """Each row has an order of its own."""
    return jax.random.permutation(key, x, axis=1, independent=True)


@program(KEY)
def waits_and_extremes(jax: Library, key: Array) -> Array:
    """Two functions of uniform numbers."""
    return jax.random.exponential(key, (3,)), jax.random.gumbel(key, (3,))


@program(KEY)
def heavy_tails(jax: Library, key: Array) -> Array:
    """Distributions that are symmetric, by their inverse functions."""
    random = jax.random
    shape = (2,)
    tails = random.laplace(key, shape), random.cauchy(key, shape)
    return *tails, random.logistic(key, shape)


@program(KEY)
def truncated(jax: Library, key: Array) -> Array:
    """Normal numbers between two bounds."""
    return jax.random.truncated_normal(key, -1.0, 2.0, (3,))


@program(f"{KEY} f32[2]{{0.0 1.0}} f32[2,2]{{2.0 0.5 0.5 1.0}}")
def correlated(jax: Library, key: Array, mean: Array, covariance: Array) -> Array:
    """Normal vectors by a factor of their covariance."""
    return jax.random.multivariate_normal(key, mean, covariance, (3,))


@program(f"{KEY} f32[3]{{0.5 1.25 3.0}}")
def gamma_and_dirichlet(jax: Library, key: Array, a: Array) -> Array:
    """What is drawn until it is kept, and parts of a whole made of it."""
    return jax.random.gamma(key, a), jax.random.dirichlet(key, a)


@program(f"{KEY} f32[3]{{0.5 1.25 3.0}}")
def beta_numbers(jax: Library, key: Array, a: Array) -> Array:
    """Quotients of numbers whose logarithms are drawn."""
    return jax.random.beta(key, a, 2.0)


@program(KEY)
def of_few_samples(jax: Library, key: Array) -> Array:
    """Student's t and chi squared."""
    return jax.random.t(key, 3.0, (2,)), jax.random.chisquare(key, 3.0, (2,))


@program(KEY)
def mapped_dice(jax: Library, key: Array) -> Array:
    """A number of each of several keys."""
    dice = jax.vmap(lambda key: jax.random.randint(key, (), 0, 6))
    return dice(jax.random.split(key, 3))


@program("u32[2,2]{1 2 3 4}")
def mapped_over_words(jax: Library, words: Array) -> Array:
    """Numbers of each of several keys that are given as words."""
    return jax.vmap(lambda words: jax.random.uniform(words, (2,)))(words)


@program(f"{KEY} f32[]{{0.5}} f32[]{{2.0}}")
def reparametrised(jax: Library, key: Array, mean: Array, width: Array) -> Array:
    """Slopes of a mean by the parameters of what is drawn."""

    def mean_square(mean: Array, width: Array) -> Array:
        drawn = mean + width * jax.random.normal(key, (4,))
        return jax.numpy.mean(drawn**2)

    return jax.grad(mean_square, (0, 1))(mean, width)


@program(f"{KEY} {M}")
def dropout(jax: Library, key: Array, x: Array) -> Array:
    """Some elements are zero, and the others greater for it."""
    kept = jax.random.bernoulli(key, 0.75, x.shape)
    return jax.numpy.where(kept, x / 0.75, 0)


@program(KEY)
def random_walk(jax: Library, key: Array) -> Array:
    """Steps of keys that are scanned over."""

    def step(place: Array, key: Array) -> Array:
        place = place + jax.random.normal(key)
        return place, place

    return jax.lax.scan(step, 0.0, jax.random.split(key, 4))


@program(KEY)
def metropolis(jax: Library, key: Array) -> Array:
    """A key is carried, and split for each proposal and its judgement."""

    def step(state: Array, _: None) -> Array:
        key, x = state
        key, proposal, judgement = jax.random.split(key, 3)
        other = x + jax.random.normal(proposal)
        drawn = jax.numpy.log(jax.random.uniform(judgement))
        x = jax.numpy.where(drawn < (x * x - other * other) / 2, other, x)
        return (key, x), x

    return jax.lax.scan(step, (key, 0.0), None, length=4)[1]


@program(KEY)
def mapped_normal(jax: Library, key: Array) -> Array:
    """A normal number of each of several keys."""
    return jax.vmap(jax.random.normal)(jax.random.split(key, 3))


@program(KEY)
def normal_complex(jax: Library, key: Array) -> Array:
    """Two normal numbers are the parts of one."""
    return jax.random.normal(key, (3,), "complex64")


@program(KEY)
def first_weights(jax: Library, key: Array) -> Array:
    """Weights by the number of inputs and outputs."""
    uniform = jax.nn.initializers.glorot_uniform()(key, (3, 2), "float32")
    return uniform, jax.nn.initializers.he_normal()(key, (3, 2), "float32")
