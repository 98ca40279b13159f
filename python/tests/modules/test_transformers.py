"""Transformers, initial values, clipping and further tools of nn, as PyTorch's programs use them."""

import copy
import pickle

import pytest

import gradus
from gradus import nn

SEQUENCES = {
    "MultiheadAttention": ((4, 2), ("x", "y", "y"), {"key_padding_mask": "ys"}),
    "TransformerEncoderLayer": ((4, 2, 8), ("x",), {"src_key_padding_mask": "xs"}),
    "TransformerDecoderLayer": ((4, 2, 8), ("x", "y"), {"tgt_key_padding_mask": "xs", "memory_key_padding_mask": "ys"}),
    "Transformer": ((4, 2, 2, 2, 8), ("y", "x"), {"src_key_padding_mask": "ys", "tgt_key_padding_mask": "xs"}),
}


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("name", SEQUENCES)
def test_sequences_are_pytorchs_with_a_batch_and_without(name, batch_first):
    torch = pytest.importorskip("torch")
    options, sequences, masks = SEQUENCES[name]
    other = getattr(torch.nn, name)(*options, batch_first=batch_first).eval()
    layer = getattr(nn, name)(*options, batch_first=batch_first).eval()
    layer.load_state_dict({key: gradus.tensor(value.numpy()) for key, value in other.state_dict().items()})
    values = {"x": torch.randn(2, 3, 4), "y": torch.randn(2, 5, 4), "xs": torch.tensor([[False, False, True]] * 2),
              "ys": torch.tensor([[False] * 4 + [True]] * 2)}

    def check(given):
        expected = other(*(given[key] for key in sequences), **{key: given[value] for key, value in masks.items()})
        given = {key: gradus.tensor(value.contiguous().numpy()) for key, value in given.items()}
        found = layer(*(given[key] for key in sequences), **{key: given[value] for key, value in masks.items()})
        if name != "MultiheadAttention":
            assert found.is_contiguous() and found.view(-1, 4).shape[1] == 4
            expected, found = (expected,), (found,)
        for one, two in zip(expected, found, strict=True):
            assert tuple(two.shape) == tuple(one.shape)
            assert gradus.allclose(two, gradus.tensor(one.detach().numpy()), atol=1e-5)

    check({key: value if batch_first or value.dim() == 2 else value.transpose(0, 1) for key, value in values.items()})
    check({key: value[0] for key, value in values.items()})


def test_weights_of_one_sequence_are_those_of_its_heads():
    attention, x = nn.MultiheadAttention(4, 2), gradus.randn(3, 4)
    assert attention(x, x, x)[1].shape == (3, 3) and attention(x, x, x, average_attn_weights=False)[1].shape == (2, 3, 3)
    assert attention(x, x, x, need_weights=False)[1] is None
    with pytest.raises(gradus.ValueError, match="width"):
        attention(x, x[None], x[None])
    with pytest.raises(gradus.ValueError, match="the same batch"):
        nn.Transformer(4, 2, 1, 1, 8)(x, x[None])


def test_stacks_take_one_sequence_and_give_contiguous_ones():
    x = gradus.randn(2, 3, 4)
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 2).eval()
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8, batch_first=True), 2).eval()
    assert encoder(x).is_contiguous() and decoder(x, x).is_contiguous()
    assert encoder(x[0]).allclose(encoder(x)[0], atol=1e-5) and decoder(x[0], x[0]).allclose(decoder(x, x)[0], atol=1e-5)


def test_a_transformer_is_of_stacks_whose_batches_come_first():
    whole = nn.Transformer(4, 2, 2, 1, 8, 0.0, batch_first=True)
    x = gradus.randn(2, 3, 4)
    assert isinstance(whole.encoder, nn.TransformerEncoder) and len(whole.encoder.layers) == 2
    assert whole.decoder(x, whole.encoder(x)).equal(whole(x, x))
    copied, pickled = copy.deepcopy(whole), pickle.loads(pickle.dumps(whole))
    assert copied(x, x).equal(whole(x, x)) and pickled(x, x).equal(whole(x, x))

    class Doubled(nn.Module):
        def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
            return 2 * src

    own = nn.Transformer(4, 2, custom_encoder=Doubled(), custom_decoder=whole.decoder, batch_first=True)
    assert own(x, x).equal(whole.decoder(x, 2 * x)) and copy.deepcopy(own)(x, x).equal(own(x, x))


def test_causal_attention_needs_its_mask():
    x, causal = gradus.randn(3, 2, 4), nn.Transformer.generate_square_subsequent_mask(3)
    layer = nn.TransformerEncoderLayer(4, 2, 8, 0.0)
    assert layer(x, causal, None, True).equal(layer(x, causal))
    for call in (lambda: layer(x, is_causal=True), lambda: nn.TransformerEncoder(layer, 1)(x, is_causal=True),
                 lambda: nn.TransformerDecoderLayer(4, 2, 8)(x, x, memory_is_causal=True),
                 lambda: nn.Transformer(4, 2, 1, 1, 8)(x, x, tgt_is_causal=True)):
        with pytest.raises(gradus.ValueError, match="is_causal needs"):
            call()


