"""Names and keywords of PyTorch that programs use."""

import copy
import pickle

import pytest

import gradus
from gradus import nn, optim
from gradus.nn import functional as F
from gradus.nn.utils import rnn

# The classes of torch.nn 2.15, and the functions of torch.nn.functional. The second set of each is not here.
CLASSES = """
AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveLogSoftmaxWithLoss AdaptiveMaxPool1d
AdaptiveMaxPool2d AdaptiveMaxPool3d AlphaDropout AvgPool1d AvgPool2d AvgPool3d BCELoss BCEWithLogitsLoss
BatchNorm1d BatchNorm2d BatchNorm3d Bilinear Buffer CELU CTCLoss ChannelShuffle CircularPad1d CircularPad2d
CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d Container Conv1d Conv2d Conv3d ConvTranspose1d
ConvTranspose2d ConvTranspose3d CosineEmbeddingLoss CosineSimilarity CrossEntropyLoss CrossMapLRN2d DataParallel
Dropout Dropout1d Dropout2d Dropout3d ELU Embedding EmbeddingBag FeatureAlphaDropout Flatten Fold
FractionalMaxPool2d FractionalMaxPool3d GELU GLU GRU GRUCell GaussianNLLLoss GroupNorm Hardshrink Hardsigmoid
Hardswish Hardtanh HingeEmbeddingLoss HuberLoss Identity InstanceNorm1d InstanceNorm2d InstanceNorm3d KLDivLoss
L1Loss LPPool1d LPPool2d LPPool3d LSTM LSTMCell LayerNorm LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d
LazyConv1d LazyConv2d LazyConv3d LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d LazyInstanceNorm1d
LazyInstanceNorm2d LazyInstanceNorm3d LazyLinear LeakyReLU Linear LinearCrossEntropyLoss
LinearCrossEntropyOptions LocalResponseNorm LogSigmoid LogSoftmax MSELoss MarginRankingLoss MaxPool1d MaxPool2d
MaxPool3d MaxUnpool1d MaxUnpool2d MaxUnpool3d Mish Module ModuleDict ModuleList MultiLabelMarginLoss
MultiLabelSoftMarginLoss MultiMarginLoss MultiheadAttention NLLLoss NLLLoss2d PReLU PairwiseDistance Parameter
ParameterDict ParameterList PixelShuffle PixelUnshuffle PoissonNLLLoss RMSNorm RNN RNNBase RNNCell RNNCellBase
RReLU ReLU ReLU6 ReflectionPad1d ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d
ReplicationPad3d SELU Sequential SiLU Sigmoid SmoothL1Loss SoftMarginLoss Softmax Softmax2d Softmin Softplus
Softshrink Softsign SyncBatchNorm Tanh Tanhshrink Threshold Transformer TransformerDecoder
TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer TripletMarginLoss
TripletMarginWithDistanceLoss Unflatten Unfold UninitializedBuffer UninitializedParameter Upsample
UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad2d ZeroPad3d
""", """
Container LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyInstanceNorm1d LazyInstanceNorm2d
LazyInstanceNorm3d LinearCrossEntropyLoss LinearCrossEntropyOptions NLLLoss2d RNNBase RNNCellBase UninitializedBuffer
UninitializedParameter
"""
FUNCTIONS = """
adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool1d_with_indices
adaptive_max_pool2d adaptive_max_pool2d_with_indices adaptive_max_pool3d adaptive_max_pool3d_with_indices
affine_grid alpha_dropout assert_int_or_pair avg_pool1d avg_pool2d avg_pool3d batch_norm bilinear
binary_cross_entropy binary_cross_entropy_with_logits boolean_dispatch celu celu_ channel_shuffle conv1d conv2d
conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d cosine_embedding_loss cosine_similarity
cross_entropy ctc_loss dropout dropout1d dropout2d dropout3d elu elu_ embedding embedding_bag
feature_alpha_dropout fold fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d
fractional_max_pool3d_with_indices gaussian_nll_loss gelu glu grid_sample group_norm grouped_mm gumbel_softmax
hardshrink hardsigmoid hardswish hardtanh hardtanh_ hinge_embedding_loss huber_loss instance_norm interpolate
kl_div l1_loss layer_norm leaky_relu leaky_relu_ linear linear_cross_entropy local_response_norm log_softmax
logsigmoid lp_pool1d lp_pool2d lp_pool3d margin_ranking_loss max_pool1d max_pool1d_with_indices max_pool2d
max_pool2d_with_indices max_pool3d max_pool3d_with_indices max_unpool1d max_unpool2d max_unpool3d mish mse_loss
multi_head_attention_forward multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss
native_channel_shuffle nll_loss normalize one_hot pad pairwise_distance pdist pixel_shuffle pixel_unshuffle
poisson_nll_loss prelu relu relu6 relu_ rms_norm rrelu rrelu_ scaled_addmm scaled_addmm_
scaled_dot_product_attention scaled_grouped_mm scaled_mm selu selu_ sigmoid silu smooth_l1_loss soft_margin_loss
softmax softmin softplus softshrink softsign tanh tanhshrink threshold threshold_ triplet_margin_loss
triplet_margin_with_distance_loss unfold upsample upsample_bilinear upsample_nearest
""", """
assert_int_or_pair boolean_dispatch conv_tbc grouped_mm linear_cross_entropy multi_head_attention_forward
native_channel_shuffle scaled_addmm scaled_addmm_ scaled_grouped_mm scaled_mm
"""


