"""Layers that are scanned, of linen and of nnx, and a decoder with a cache."""

import flax.linen as nn
import jax
import jax.numpy as jnp
from flax import nnx


class Cell(nn.Module):
    """One step of a recurrent layer."""

    @nn.compact
    def __call__(self, carry: object, x: object) -> object:
        return nn.OptimizedLSTMCell(5)(carry, x)


class Block(nnx.Module):
    """A dense layer with a normalization, many of which are stacked."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.dense = nnx.Linear(4, 4, rngs=rngs)
        self.norm = nnx.LayerNorm(4, rngs=rngs)

    def __call__(self, x: object) -> object:
        return nnx.gelu(self.norm(self.dense(x)))


@nnx.split_rngs(splits=3)
@nnx.vmap(in_axes=(0,), out_axes=0)
def stacked(rngs: nnx.Rngs) -> Block:
    """Blocks whose parameters are rows of arrays."""
    return Block(rngs)


@nnx.scan(in_axes=(0, nnx.Carry), out_axes=nnx.Carry)
def through(block: Block, x: object) -> object:
    """A value behind one block after another."""
    return block(x)


def main() -> object:
    """Results and gradients."""
    options = {"variable_broadcast": "params", "split_rngs": {"params": False}}
    layer = nn.scan(Cell, in_axes=1, out_axes=1, **options)()
    xs = jax.random.normal(jax.random.key(3), (2, 4, 3))
    carry = nn.OptimizedLSTMCell(5).initialize_carry(jax.random.key(0), (2, 3))
    params = layer.init(jax.random.key(4), carry, xs)
    last, ys = layer.apply(params, carry, xs)
    slopes = jax.grad(lambda p: layer.apply(p, carry, xs)[1].sum())(params)
    blocks, x = stacked(nnx.Rngs(0)), jnp.arange(4.0)
    grads = nnx.grad(lambda blocks: through(blocks, x).sum())(blocks)
    sizes = {"num_heads": 2, "in_features": 8, "qkv_features": 8}
    decoder = nnx.MultiHeadAttention(**sizes, decode=True, rngs=nnx.Rngs(1))
    decoder.init_cache((1, 4, 8))
    decoded = [decoder(jnp.full((1, 1, 8), float(k))) for k in range(3)]
    recurrent = nnx.RNN(nnx.GRUCell(3, 4, rngs=nnx.Rngs(2)))(xs)
    values = nnx.to_pure_dict(grads)
    return last, ys, slopes, through(blocks, x), values, decoded, recurrent
