"""What classes of Python change of a module's state, and names of what is registered: as PyTorch has it."""

import copy
import pickle

import pytest

import gradus
from gradus import nn

torch = pytest.importorskip("torch")


def both(program):
    """What a program of one library gives; it is the same with PyTorch."""
    ours, theirs = program(gradus), program(torch)
    assert ours == theirs
    return ours


def numbers(state):
    """The state as plain values."""
    return {name: value.tolist() if hasattr(value, "tolist") else value for name, value in state.items()}


def with_weights(lib, below):
    """A model that holds a module, with known weights."""
    model = lib.nn.Sequential(lib.nn.Linear(1, 1), lib.nn.Sequential(below, lib.nn.BatchNorm1d(1)))
    for p in model.parameters():
        p.data.fill_(2.0)
    return model


def scaled(lib):
    class Scaled(lib.nn.Linear):
        _version = 3

        def _save_to_state_dict(self, destination, prefix, keep_vars):
            super()._save_to_state_dict(destination, prefix, keep_vars)
            destination[prefix + "halves"] = destination.pop(prefix + "weight") * 2

        def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
            self.version = local_metadata.get("version")
            state_dict[prefix + "weight"] = state_dict.pop(prefix + "halves") / 2
            super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    return Scaled(1, 1)


def test_a_submodule_saves_and_loads_its_part():
    def program(lib):
        model, other = with_weights(lib, scaled(lib)), lib.nn.Sequential(lib.nn.Linear(1, 1), lib.nn.Sequential(
            scaled(lib), lib.nn.BatchNorm1d(1)))
        state = model.state_dict()
        keys = other.load_state_dict(state)
        return list(state), numbers(state), str(keys), numbers(other.state_dict()), other[1][0].version, \
            {name: dict(each) for name, each in state._metadata.items() if "." in name and name != "1.1"}

    names, state, *_ = both(program)
    assert names[2:4] == ["1.0.bias", "1.0.halves"] and state["1.0.halves"] == [[4.0]]


def test_a_submodule_has_a_state_dict_of_its_own():
    def program(lib):
        class Frozen(lib.nn.Linear):
            def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
                if destination is None:
                    destination = {}
                destination[prefix + "bias"] = self.bias.detach()
                return destination

        model = with_weights(lib, Frozen(1, 1))
        keys = model.load_state_dict(model.state_dict(), strict=False)
        return list(model.state_dict()), list(Frozen(1, 1).state_dict(prefix="a.")), keys.missing_keys

    assert both(program)[2] == ["1.0.weight"]


def test_an_object_may_have_a_state_dict_of_its_own():
    def program(lib):
        model = with_weights(lib, lib.nn.Linear(1, 1))
        model[1][0].state_dict = lambda destination, prefix, keep_vars: destination.update({prefix + "only": 1})
        return numbers(model.state_dict())

    assert both(program)["1.0.only"] == 1


