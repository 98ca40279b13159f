"""What C++ does not say of gradus._gradus._distributed: lists of tensors."""

def all_gather(
    tensor_list: Sequence[Tensor], tensor: Tensor, group: ProcessGroup | None = None, async_op: bool = False
) -> Work: ...
def reduce_scatter(
    output: Tensor, input_list: Sequence[Tensor], op: ReduceOp = ..., group: ProcessGroup | None = None,
    async_op: bool = False
) -> Work: ...
def gather(
    tensor: Tensor, gather_list: Sequence[Tensor] | None = None, dst: int = 0, group: ProcessGroup | None = None,
    async_op: bool = False
) -> Work: ...
def scatter(
    tensor: Tensor, scatter_list: Sequence[Tensor] | None = None, src: int = 0, group: ProcessGroup | None = None,
    async_op: bool = False
) -> Work: ...
def all_to_all(
    output_tensor_list: Sequence[Tensor], input_tensor_list: Sequence[Tensor], group: ProcessGroup | None = None,
    async_op: bool = False
) -> Work: ...
