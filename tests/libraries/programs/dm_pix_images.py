"""Images augmented and compared."""

import dm_pix as pix
import jax
import jax.numpy as jnp


def main() -> object:
    """Images, and distances between them."""
    image = jax.random.uniform(jax.random.key(0), (8, 8, 3))
    key = jax.random.PRNGKey(3)
    blurred = pix.gaussian_blur(image, sigma=1.0, kernel_size=3)
    turned = pix.rot90(pix.flip_left_right(image))
    moved = pix.affine_transform(image, jnp.eye(3)[:, :3] * jnp.array([1.0, 0.9, 1.0]))
    colours = pix.adjust_hue(pix.adjust_contrast(image, 1.3), 0.1)
    chosen = pix.random_crop(key, image, (4, 4, 3))
    bright = jax.jit(pix.random_brightness, static_argnums=2)(key, image, 0.2)
    compared = pix.psnr(image, blurred), pix.ssim(image, blurred, max_val=1.0)
    return blurred, turned, moved, colours, chosen, bright, compared
