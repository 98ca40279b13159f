"""Files of events that TensorBoard shows, under the names of torch.utils.tensorboard."""

from ..watch import SummaryWriter as SummaryWriter
