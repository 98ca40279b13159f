"""Functions of functions: a program for JAX."""

# was: import jax
import gradus
# was: import jax.numpy as jnp
import gradus.numpy as jnp
# was: from jax import grad, jit, vmap
from gradus import fuse
from gradus.func import grad, vmap

x = jnp.arange(10)
assert x.tolist() == list(range(10))
# was: y = x.at[0].set(10)
y = x.clone()
# was: (JAX's arrays do not change)
y[0] = 10
assert x[0] == 0 and y[0] == 10

# was: key = jax.random.key(0)
key = jnp.random.default_rng(0)
# was: key, subkey = jax.random.split(key)
# was: numbers = jax.random.normal(subkey, (1000,))
numbers = key.standard_normal(1000)
assert abs(float(numbers.mean())) < 0.2
# was: assert jnp.array_equal(numbers, jax.random.normal(subkey, (1000,)))
assert jnp.array_equal(numbers, jnp.random.default_rng(0).standard_normal(1000))


def selu(x, alpha=1.67, lmbda=1.05):
    return lmbda * jnp.where(x > 0, x, alpha * jnp.exp(x) - alpha)


# was: selu_jit = jit(selu)
selu_jit = fuse(selu)
assert jnp.allclose(selu_jit(numbers), selu(numbers))
# was: slope = grad(lambda x: selu_jit(x).sum())(numbers)
slope = grad(lambda x: selu_jit(x).sum())(numbers)
assert jnp.allclose(slope[numbers > 0], 1.05)

matrix, batch = key.standard_normal((3, 4)), key.standard_normal((5, 4))


def apply_matrix(v):
    return jnp.dot(matrix, v)


expected = jnp.dot(batch, matrix.T)
assert jnp.allclose(vmap(apply_matrix)(batch), expected)


# was: @jit
def norms(batch):
    return vmap(lambda v: jnp.sqrt(jnp.sum(v * v)))(batch)


# was: (jit and vmap together, by the decorator above)
norms = fuse(norms)
assert jnp.allclose(norms(batch), jnp.linalg.norm(batch, axis=1))
