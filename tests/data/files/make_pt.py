#!/usr/bin/env python3
"""Writes the files of torch.save in this folder (*.pt), and the pickle of one (*.pkl); needs PyTorch 2."""
import collections
import io
import os
import zipfile

import torch

here = os.path.dirname(os.path.abspath(__file__))


def save(name, value):
    """Stores without the padding of torch.save, which would be most of the file."""
    out = io.BytesIO()
    torch.save(value, out)
    with zipfile.ZipFile(out) as whole, zipfile.ZipFile(os.path.join(here, name), "w") as small:
        for entry in whole.namelist():
            if entry.split("/", 1)[1] in ("data.pkl", "byteorder") or "/data/" in entry:
                small.writestr(zipfile.ZipInfo("a/" + entry.split("/", 1)[1]), whole.read(entry))


def pickle_of(name, value):
    out = io.BytesIO()
    torch.save(value, out)
    with zipfile.ZipFile(out) as archive, open(os.path.join(here, name), "wb") as f:
        f.write(next(archive.read(entry) for entry in archive.namelist() if entry.endswith("data.pkl")))


x = torch.arange(6.0).view(2, 3)
checkpoint = {"model": collections.OrderedDict(w=x, tied=x, t=x.t(), row=x[1]), "epoch": 3, "lr": 0.5,
              "groups": [{"lr": 1e-8, "betas": (0.5, 1), "params": [0, -2, 300, 2**40]}], "state": {0: x[:, 1]},
              "name": "net", "none": None, "on": True, "seed": 2**64 - 1, "size": torch.Size([2, 3])}
linear = torch.nn.Linear(2, 1)
linear.load_state_dict({"weight": torch.tensor([[1.0, 2.0]]), "bias": torch.tensor([3.0])})

if __name__ == "__main__":
    torch.save(linear.state_dict(), os.path.join(here, "linear.pt"))  # as it comes from PyTorch
    save("checkpoint.pt", checkpoint)
    dtypes = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16,
              torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128]
    save("dtypes.pt", {str(d)[6:]: torch.tensor([0, 1, 1]).to(d) for d in dtypes} | {"empty": torch.zeros(2, 0)})
    pickle_of("checkpoint.pkl", checkpoint)