def counted(lib):
    class Counted(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.count = 7
            self.register_buffer("unset", None)
            self.register_buffer("hidden", lib.ones(1), persistent=False)

        def get_extra_state(self):
            return {"count": self.count}

        def set_extra_state(self, state):
            self.count = state["count"]

    return Counted()


def test_state_that_is_no_tensor(tmp_path):
    def program(lib):
        model, other = with_weights(lib, counted(lib)), with_weights(lib, counted(lib))
        model[1][0].count = 9
        state = model.state_dict()
        lib.save(state, tmp_path / "state")
        other.load_state_dict(lib.load(tmp_path / "state"), assign=True)
        missing = lib.nn.Sequential(counted(lib), lib.nn.Linear(1, 1)).load_state_dict({}, strict=False).missing_keys
        unknown = with_weights(lib, lib.nn.ReLU()).load_state_dict(state, strict=False).unexpected_keys
        return list(state), state["1.0._extra_state"], other[1][0].count, missing, unknown

    assert both(program)[1:3] == ({"count": 9}, 9)
    with pytest.raises(NotImplementedError, match="define it in the class"):
        nn.Linear(1, 1).get_extra_state()


def test_hooks_of_submodules_are_called():
    def program(lib):
        seen, model = [], with_weights(lib, lib.nn.Linear(1, 1))
        below = model[1][0]
        handles = [
            below.register_state_dict_pre_hook(lambda module, prefix, keep: seen.append(("pre", module is below, prefix, keep))),
            below.register_state_dict_post_hook(lambda module, state, prefix, metadata: state.pop(prefix + "bias") and None),
            below._register_state_dict_hook(lambda module, state, prefix, metadata: state.update({prefix + "more": metadata})),
            below._register_load_state_dict_pre_hook(lambda state, prefix, *rest: state.pop(prefix + "more") and None),
            below.register_load_state_dict_pre_hook(
                lambda module, state, prefix, *rest: state.setdefault(prefix + "bias", lib.full((1,), 5.0)) is None),
            below.register_load_state_dict_post_hook(lambda module, keys: seen.append(("post", keys.missing_keys))),
            model.register_load_state_dict_post_hook(lambda module, keys: seen.append("last")),
            model._register_state_dict_hook(lambda module, state, prefix, metadata: {**state, "whole": 1}),
        ]
        state = model.state_dict()
        assert state.pop("whole") == 1
        model.load_state_dict(state)
        bias = below.bias.tolist()
        for handle in handles:
            handle.remove()
        return numbers(state), bias, seen, list(model.state_dict())

    state, bias, seen, after = both(program)
    assert bias == [5.0] and "1.0.bias" not in state and "1.0.bias" in after
    assert seen == [("pre", True, "1.0.", False), ("post", []), "last"]


def test_hooks_may_forgive_what_is_missing_and_say_what_is_wrong():
    def program(lib):
        model = with_weights(lib, lib.nn.Linear(1, 1))
        handle = model[1][0].register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
        model.load_state_dict({name: x for name, x in model.state_dict().items() if name != "1.0.bias"})
        handle.remove()
        model[1].register_load_state_dict_pre_hook(lambda *args: args[-1].append("no luck"))
        with pytest.raises(RuntimeError, match="(?s)0.weight.*shape.*no luck"):
            model.load_state_dict({**model.state_dict(), "0.weight": lib.ones(2, 2)})
        with pytest.raises(RuntimeError, match="0.weight"):
            model.load_state_dict({})
        with pytest.raises(RuntimeError, match="what"):
            model.load_state_dict({**model.state_dict(), "1.0.what": lib.ones(1)})

    both(program)
    model = nn.Sequential(nn.Linear(1, 1))
    model[0].register_state_dict_post_hook(lambda *args: args[1])
    with pytest.raises(TypeError, match="expected None"):
        model.state_dict()


def test_prefix_destination_and_keep_vars_reach_the_submodules():
    def program(lib):
        model = with_weights(lib, scaled(lib))
        into = {"x": 1}
        assert model.state_dict(destination=into, prefix="m.", keep_vars=True) is into
        return [(name, getattr(value, "requires_grad", None)) for name, value in into.items()]

    assert ("m.1.0.bias", True) in both(program)


def test_the_state_says_its_versions():
    assert both(lambda lib: {name: each["version"] for name, each in lib.nn.Sequential(
        lib.nn.Linear(1, 1), lib.nn.Sequential(lib.nn.ReLU())).state_dict(prefix="a.")._metadata.items()})["a.0"] == 1


def test_a_module_of_two_names_has_its_state_under_both():
    def program(lib):
        class Shared(lib.nn.Module):
            def __init__(self):
                super().__init__()
                self.a = lib.nn.BatchNorm1d(1)
                self.a.register_buffer("hidden", lib.ones(1), persistent=False)
                self.b, self.c = lib.nn.Linear(1, 1), self.a

        model = Shared()
        return list(model.state_dict()), [name for name, _ in model.named_modules()], \
            [name for name, _ in model.named_modules(remove_duplicate=False)], \
            [name for name, _ in model.named_modules(prefix="p", memo={model.b})], len(list(model.modules())), \
            [name for name, _ in model.named_parameters()], \
            [name for name, _ in model.named_parameters("p", remove_duplicate=False)], \
            [name for name, _ in model.named_parameters(recurse=False, remove_duplicate=False)], \
            [name for name, _ in model.named_buffers()], \
            [name for name, _ in model.named_buffers("p", remove_duplicate=False)], len(list(model.buffers())), \
            len(list(model.modules(remove_duplicate=False)))

    both(program)


def test_a_recurrent_layer_computes_with_a_state_that_is_assigned():
    first, second = nn.LSTM(2, 3), nn.LSTM(2, 3)
    first.load_state_dict(second.state_dict(), assign=True)
    x = gradus.randn(4, 1, 2)
    assert first(x)[0].equal(second(x)[0])


class Unset(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_parameter("p", None)
        self.register_buffer("m", None)
        self.register_buffer("gone", gradus.ones(1))
        self.register_buffer("hidden", None, persistent=False)
        self.register_parameter("first", nn.Parameter(gradus.ones(1)))
        self.second = nn.Parameter(gradus.ones(1))
        self.gone = None
        self.register_buffer("deleted", gradus.ones(1))
        del self.deleted


class UnsetLinear(nn.Linear):
    def __init__(self):
        super().__init__(1, 1)
        self.register_parameter("p", None)
        self.register_buffer("m", None)
        self.register_buffer("gone", None)
        self.register_buffer("hidden", None, persistent=False)
        self.first = self.second = 0


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda x: pickle.loads(pickle.dumps(x)),
                                    lambda x: copy.deepcopy(copy.deepcopy(x))])