@pytest.mark.parametrize("home, names", [(nn, CLASSES), (F, FUNCTIONS)], ids=["nn", "functional"])
def test_names_of_pytorch(home, names):
    all_names, missing = (set(text.split()) for text in names)
    assert {name for name in all_names if not hasattr(home, name)} == missing


X = gradus.tensor([[1.0, 0.0, 2.0], [4.0, 3.0, 0.0]])
PLACES = gradus.tensor([[0, 1, 0]])
# The same call with PyTorch's keywords, and without.
CALLS = [
    (lambda: gradus.full(size=(2,), fill_value=3), lambda: gradus.full((2,), 3)),
    (lambda: gradus.full_like(X, fill_value=3), lambda: gradus.full_like(X, 3)),
    (lambda: gradus.zeros(size=(2, 3)), lambda: gradus.zeros(2, 3)),
    (lambda: gradus.ones(size=(2, 3)), lambda: gradus.ones(2, 3)),
    (lambda: gradus.pow(X, exponent=2), lambda: X ** 2),
    (lambda: gradus.pow(input=X, exponent=X), lambda: X ** X),
    (lambda: X.pow(exponent=2), lambda: X ** 2),
    (lambda: X.clone().pow_(exponent=2), lambda: X ** 2),
    (lambda: gradus.heaviside(X, values=X), lambda: gradus.heaviside(X, X)),
    (lambda: gradus.cat((X, X), axis=1), lambda: gradus.cat((X, X), 1)),
    (lambda: gradus.stack((X, X), axis=1), lambda: gradus.stack((X, X), 1)),
    (lambda: gradus.concatenate((X, X), axis=0), lambda: gradus.cat((X, X))),
    (lambda: gradus.sum(X, axis=1), lambda: X.sum(1)),
    (lambda: gradus.sum(X, axis=(0, 1)), lambda: X.sum()),
    (lambda: X.sum(axis=1, keepdims=True), lambda: X.sum(1, True)),
    (lambda: X.sum(axis=1, keepdim=True), lambda: X.sum(1, True)),
    (lambda: X.mean(axis=0), lambda: X.mean(0)),
    (lambda: X.std(axis=1), lambda: X.std(1)),
    (lambda: X.max(axis=1).values, lambda: X.max(1).values),
    (lambda: gradus.max(X, axis=1, keepdims=True).indices, lambda: X.max(1, True).indices),
    (lambda: X.argmax(axis=1), lambda: X.argmax(1)),
    (lambda: X.softmax(axis=1), lambda: X.softmax(1)),
    (lambda: gradus.cumsum(X, axis=1), lambda: X.cumsum(1)),
    (lambda: X.unsqueeze(axis=1), lambda: X.unsqueeze(1)),
    (lambda: X.index_select(axis=1, index=PLACES[0]), lambda: X.index_select(1, PLACES[0])),
    (lambda: X.gather(dim=0, index=PLACES), lambda: X.gather(0, PLACES)),
    (lambda: X.new_zeros(size=(2,)), lambda: X.new_zeros(2)),
    (lambda: X.new_full(size=(2,), fill_value=5), lambda: X.new_full((2,), 5)),
    (lambda: X.new_tensor(data=[1]), lambda: X.new_tensor([1])),
    (lambda: X.reshape(shape=(3, 2)), lambda: X.reshape(3, 2)),
    (lambda: gradus.reshape(X, shape=(6,)), lambda: X.reshape(6)),
    (lambda: X.view(size=(3, 2)), lambda: X.view(3, 2)),
    (lambda: X.view(dtype=gradus.int32), lambda: X.view(gradus.int32)),
    (lambda: X.permute(dims=(1, 0)), lambda: X.permute(1, 0)),
    (lambda: X.flatten(start_dim=0), lambda: X.view(6)),
    (lambda: X.norm(p="fro"), lambda: X.norm()),
    (lambda: gradus.norm(X, "fro", dim=1), lambda: X.norm(2, 1)),
    (lambda: gradus.norm(X, p=2, dim=1), lambda: X.norm(2, 1)),
    (lambda: gradus.norm(X, p="nuc").round(decimals=4), lambda: gradus.linalg.svdvals(X).sum().round(decimals=4)),
    (lambda: gradus.split(tensor=X, split_size_or_sections=2, dim=1)[1], lambda: X.split(2, 1)[1]),
    (lambda: gradus.split(X, [1, 2], 1)[1], lambda: X.split([1, 2], 1)[1]),
    (lambda: X.split(split_size=1)[1], lambda: X.split(1)[1]),
    (lambda: gradus.tensordot(a=X, b=X.t(), dims=1), lambda: X @ X.t()),
    (lambda: gradus.tensordot(X, X, dims=([1], [1])), lambda: X @ X.t()),
    (lambda: gradus.tensordot(X, X), lambda: (X * X).sum()),
    (lambda: gradus.nonzero(X, as_tuple=True)[1], lambda: X.nonzero()[:, 1]),
    (lambda: X.nonzero(as_tuple=True)[0], lambda: X.nonzero()[:, 0]),
    (lambda: X.nonzero(as_tuple=False), lambda: gradus.nonzero(X)),
    (lambda: gradus.where(condition=X > 0, input=X, other=-X), lambda: gradus.where(X > 0, X, -X)),
    (lambda: gradus.randint(low=3, high=4, size=(2,)), lambda: gradus.full((2,), 3)),
    (lambda: F.silu(X, inplace=False), lambda: gradus.silu(X)),
    (lambda: nn.SiLU(inplace=True)(X.clone()), lambda: gradus.silu(X)),
    (lambda: nn.Mish(inplace=True)(X.clone()), lambda: gradus.mish(X)),
    (lambda: nn.UpsamplingNearest2d(scale_factor=2)(X[None, None]),
     lambda: F.interpolate(X[None, None], scale_factor=2)),
    (lambda: nn.UpsamplingBilinear2d(size=(4, 6))(X[None, None]),
     lambda: F.interpolate(X[None, None], (4, 6), mode="bilinear", align_corners=True)),
    (lambda: F.upsample(X[None, None], scale_factor=2, mode="bilinear"),
     lambda: F.interpolate(X[None, None], scale_factor=2, mode="bilinear")),
    (lambda: F.upsample_nearest(X[None, None], size=3), lambda: F.interpolate(X[None, None], 3)),
    (lambda: gradus.vmap(gradus.dot)(X, X), lambda: (X * X).sum(1)),
    (lambda: gradus.asarray([1, 2], dtype=gradus.float32), lambda: gradus.tensor([1.0, 2.0])),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_keywords_of_pytorch(number):
    named, plain = CALLS[number]
    named, plain = named(), plain()
    assert named.dtype is plain.dtype and gradus.equal(named, plain)


def test_a_keyword_that_no_row_has_is_still_an_error():
    for call in (lambda: X.sum(axes=1), lambda: X.exp(axis=1), lambda: X.sum(axis="a"), lambda: gradus.full((2,), value=1)):
        with pytest.raises(TypeError):
            call()


def test_asarray():
    x = gradus.ones(2)
    assert gradus.asarray(x) is x and gradus.asarray(x, copy=True).data_ptr() != x.data_ptr()
    assert gradus.asarray(x, copy=False).data_ptr() == x.data_ptr()
    assert gradus.asarray(x, requires_grad=True).requires_grad and not x.requires_grad
    with pytest.raises(ValueError, match="asarray: the memory cannot be shared"):
        gradus.asarray(x, dtype=gradus.float64, copy=False)


def test_shapes_and_seeds():
    assert gradus.broadcast_shapes((2, 1), (3,)) == (2, 3) and gradus.broadcast_shapes() == ()
    with pytest.raises(ValueError):
        gradus.broadcast_shapes((2,), (3,))
    gradus.manual_seed(5)
    assert gradus.initial_seed() == 5
    state = gradus.get_rng_state()
    first = gradus.rand(3)
    gradus.set_rng_state(state)
    assert gradus.equal(gradus.rand(3), first)
    assert gradus.seed() == gradus.initial_seed() != 5
    gradus.manual_seed(0)


def test_gumbel_softmax():
    gradus.manual_seed(1)
    y = F.gumbel_softmax(logits=gradus.zeros(2000, 3), tau=0.5, hard=True, dim=-1)
    assert y.sum(1).eq(1).all() and (y.mean(0) - 1 / 3).abs().max() < 0.05


def test_gaussian_nll_loss_has_the_values_of_pytorch():
    mean, target, var = gradus.tensor([1.0, 2.0]), gradus.tensor([0.0, 4.0]), gradus.tensor([0.5, 2.0])
    loss = F.gaussian_nll_loss(input=mean, target=target, var=var, full=True, eps=1e-6, reduction="none")
    assert gradus.allclose(loss, gradus.tensor([1.5724, 2.2655]), atol=1e-4)
    assert nn.GaussianNLLLoss(full=True)(mean, target, var=var).item() == pytest.approx(loss.mean().item())


def test_layers_keep_what_they_are_told():
    assert nn.LayerNorm(3, bias=False).bias is None and list(nn.LayerNorm(3, bias=False).state_dict()) == ["weight"]
    x = gradus.ones(8, 4, 5)
    dropped = nn.Dropout1d(0.5)(x)
    assert gradus.equal(dropped, dropped[:, :, :1].expand_as(x)) and dropped.max() == 2
    assert nn.ChannelShuffle(2)(gradus.arange(4).view(1, 4, 1)).flatten().tolist() == [0, 2, 1, 3]
    assert nn.CircularPad1d(1)(gradus.arange(3.0).view(1, 1, 3)).flatten().tolist() == [2, 0, 1, 2, 0]
    nn.LSTM(2, 3).flatten_parameters()
    norm = nn.BatchNorm1d(2)
    norm(gradus.rand(4, 2))
    norm.reset_running_stats()
    assert norm.running_mean.tolist() == [0, 0]
    layer = nn.AdaptiveLogSoftmaxWithLoss(16, 6, [2, 4])
    x = gradus.rand(3, 16)
    assert gradus.allclose(layer.log_prob(x).exp().sum(1), gradus.ones(3))
    assert gradus.equal(layer.predict(x), layer.log_prob(x).argmax(1))


@pytest.mark.parametrize("bag", [False, True])
def test_embeddings_of_given_vectors(bag):
    vectors = gradus.rand(5, 3)
    layer = (nn.EmbeddingBag if bag else nn.Embedding).from_pretrained(vectors, padding_idx=0)
    assert layer.weight.data_ptr() == vectors.data_ptr() and not layer.weight.requires_grad
    assert layer.padding_idx == 0 and type(layer).from_pretrained(vectors, freeze=False).weight.requires_grad
    with pytest.raises(ValueError, match="expected a row for each word"):
        type(layer).from_pretrained(vectors[0])


LAZY = [
    (lambda: nn.LazyLinear(3), nn.Linear, "in_features", (4, 5), 5),
    (lambda: nn.LazyLinear(3, bias=False, dtype=gradus.float64), nn.Linear, "in_features", (5,), 5),
    (lambda: nn.LazyConv1d(4, 2), nn.Conv1d, "in_channels", (2, 6, 5), 6),
    (lambda: nn.LazyConv2d(4, 3, padding=1, groups=2), nn.Conv2d, "in_channels", (2, 6, 5, 5), 6),
    (lambda: nn.LazyConv3d(4, 2), nn.Conv3d, "in_channels", (6, 2, 2, 2), 6),
    (lambda: nn.LazyConvTranspose2d(4, 3), nn.ConvTranspose2d, "in_channels", (2, 6, 5, 5), 6),
]


@pytest.mark.parametrize("make, kind, name, shape, size", LAZY)
def test_a_lazy_layer_takes_its_width_from_its_first_input(make, kind, name, shape, size):
    layer = make()
    shown = "Lazy{}(in_features={}, " if kind is nn.Linear else "Lazy{}({}, "
    assert isinstance(layer, kind) and repr(layer).startswith(shown.format(kind.__name__, 0))
    sgd = optim.SGD(layer.parameters(), lr=0.5)
    x = gradus.rand(shape, dtype=layer.weight.dtype)
    layer(x).square().sum().backward()
    assert getattr(layer, name) == size and repr(layer).startswith(shown.format(kind.__name__, size))
    before = layer.weight.clone()
    sgd.step()
    assert not gradus.equal(layer.weight, before)
    layer.eval()
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert gradus.equal(other(x), layer(x))
    assert list(layer.state_dict()) == list(make().state_dict())


@pytest.mark.parametrize("kind", [nn.RNN, nn.LSTM, nn.GRU])
@pytest.mark.parametrize("sort", [True, False])
def test_recurrent_layers_take_packed_sequences(kind, sort):
    lengths = [5, 3, 2] if sort else [3, 5, 2]
    x = gradus.rand(3, 5, 2)
    layer = kind(2, 4, num_layers=2, batch_first=True, bidirectional=True)
    packed = rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=sort)
    data, batch_sizes, sorted_indices, _ = packed
    assert data.shape == (10, 2) and batch_sizes.tolist() == [3, 3, 2, 1, 1]
    assert (sorted_indices is None) == sort
    out, state = layer(packed)
    padded, found = rnn.pad_packed_sequence(out, batch_first=True, total_length=6)
    assert padded.shape == (3, 6, 8) and found.tolist() == lengths
    h = state[0] if kind is nn.LSTM else state
    for i, length in enumerate(lengths):
        alone, own = layer(x[i:i + 1, :length])
        assert gradus.allclose(padded[i, :length], alone[0], atol=1e-6) and not padded[i, length:].any()
        assert gradus.allclose(h[:, i], (own[0] if kind is nn.LSTM else own)[:, 0], atol=1e-6)
    assert gradus.equal(layer(packed, state)[0].data, layer.forward(packed, hx=state)[0].data)
    sequences = rnn.unpack_sequence(packed)
    assert [len(each) for each in sequences] == lengths
    assert gradus.equal(rnn.pack_sequence(sequences, enforce_sorted=False).data, packed.data)
    with pytest.raises(TypeError, match="PackedSequence"):
        layer(packed, 1)


