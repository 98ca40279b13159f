"""Weights of weight_norm and spectral_norm and their gradients, which make.py writes to norms.txt."""
import torch
from torch.nn import utils


def norms(out):
    generator = torch.Generator().manual_seed(0)

    def draw(name, *shape):
        return out.let(name, torch.randn(*shape, generator=generator, dtype=torch.float64))
    x, weight, bias = draw("x", 5, 4), draw("weight", 3, 4), draw("bias", 3)
    image, kernel = draw("image", 2, 3, 5, 5), draw("kernel", 3, 4, 2, 2)
    u, v = draw("u", 3), draw("v", 4)

    def linear():
        module = torch.nn.Linear(4, 3).double()
        module.weight.data.copy_(weight)
        module.bias.data.copy_(bias)
        return module

    def transposed():
        module = torch.nn.ConvTranspose2d(3, 4, 2, bias=False).double()
        module.weight.data.copy_(kernel)
        return module

    def results(module, x, calls):
        """The output of the last call, then the gradients of all parameters."""
        for _ in range(calls):
            y = module(x)
        y.square().sum().backward()
        return torch.cat([y.flatten(), *(p.grad.flatten() for _, p in sorted(module.named_parameters()))])
    for dim in (0, 1, -1):
        out.case(f"weight_norm {dim}", lambda: results(
            utils.weight_norm(linear(), dim=None if dim == -1 else dim), x, 1))
    out.case("weight_norm bias", lambda: results(utils.weight_norm(linear(), "bias"), x, 1))
    out.case("weight_norm conv", lambda: results(utils.weight_norm(transposed(), dim=1), image, 1))

    def spectral(module, **options):
        module = utils.spectral_norm(module, **options)
        first, second = module.weight_u, module.weight_v
        first.copy_(torch.nn.functional.normalize(torch.cat([u, v])[:first.numel()], dim=0))
        second.copy_(torch.nn.functional.normalize(torch.ones_like(second), dim=0))
        return module
    for calls, iterations in ((1, 1), (3, 1), (1, 4)):
        out.case(f"spectral_norm {calls} {iterations}", lambda: results(
            spectral(linear(), n_power_iterations=iterations), x, calls))
    out.case("spectral_norm eval", lambda: results(spectral(linear()).eval(), x, 2))
    out.case("spectral_norm conv", lambda: results(spectral(transposed()), image, 2))