@pytest.mark.parametrize("made", [Unset, UnsetLinear])
def test_what_is_registered_as_none_is_copied(made, copied):
    again = copied(made())
    assert again.p is again.m is again.gone is again.hidden is None and not hasattr(again, "deleted")
    again.m, again.gone, again.hidden = gradus.ones(1), gradus.zeros(1), gradus.ones(2)
    again.p = nn.Parameter(gradus.ones(1))
    assert {"m", "gone", "p"} <= set(again.state_dict()) and "hidden" not in again.state_dict()
    assert {name for name, _ in again.named_buffers()} == {"m", "gone", "hidden"}


def test_a_copy_keeps_the_order_of_parameters():
    assert [name for name, _ in copy.deepcopy(Unset()).named_parameters()] == ["first", "second"]


def test_what_is_registered_is_not_hidden_by_an_attribute():
    def program(lib):
        model, out = lib.nn.Module(), []
        model.x, model.y = 3, lib.ones(1)
        for add, value in ((model.register_buffer, lib.ones(1)), (model.register_parameter, lib.nn.Parameter(lib.ones(1))),
                           (model.add_module, lib.nn.ReLU()), (model.register_module, lib.nn.ReLU())):
            for name in ("x", "y", "forward", "a.b", "", 3):
                with pytest.raises((ValueError, KeyError, TypeError)):
                    add(name, value)
            add("z", None)
            del model.z
            add("z", value)
            add("z", value)
            out.append(getattr(model, "z") is value)
            del model.z
        return out

    assert both(program) == [True] * 4


def test_a_parameter_that_was_none_is_seen_when_it_is_registered():
    model = nn.Module()
    model.p = nn.Parameter(gradus.ones(1))
    model.p = None
    model.register_parameter("p", nn.Parameter(gradus.zeros(1)))
    assert model.p.tolist() == [0]


def test_parts_by_name():
    def program(lib):
        model = with_weights(lib, lib.nn.Linear(1, 1))
        model[1][0].other, out = 3, []
        for find in (lambda: model.get_submodule("1.5"), lambda: model.get_submodule("1.0.other"),
                     lambda: model.get_parameter("1.0.other"), lambda: model.get_parameter("1.0.none"),
                     lambda: model.get_parameter("1.1.running_mean"), lambda: model.get_buffer("1.0.weight"),
                     lambda: model.set_submodule("5.1", lib.nn.ReLU()), lambda: model.set_submodule("1.5", lib.nn.ReLU(), strict=True),
                     lambda: model.set_submodule("1.0.other", lib.nn.ReLU())):
            with pytest.raises(AttributeError) as error:
                find()
            out.append(str(error.value).partition(";")[0])
        for name, module in (("", lib.nn.ReLU()), ("1", 3)):
            with pytest.raises(ValueError):
                model.set_submodule(name, module)
        model.set_submodule("1.0", lib.nn.ReLU(), strict=True)
        model.set_submodule("1.new", lib.nn.Tanh())
        return [text.replace("nn.Parameter", "parameter").replace("an parameter", "a parameter") for text in out], \
            [(name, type(each).__name__) for name, each in model.named_modules()], model.get_submodule("") is model

    both(program)


def test_apply_calls_a_part_of_two_names_once():
    def program(lib):
        seen, part = [], lib.nn.ReLU()
        lib.nn.Sequential(part, lib.nn.Tanh(), part).apply(lambda module: seen.append(type(module).__name__))
        return seen

    assert both(program) == ["ReLU", "Tanh", "Sequential"]


def test_to_empty_gives_memory():
    def program(lib):
        model = lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.BatchNorm1d(3)).to("meta")
        same = model.to_empty(device="cpu") is model
        lib.nn.init.ones_(model[0].weight)
        below = lib.nn.Sequential(lib.nn.Linear(2, 3)).to("meta").to_empty(device="cpu", recurse=False)
        return same, [(str(x.device), tuple(x.shape), str(x.dtype).split(".")[1]) for x in model.state_dict().values()], \
            model[0].weight.tolist(), [x.requires_grad for x in model.parameters()], str(below[0].weight.device)

    both(program)


@pytest.mark.parametrize("name", ["softmax", "log_softmax", "softmin"])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 2), (1, 2, 3, 2)])
def test_a_dimension_that_is_left_out_is_chosen_with_a_warning(name, shape):
    x = torch.randn(shape)
    ours, theirs = getattr(gradus.nn.functional, name), getattr(torch.nn.functional, name)
    with pytest.warns(UserWarning, match="dim=") as warned:
        found = ours(gradus.tensor(x.tolist()))
    assert warned[0].filename == __file__
    with pytest.warns(UserWarning):
        assert torch.tensor(found.tolist()).allclose(theirs(x))
    for options in ({"dim": -1}, {"dim": 0, "dtype": "float64"}):
        kinds = [{**options, "dtype": getattr(lib, options["dtype"])} if "dtype" in options else options for lib in (gradus, torch)]
        found, expected = ours(gradus.tensor(x.tolist()), **kinds[0]), theirs(x, **kinds[1])
        assert str(found.dtype)[7:] == str(expected.dtype)[6:]
        assert torch.tensor(found.tolist(), dtype=expected.dtype).allclose(expected)
