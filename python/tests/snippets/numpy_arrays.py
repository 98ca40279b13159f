"""Arrays, products, linear algebra and Fourier transforms: a program for NumPy."""

# was: import numpy as np
import gradus.numpy as np

a = np.array([1.0, 2.0, 3.0])
b = np.array([[1, 2, 3], [4, 5, 6]])
c = np.add(a, b)
assert c.shape == (2, 3) and c.dtype == np.float64 and b.dtype == np.int64
assert c.tolist() == [[2, 4, 6], [5, 7, 9]]
assert np.dot(a, a) == 14 and np.dot(b, a).tolist() == [14, 32]
assert np.sum(b, axis=0).tolist() == [5, 7, 9]
assert np.mean(b, axis=1, keepdims=True).tolist() == [[2], [5]]
assert np.max(b) == 6 and np.argmax(b, axis=1).tolist() == [2, 2]
assert abs(float(np.std(a)) - (2 / 3) ** 0.5) < 1e-12
assert np.concatenate([a, a], axis=0).shape == (6,)
assert np.where(a > 1.5, a, 0.0).tolist() == [0, 2, 3]
assert np.arange(3).dtype == np.int64 and np.linspace(0, 1, 5).tolist() == [0, 0.25, 0.5, 0.75, 1]
assert np.sqrt(np.arange(5))[4] == 2 and np.sqrt(np.arange(5)).dtype == np.float64
assert np.transpose(b).shape == (3, 2) and np.reshape(b, (3, 2)).shape == (3, 2)

n = 100  # 1000 and 16000 in the document
x = np.random.rand(n, n)
assert x.dtype == np.float64
y = np.dot(x, x)
assert np.allclose(y[0, 0], np.sum(x[0] * x[:, 0]))

ones = np.ones((3, 3))
assert np.linalg.norm(ones) == 3
inverse = np.linalg.inv(x + n * np.eye(n))
assert np.allclose(np.dot(inverse, x + n * np.eye(n)), np.eye(n))
symmetric = x + x.T
values, vectors = np.linalg.eigh(symmetric)
assert np.allclose(np.dot(symmetric, vectors), vectors * values)

signal = np.random.rand(10_000) + 1j * np.random.rand(10_000)  # 1e7 in the document
assert np.allclose(np.fft.ifft(np.fft.fft(signal)), signal)
results = [c, y.shape, np.cumsum(b), np.sort(np.array([3, 1, 2])), np.fft.fft(a), np.eye(2, 3, 1)]