def test_options_of_transformers_stand_in_pytorchs_places():
    layer = nn.TransformerEncoderLayer(4, 2, 8, 0.0, "gelu", 1e-3, True)
    assert layer.batch_first is True and layer.norm_first is False and layer.norm1.eps == 1e-3
    assert nn.MultiheadAttention(4, 2, 0.0, True, False, False, None, None, True).batch_first is True
    with pytest.raises(TypeError, match=r"TransformerDecoderLayer.__init__\(\) missing"):
        nn.TransformerDecoderLayer(4)


def _cube(x):
    return x ** 3


ACTIVATIONS = [nn.functional.gelu, gradus.tanh, gradus.Tensor.sigmoid, _cube, nn.PReLU(), "gelu"]


@pytest.mark.parametrize("activation", ACTIVATIONS, ids=range(len(ACTIVATIONS)))
@pytest.mark.parametrize("kind", ["Encoder", "Decoder"])
def test_layers_are_copied_with_any_activation(kind, activation):
    layer = getattr(nn, f"Transformer{kind}Layer")(4, 2, 8, 0.0, activation)
    given = (gradus.randn(3, 2, 4),) * (1 if kind == "Encoder" else 2)
    expected = layer(*given)
    for copied in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert copied(*given).equal(expected) and type(copied.activation) is type(layer.activation)
    stack = getattr(nn, f"Transformer{kind}")(layer, 2)
    stack(*given).sum().backward()
    layer.activation = "relu"
    plain = layer(*given)
    layer.activation = lambda x: x.relu()
    assert copy.deepcopy(layer)(*given).equal(plain) and not plain.equal(expected)


def test_an_activation_with_weights_is_a_part_of_its_layer():
    layer, x = nn.TransformerEncoderLayer(4, 2, 8, 0.0, nn.PReLU()), gradus.randn(3, 2, 4)
    copied = copy.deepcopy(layer)
    assert list(layer.state_dict())[-1] == "activation.weight" and copied.activation is not layer.activation
    before = layer(x)
    layer.activation.weight.data.fill_(3.0)
    assert copied(x).equal(before) and not layer(x).equal(before)
    copied(x).sum().backward()
    assert copied.activation.weight.grad is not None and layer.activation.weight.grad is None
    layer.activation = nn.ReLU()
    assert "activation.weight" not in layer.state_dict() and layer(x).equal(copy.deepcopy(layer)(x))


def test_a_module_keeps_functions_of_cpp():
    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.function, self.method = nn.functional.relu, gradus.Tensor.sin

    copied = copy.deepcopy(Own())
    assert copied.function is nn.functional.relu and copied.method is gradus.Tensor.sin
    assert pickle.loads(pickle.dumps(nn.functional.relu)) is nn.functional.relu
    assert pickle.loads(pickle.dumps(gradus.exp)) is gradus.exp


def test_gradients_are_clipped_by_any_norm():
    torch = pytest.importorskip("torch")
    from gradus.nn.utils import clip_grad, convert_parameters

    assert nn.utils.get_total_norm is clip_grad.get_total_norm
    assert nn.utils.parameters_to_vector is convert_parameters.parameters_to_vector
    values = [[3.0, -4.0], [1.0]]

    def made(framework):
        out = [framework.zeros(len(each), requires_grad=True) for each in values]
        for p, each in zip(out, values):
            p.grad = framework.tensor(each)
        return out, framework.nn.utils

    for order in ("inf", float("inf"), 1, 2.0):
        found = []
        for parameters, utils in (made(gradus), made(torch)):
            total = utils.get_total_norm([p.grad for p in parameters], order, foreach=None)
            utils.clip_grads_with_norm_(parameters, 2, total)
            once = [p.grad.tolist() for p in parameters]
            assert utils.clip_grad_norm_(parameters, 0.5, norm_type=order).item() == pytest.approx(min(total.item(), 2.0))
            found.append((total.item(), *sum(once, []), *sum((p.grad.tolist() for p in parameters), [])))
        assert found[0] == pytest.approx(found[1])
    assert nn.utils.get_total_norm([]).item() == 0
    with pytest.raises(gradus.Error, match="finite"):
        nn.utils.get_total_norm([gradus.tensor([float("inf")])], error_if_nonfinite=True)


