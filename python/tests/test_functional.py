"""Functions whose arguments PyTorch's Python takes in more forms than its C++."""

import copy

import pytest

import gradus
from gradus import nn
from gradus.nn import functional as F


@pytest.mark.parametrize("dims", [1, 2, 3])
@pytest.mark.parametrize("home", [F, gradus])
def test_a_padding_of_a_convolution_is_a_number_or_a_name(dims, home):
    conv = getattr(home, f"conv{dims}d")
    x, weight, bias = gradus.rand(2, 2, *[5] * dims), gradus.rand(4, 1, *[3] * dims), gradus.rand(4)
    for same, number in ((conv(x, weight, padding="same", groups=2), conv(x, weight, padding=1, groups=2)),
                         (conv(x, weight, bias, padding="same", groups=2), conv(x, weight, bias, 1, 1, 1, 2)),
                         (conv(x, weight, padding="valid", groups=2), conv(x, weight, groups=2)),
                         (conv(x, weight, stride=2, padding="valid", groups=2), conv(x, weight, None, 2, 0, 1, 2)),
                         (conv(x, weight, None, 1, "same", 2, 2), conv(x, weight, padding=2, dilation=2, groups=2))):
        assert gradus.equal(same, number)
    with pytest.raises(ValueError, match="same"):
        conv(x, weight, stride=2, padding="same", groups=2)
    with pytest.raises(ValueError, match="valid"):
        conv(x, weight, padding="other", groups=2)


@pytest.mark.parametrize("kind", [list, tuple, gradus.tensor])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_lengths_of_sequences_are_tensors_or_lists(kind, reduction):
    log_probs = gradus.rand(4, 2, 3).log_softmax(2).requires_grad_()
    targets = gradus.tensor([[1, 2], [1, 1]])
    expected = F.ctc_loss(log_probs, targets, gradus.tensor([4, 3]), gradus.tensor([2, 1]), 0, reduction)
    given = kind([4, 3]), kind([2, 1])
    loss = nn.CTCLoss(reduction=reduction)
    for found in (F.ctc_loss(log_probs, targets, *given, reduction=reduction), loss(log_probs, targets, *given),
                  copy.deepcopy(loss)(log_probs, targets, input_lengths=given[0], target_lengths=given[1])):
        assert gradus.equal(found, expected) and found.requires_grad
    assert repr(loss) == "CTCLoss()"


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_heads_of_a_query_may_share_those_of_keys(heads):
    query, key, value = gradus.rand(2, 4, 3, 8), gradus.rand(2, heads, 5, 8), gradus.rand(2, heads, 5, 6)
    found = F.scaled_dot_product_attention(query, key, value, enable_gqa=True, scale=0.3)
    for head in range(4):
        shared = slice(head * heads // 4, head * heads // 4 + 1)
        expected = F.scaled_dot_product_attention(query[:, head:head + 1], key[:, shared], value[:, shared], scale=0.3)
        assert gradus.allclose(found[:, head:head + 1], expected, atol=1e-6)


def test_special_functions_have_a_module():
    x = gradus.rand(3) + 0.1
    for name in gradus.special.__all__:
        assert callable(getattr(gradus.special, name))
    assert gradus.equal(gradus.special.expit(x), x.sigmoid()) and gradus.equal(gradus.special.psi(x), x.digamma())
    assert gradus.equal(gradus.special.gammaln(x), x.lgamma())
    assert gradus.equal(gradus.special.gammainc(x, x), gradus.igamma(x, x))
    assert gradus.equal(gradus.special.log_softmax(x, dim=0), x.log_softmax(0))
