// The machine that reads a pickle: a stack, a memo, and the opcodes of a state dict.
#include "gradus/serialize/pickle.h"

#include <bit>
#include <cstdio>
#include <unordered_map>

#include "gradus/serialize/safetensors_header.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::serialize {
namespace {

constexpr std::string_view kSaveStateDict =
    "; save the state dict in Python: torch.save(model.state_dict(), FILE)";

// The dtype of torch.FloatStorage and its like.
const ScalarType* dtype_of_storage(std::string_view name) {
  static constexpr std::pair<std::string_view, ScalarType> kStorages[] = {
#define DTYPE(Name, ...) {"torch." #Name "Storage", k##Name},
#define COMPLEX(Name, ...) {"torch." #Name "Storage", k##Name},
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE
  };
  for (const auto& [known, dtype] : kStorages)
    if (known == name) return &dtype;
  return nullptr;
}

bool is_dtype(std::string_view name) {
  static constexpr std::string_view kDtypes[] = {
#define DTYPE(Name, type, short_name, ...) "torch." #short_name,
#define COMPLEX(Name, type, short_name, ...) "torch." #short_name,
#include "gradus/tensor/base/dtypes.def"
#undef DTYPE
  };
  return std::find(std::begin(kDtypes), std::end(kDtypes), name) != std::end(kDtypes);
}

bool is_function(std::string_view name) {
  static constexpr std::string_view kFunctions[] = {
      "collections.OrderedDict", "torch.Size", "torch.device", "torch._utils._rebuild_tensor_v2",
      "torch._utils._rebuild_parameter"};
  return std::find(std::begin(kFunctions), std::end(kFunctions), name) != std::end(kFunctions);
}

// The number of elements of a storage that the geometry reaches over, or -1 where an int64 does not
// count them.
int64_t reach(const Dims& sizes, const Dims& strides, int64_t offset) {
  int64_t last = offset, product = 1;
  bool empty = false, overflow = false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    int64_t step = 0;
    empty |= sizes[d] == 0;
    overflow |= __builtin_mul_overflow(product, std::max<int64_t>(sizes[d], 1), &product) ||
                __builtin_mul_overflow(std::max<int64_t>(sizes[d] - 1, 0), strides[d], &step) ||
                __builtin_add_overflow(last, step, &last);
  }
  if (overflow || last == INT64_MAX) return -1;
  return empty ? offset : last + 1;
}

class PickleMachine {
 public:
  PickleMachine(ArrayRef<uint8_t> bytes, std::string_view name, const LoadStorage& load)
      : bytes_(bytes), name_(name), load_(load) {}

  Pickle run() {
    while (step(static_cast<uint8_t>(number(1)))) {
    }
    return std::move(out_);
  }