def test_unsorted_lengths_are_refused():
    with pytest.raises(ValueError, match="enforce_sorted"):
        rnn.pack_padded_sequence(gradus.rand(5, 2, 1), [3, 5])


def test_optimizers_take_the_keywords_that_say_how():
    x = nn.Parameter(gradus.ones(2))
    for kind in (optim.SGD, optim.Adam, optim.AdamW, optim.Adagrad, optim.RMSprop, optim.Adadelta,
                 optim.Adamax, optim.NAdam, optim.RAdam):
        kind([x], lr=0.1, foreach=None, differentiable=False)
    optim.AdamW([x], lr=0.1, fused=True, capturable=True)
    with pytest.raises(NotImplementedError, match="AdamW: a step has no gradient"):
        optim.AdamW([x], lr=0.1, differentiable=True)
    with pytest.raises(TypeError, match="fuse "):
        optim.AdamW([x], lr=0.1, fuse=True)


def test_images_are_upsampled_as_in_pytorch():
    image = gradus.tensor([[[[1.0, 2], [3, 5]]]])
    assert F.upsample(image, 3).flatten().tolist() == [1, 1, 2, 1, 1, 2, 3, 3, 5]
    assert F.upsample(image, scale_factor=2, mode="bilinear").flatten().tolist() == [
        1, 1.25, 1.75, 2, 1.5, 1.8125, 2.4375, 2.75, 2.5, 2.9375, 3.8125, 4.25, 3, 3.5, 4.5, 5]
    assert F.upsample_bilinear(image, (3, 3)).flatten().tolist() == [1, 1.5, 2, 2, 2.75, 3.5, 3, 4, 5]
    assert F.upsample_nearest(image, scale_factor=2).flatten().tolist() == [1, 1, 2, 2] * 2 + [3, 3, 5, 5] * 2
