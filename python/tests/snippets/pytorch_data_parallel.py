"""A model on all GPUs: a program for PyTorch."""

# was: import torch
import gradus as torch
# was: import torch.nn as nn
import gradus.nn as nn
# was: from torch.utils.data import DataLoader, Dataset
from gradus.utils.data import DataLoader, Dataset


class RandomDataset(Dataset):
    def __init__(self, size, length):
        self.len = length
        self.data = torch.randn(length, size)

    def __getitem__(self, index):
        return self.data[index]

    def __len__(self):
        return self.len


class Model(nn.Module):
    def __init__(self, input_size, output_size):
        super().__init__()
        self.fc = nn.Linear(input_size, output_size)

    def forward(self, input):
        return self.fc(input)


device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
loader = DataLoader(dataset=RandomDataset(5, 20), batch_size=10, shuffle=True)
model = Model(5, 2).to(device)
alone = model
if torch.cuda.device_count() > 1:
    model = nn.DataParallel(model)

outputs = []
for data in loader:
    input = data.to(device)
    output = model(input)
    assert torch.allclose(output, alone(input), atol=1e-6)
    outputs.append(output)
torch.cat(outputs).sum().backward()
assert all(p.grad is not None for p in alone.parameters())