 private:
  template <class E = ValueError, class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail<E>(name_, ": the pickle has ", parts...);
  }
  [[noreturn]] void refuse_damaged(std::string_view what) const {
    refuse(what, " before byte ", at_, "; the file is damaged, copy it again");
  }

  ArrayRef<uint8_t> take(uint64_t count) {
    if (count > bytes_.size() - at_) refuse_damaged("an end too early");
    at_ += count;
    return {bytes_.data() + at_ - count, static_cast<size_t>(count)};
  }
  uint64_t number(size_t count) {
    uint64_t value = 0;
    const auto bytes = take(count);
    for (size_t i = count; i-- > 0;) value = value << 8 | bytes[i];
    return value;
  }
  std::string text(uint64_t count) {
    const auto bytes = take(count);
    return {bytes.begin(), bytes.end()};
  }
  std::string line() {
    std::string out;
    for (uint64_t c = number(1); c != '\n'; c = number(1)) out += static_cast<char>(c);
    return out;
  }

  template <class T>
  void push(T value) {
    out_.values.push_back({std::move(value)});
    stack_.push_back(&out_.values.back());
  }
  PickleValue* pop() {
    if (stack_.size() <= (marks_.empty() ? 0 : marks_.back())) refuse_damaged("a missing value");
    PickleValue* const value = stack_.back();
    stack_.pop_back();
    return value;
  }
  // The value that an opcode changes, which stays on the stack.
  template <class T>
  T& top() {
    PickleValue* const value = pop();
    stack_.push_back(value);
    return as<T>(value);
  }
  std::vector<PickleValue*> pop_to_mark() {
    if (marks_.empty()) refuse_damaged("a missing mark");
    const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
    std::vector<PickleValue*> out(begin, stack_.end());
    stack_.erase(begin, stack_.end());
    marks_.pop_back();
    return out;
  }
  std::vector<PickleValue*> pop_last(size_t count) {
    std::vector<PickleValue*> out(count);
    for (size_t i = count; i-- > 0;) out[i] = pop();
    return out;
  }
  template <class T>
  T& as(PickleValue* value) {
    T* const out = std::get_if<T>(&value->is);
    if (out == nullptr) refuse_damaged("a value of another kind than its place wants");
    return *out;
  }

  void push_global() {
    const std::string module = line(), name = module + '.' + line();
    if (is_dtype(name)) return push(name);
    if (!is_function(name) && dtype_of_storage(name) == nullptr)
      refuse<NotImplementedError>(
          printable(name), " before byte ", at_,
          ", and only what a state dict of gradus' dtypes names is read: nothing of a file is run",
          kSaveStateDict);
    push(PickleGlobal{name});
  }

  // Little-endian, in two's complement. Seeds are unsigned numbers of 64 bits.
  void push_long(uint64_t count) {
    const auto bytes = take(count);
    if (count > 8) {
      if (count > 9 || bytes[8] != 0)
        refuse<NotImplementedError>("a number beyond 64 bits before byte ", at_,
                                    "; save it as a text");
      at_ -= count;
      const uint64_t value = number(8);
      at_ += 1;
      return push(std::to_string(value));
    }
    uint64_t value = count > 0 && bytes[count - 1] >= 0x80 ? ~uint64_t{0} : 0;
    for (uint64_t i = count; i-- > 0;) value = value << 8 | bytes[i];
    push(static_cast<int64_t>(value));
  }

  void set_items(PickleDict& dict, const std::vector<PickleValue*>& items) {
    if (items.size() % 2 != 0) refuse_damaged("a key without a value");
    for (size_t i = 0; i < items.size(); i += 2) dict.items.emplace_back(items[i], items[i + 1]);
  }

  // ('storage', torch.FloatStorage, key, device, number of elements)
  void push_storage() {
    const auto& id = as<PickleList>(pop()).items;
    if (id.size() != 5) refuse_damaged("a storage that is not described by five values");
    const ScalarType* const dtype = dtype_of_storage(as<PickleGlobal>(id[1]).name);
    const auto& key = as<std::string>(id[2]);
    const int64_t numel = as<int64_t>(id[4]);
    if (as<std::string>(id[0]) != "storage" || dtype == nullptr || numel < 0)
      refuse_damaged("no storage where one belongs");
    const auto found = storages_.find(key);
    if (found == storages_.end()) {
      push(PickleStorage{load_(key, *dtype, numel)});
      storages_.emplace(key, stack_.back());
      return;
    }
    const Tensor& elements = std::get<PickleStorage>(found->second->is).elements;
    if (elements.dtype() != *dtype || elements.numel() != numel)
      refuse_damaged("one storage with two dtypes or lengths");
    stack_.push_back(found->second);
  }

  Dims dims(PickleValue* value) {
    Dims out;
    const auto& items = as<PickleList>(value).items;
    if (items.size() > size_t{kMaxDims})
      refuse<NotImplementedError>("a tensor of ", items.size(), " dimensions, and gradus has ",
                                  kMaxDims, "; reshape it before it is saved");
    for (PickleValue* const item : items) {
      out.push_back(as<int64_t>(item));
      if (out.back() < 0) refuse_damaged("a negative size or stride");
    }
    return out;
  }

  // (storage, offset, sizes, strides, requires_grad, hooks, flags such as conj)
  void push_tensor(const std::vector<PickleValue*>& args) {
    if (args.size() < 6 || args.size() > 7) refuse_damaged("a tensor of other than six values");
    if (args.size() == 7 && !as<PickleDict>(args[6]).items.empty())
      refuse<NotImplementedError>("a conjugate or negative view before byte ", at_,
                                  "; save x.resolve_conj().resolve_neg() in its place");
    const Tensor& elements = as<PickleStorage>(args[0]).elements;
    const int64_t offset = as<int64_t>(args[1]);
    const Dims sizes = dims(args[2]), strides = dims(args[3]);
    if (sizes.size() != strides.size()) refuse_damaged("a tensor with too few strides");
    const int64_t end = offset < 0 ? -1 : reach(sizes, strides, offset);
    if (end < 0 || end > elements.numel()) refuse_damaged("a tensor beyond its storage");
    push(raw::alias(raw::as_strided(elements, sizes, strides, offset)));  // no view to autograd
  }

  void call() {
    const std::vector<PickleValue*> args = as<PickleList>(pop()).items;
    const std::string& name = as<PickleGlobal>(pop()).name;
    if (name == "torch._utils._rebuild_tensor_v2") return push_tensor(args);
    if (name == "torch._utils._rebuild_parameter" && args.size() == 3)
      return push(Tensor(as<Tensor>(args[0])));
    if (name == "torch.Size" && args.size() == 1) return push(PickleList(as<PickleList>(args[0])));
    if (name == "torch.device" && args.size() == 1) return push(as<std::string>(args[0]));
    if (name == "torch.device" && args.size() == 2)
      return push(as<std::string>(args[0]) + ':' + std::to_string(as<int64_t>(args[1])));
    if (name == "collections.OrderedDict" && args.empty()) return push(PickleDict());
    refuse<NotImplementedError>("a call of ", name, " with ", args.size(), " values before byte ",
                                at_, kSaveStateDict);
  }

  void recall(uint64_t index) {
    const auto found = memo_.find(index);
    if (found == memo_.end()) refuse_damaged("a value that was never kept");
    stack_.push_back(found->second);
  }
  void keep(uint64_t index) {
    PickleValue* const value = pop();
    stack_.push_back(value);
    memo_[index] = value;
  }

  // Runs an opcode. False: it was the last one.
  bool step(uint8_t opcode) {
    switch (opcode) {
      case 0x80:  // PROTO
        if (const uint64_t protocol = number(1); protocol > 3)
          refuse<NotImplementedError>("protocol ", protocol,
                                      ", expected 2; leave out pickle_protocol in torch.save");
        break;
      case '(':
        marks_.push_back(stack_.size());
        break;  // MARK
      case 'c':
        push_global();
        break;
      case 'q':
        keep(number(1));
        break;
      case 'r':
        keep(number(4));
        break;
      case 'h':
        recall(number(1));
        break;
      case 'j':
        recall(number(4));
        break;
      case 'N':
        push(std::monostate());
        break;
      case 0x88:
        push(true);
        break;
      case 0x89:
        push(false);
        break;
      case 'K':
        push(static_cast<int64_t>(number(1)));
        break;
      case 'M':
        push(static_cast<int64_t>(number(2)));
        break;
      case 'J':
        push(int64_t{static_cast<int32_t>(number(4))});
        break;
      case 0x8a:
        push_long(number(1));
        break;
      case 'G': {  // BINFLOAT, the only number in big-endian order
        uint64_t bits = number(8);
        push(std::bit_cast<double>(__builtin_bswap64(bits)));
        break;
      }
      case 'X':
        push(text(number(4)));
        break;
      case ')':
        push(PickleList());
        break;
      case ']':
        push(PickleList());
        break;
      case '}':
        push(PickleDict());
        break;
      case 't':
        push(PickleList{pop_to_mark()});
        break;
      case 0x85:
        push(PickleList{pop_last(1)});
        break;
      case 0x86:
        push(PickleList{pop_last(2)});
        break;
      case 0x87:
        push(PickleList{pop_last(3)});
        break;
      case 'a': {
        PickleValue* const item = pop();
        top<PickleList>().items.push_back(item);
        break;
      }
      case 'e': {
        const auto items = pop_to_mark();
        auto& list = top<PickleList>().items;
        list.insert(list.end(), items.begin(), items.end());
        break;
      }
      case 's': {
        const auto items = pop_last(2);
        set_items(top<PickleDict>(), items);
        break;
      }
      case 'u': {
        const auto items = pop_to_mark();
        set_items(top<PickleDict>(), items);
        break;
      }
      case 'b':  // BUILD: attributes of a dict, such as the versions of its modules
        as<PickleDict>(pop());
        top<PickleDict>();
        break;
      case 'Q':
        push_storage();
        break;
      case 'R':
        call();
        break;
      case '.':
        out_.root = pop();
        if (!stack_.empty() || !marks_.empty() || at_ != bytes_.size())
          refuse_damaged("more than one value");
        return false;
      default: {
        char code[8];
        std::snprintf(code, sizeof code, "0x%02x", opcode);
        refuse<NotImplementedError>("the opcode ", code, " at byte ", at_ - 1,
                                    ", which no state dict has", kSaveStateDict);
      }
    }
    return true;
  }

  ArrayRef<uint8_t> bytes_;
  std::string_view name_;
  const LoadStorage& load_;
  uint64_t at_ = 0;
  Pickle out_;
  std::vector<PickleValue*> stack_;
  std::vector<size_t> marks_;  // lengths of the stack
  std::unordered_map<uint64_t, PickleValue*> memo_;
  std::unordered_map<std::string, PickleValue*> storages_;
};

}  // namespace

Pickle parse_pickle(ArrayRef<uint8_t> bytes, std::string_view name, const LoadStorage& load) {
  return PickleMachine(bytes, name, load).run();
}

}  // namespace gradus::serialize
