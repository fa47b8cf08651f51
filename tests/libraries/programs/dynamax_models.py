"""A hidden Markov model by EM, and a Kalman smoother by EM and by gradients."""

import jax
from dynamax.hidden_markov_model import GaussianHMM
from dynamax.linear_gaussian_ssm import LinearGaussianSSM


def main() -> object:
    """Likelihoods, smoothed states and the likeliest ones."""
    keys = jax.random.split(jax.random.PRNGKey(0), 4)
    hmm = GaussianHMM(num_states=3, emission_dim=2)
    params, props = hmm.initialize(keys[0])
    _, seen = hmm.sample(params, keys[1], num_timesteps=60)
    fitted, likelihoods = hmm.fit_em(params, props, seen, num_iters=5, verbose=False)
    posterior = hmm.smoother(fitted, seen)
    model = LinearGaussianSSM(state_dim=2, emission_dim=1)
    start, kinds = model.initialize(keys[2])
    _, series = model.sample(start, keys[3], 30)
    _, by_em = model.fit_em(start, kinds, series, num_iters=3, verbose=False)
    _, by_sgd = model.fit_sgd(start, kinds, series[None], num_epochs=3)
    return (
        likelihoods,
        posterior.smoothed_probs[:4],
        hmm.most_likely_states(fitted, seen),
        model.smoother(start, series).smoothed_means,
        by_em,
        by_sgd,
    )
