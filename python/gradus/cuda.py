"""GPUs, under the names of torch.cuda."""
