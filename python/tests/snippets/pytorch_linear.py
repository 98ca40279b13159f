"""A device, a layer on it, a training, and memory given back: a program for PyTorch."""

# was: import torch
import gradus as torch
# was: import torch.nn as nn
import gradus.nn as nn
# was: import torch.optim as optim
import gradus.optim as optim

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
torch.manual_seed(0)

a = torch.rand(3, 4).to(device)
b = torch.rand(4, 5, device=device)
c = torch.matmul(a, b)
assert c.shape == (3, 5) and c.device.type == device.type
assert torch.allclose(c.cpu(), a.cpu() @ b.cpu(), atol=1e-6)


class LinearModel(nn.Module):
    def __init__(self, inputs, outputs):
        super(LinearModel, self).__init__()
        self.linear = nn.Linear(inputs, outputs)

    def forward(self, x):
        return self.linear(x)


model = LinearModel(8, 1).to(device)
criterion = nn.MSELoss()
optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
x = torch.randn(64, 8).to(device)
y = x.sum(dim=1, keepdim=True)

losses = []
for epoch in range(100):
    optimizer.zero_grad()
    outputs = model(x)
    loss = criterion(outputs, y)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    if (epoch + 1) % 25 == 0:
        print(f"epoch {epoch + 1}, loss {loss.item():.2e}")

assert losses[-1] < 1e-3 < losses[0]
with torch.no_grad():
    assert model(torch.ones(1, 8, device=device)).item() - 8 < 0.2

del x, y, outputs, loss
if torch.cuda.is_available():
    torch.cuda.empty_cache()
    print(torch.cuda.memory_allocated(), torch.cuda.get_device_name(0))