def test_sequences_are_filled_up_on_either_side_and_converted():
    rnn = nn.utils.rnn
    given = [gradus.tensor([1.0, 2.0, 3.0]), gradus.tensor([4.0])]
    assert rnn.pad_sequence(given, True, -1.0, "left").tolist() == [[1, 2, 3], [-1, -1, 4]]
    assert rnn.pad_sequence(given, padding_side="left").tolist() == [[1, 0], [2, 0], [3, 4]]
    with pytest.raises(gradus.ValueError, match="padding_side"):
        rnn.pad_sequence(given, padding_side="both")
    packed = rnn.pack_sequence(given[::-1], enforce_sorted=False)
    assert packed.to(gradus.float32) is packed and packed.long().data.dtype is gradus.int64
    wide = packed.to(dtype=gradus.float64)
    assert wide.data.dtype is gradus.float64 and wide.batch_sizes.equal(packed.batch_sizes)
    assert [each.tolist() for each in rnn.unpack_sequence(wide)] == [[4], [1, 2, 3]]


def test_skip_init_makes_a_module():
    assert nn.utils.skip_init(nn.Linear, 2, 3, bias=False).weight.shape == (3, 2)
    with pytest.raises(gradus.TypeError, match="module_cls"):
        nn.utils.skip_init(gradus.ones)


INITIALS = [("uniform_", ()), ("normal_", (1.0,)), ("trunc_normal_", ()), ("xavier_uniform_", (2.0,)), ("xavier_normal_", ()),
            ("kaiming_uniform_", (0, "fan_out", "selu")), ("kaiming_normal_", (0.1,)), ("orthogonal_", (2.0,)),
            ("sparse_", (0.25,))]


@pytest.mark.parametrize("name, options", INITIALS)
def test_initial_values_come_from_a_generator(name, options):
    torch = pytest.importorskip("torch")
    fill = getattr(nn.init, name)
    first, second = (fill(gradus.empty(100, 60), *options, generator=gradus.Generator().manual_seed(5)) for _ in range(2))
    other = fill(nn.Parameter(gradus.empty(100, 60)), *options)
    expected = getattr(torch.nn.init, name)(torch.empty(100, 60), *options)
    assert first.equal(second) and not first.equal(other.detach()) and type(other) is nn.Parameter
    for found in (first, other):
        assert found.std().item() == pytest.approx(expected.std().item(), rel=0.1)
        assert found.mean().item() == pytest.approx(expected.mean().item(), abs=0.1)
        assert (found == 0).sum(0).tolist() == (expected == 0).sum(0).tolist()


def test_initial_values_are_orthogonal():
    rows = nn.init.orthogonal_(gradus.empty(3, 2, 4), 2.0).reshape(3, 8)
    columns = nn.init.orthogonal_(gradus.empty(5, 3))
    assert (rows @ rows.t()).allclose(4 * gradus.eye(3), atol=1e-5) and (columns.t() @ columns).allclose(gradus.eye(3), atol=1e-5)


def test_convolutions_in_groups_return_their_input():
    torch = pytest.importorskip("torch")
    for groups in (1, 2, 3):
        for shape in ((6, 2, 3), (6, 4, 3, 3), (6, 1, 2, 3, 1)):
            assert nn.init.dirac_(gradus.empty(*shape), groups).tolist() == torch.nn.init.dirac_(torch.empty(*shape), groups).tolist()
    with pytest.raises(gradus.ValueError, match="groups = 4"):
        nn.init.dirac_(gradus.empty(6, 2, 3), 4)
    assert nn.init.calculate_gain("selu") == 0.75 and nn.init.calculate_gain("leaky_relu", 1.0) == 1
    with pytest.raises(gradus.ValueError, match="'fan'"):
        nn.init.kaiming_normal_(gradus.empty(2, 2), mode="fan")


def test_buffers_know_whether_they_are_saved():
    module, data = nn.Linear(2, 2), gradus.ones(2)
    module.kept, module.left_out = nn.Buffer(data), nn.Buffer(data, persistent=False)
    left_out = nn.Buffer(data, persistent=False)
    data.fill_(3.0)
    for each in (module, copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert list(each.state_dict()) == ["weight", "bias", "kept"] and each.left_out.tolist() == [3, 3]
    for each in (copy.deepcopy(left_out), pickle.loads(pickle.dumps(left_out))):
        assert type(each) is nn.Buffer and each.persistent is False and each.tolist() == [3, 3]


def test_memory_of_a_gpu_is_nothing_without_one():
    cuda = gradus.cuda
    assert cuda.is_bf16_supported() is cuda.is_initialized() is cuda.is_available()
    if not cuda.is_available():
        assert cuda.memory_allocated() == cuda.max_memory_allocated(0) == cuda.memory_reserved("cuda:0") == cuda.max_memory_reserved() == 0
    assert cuda.reset_peak_memory_stats() is cuda.ipc_collect() is cuda.init() is None
    assert cuda.OutOfMemoryError is gradus.OutOfMemoryError and gradus.accelerator.current_device_index() == cuda.current_device()


def test_a_profile_has_the_time_of_all_operations():
    with gradus.autograd.profiler.profile() as measured:
        gradus.ones(3, 3).exp()
    assert measured.self_cpu_time_total == pytest.approx(sum(each.self_cpu_time_total for each in measured.key_averages()))
    assert measured.self_cpu_time_total > 0
