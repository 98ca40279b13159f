"""Eigenvalues and eigenvectors of matrices without symmetry, which make.py writes to eig.txt."""
import torch


def projections(vectors):
    """Matrices v v^H for each column: vectors have no fixed phase."""
    return vectors.mT.unsqueeze(-1) * vectors.mH.unsqueeze(-2)


def loss_of_values(values):
    """Values have no fixed order."""
    return (values.abs() ** 3 + (values ** 3).imag + values.real).sum()


def loss_of_vectors(values, vectors, weights):
    n = vectors.shape[-1]
    return (projections(vectors) * weights[:n, :n] * (values * values)[..., None, None]).sum().real


def eig(out):
    generator = torch.Generator().manual_seed(12)
    weights = out.let("weights", torch.randn(5, 5, generator=generator, dtype=torch.float64))
    for dtype in (torch.float64, torch.complex128):
        for size in ((2, 3, 3), (5, 5), (1, 1)):
            matrix = torch.randn(size, generator=generator, dtype=dtype)
            name = f"{'complex' if dtype.is_complex else 'real'} {'x'.join(map(str, size))}"
            out.let(name, matrix)
            values, vectors = torch.linalg.eig(matrix)
            out.case(f"values {name}", lambda: values)
            out.case(f"projections {name}", lambda: projections(vectors))
            x = matrix.clone().requires_grad_()
            out.case(f"gradient_of_values {name}", lambda: torch.autograd.grad(
                loss_of_values(torch.linalg.eigvals(x)), x)[0])
            out.case(f"gradient_of_vectors {name}", lambda: torch.autograd.grad(
                loss_of_vectors(*torch.linalg.eig(x), weights), x)[0])
