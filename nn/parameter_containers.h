// ParameterList and ParameterDict: parameters by place and by name.
#pragma once

#include <iterator>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/nn/cloneable.h"

namespace gradus::nn {

namespace detail {

// The common part of both containers. A parameter requires grad where the given tensor does.
template <class Derived>
class ParameterContainer : public Cloneable<Derived> {
 public:
  using Dict = OrderedDict<std::string, Tensor>;

  explicit ParameterContainer(std::string name) : Cloneable<Derived>(std::move(name)) {}

  // The parameters are given, and not made by it.
  void reset() override {}
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override {
    const NoGradGuard guard;
    auto copy = std::make_shared<Derived>();
    copy->train(this->is_training());
    copy->copy_hooks(*this);
    for (const auto& item : *this) {
      const Tensor& tensor = item.value();
      const bool exists = tensor.defined();
      copy->register_parameter(item.key(), exists ? Module::copied(tensor, device) : tensor,
                               exists && tensor.requires_grad());
    }
    return copy;
  }
  void pretty_print(std::ostream& stream) const override {
    stream << class_name(typeid(Derived)) << "(\n";
    for (const auto& item : *this) {
      stream << '(' << item.key() << "): Parameter containing: [";
      if (item.value().defined())
        stream << item.value().scalar_type() << " of size " << item.value().sizes() << "]\n";
      else
        stream << "Undefined]\n";
    }
    stream << ')';
  }

  // Iterates over items with key() and value(); a value is the parameter itself.
  class Iterator {
   public:
    using Item = Dict::Item;
    using value_type = Item;
    using reference = Item;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::input_iterator_tag;
    struct pointer {
      Item item;
      Item* operator->() { return &item; }
    };

    explicit Iterator(OrderedDict<std::string, std::shared_ptr<Tensor>>::Item const* at)
        : at_(at) {}
    Item operator*() const { return {at_->key(), *at_->value()}; }
    pointer operator->() const { return {**this}; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    bool operator==(const Iterator&) const = default;

   private:
    const OrderedDict<std::string, std::shared_ptr<Tensor>>::Item* at_;
  };
  Iterator begin() const { return Iterator(this->parameters_.items().data()); }
  Iterator end() const { return Iterator(this->parameters_.items().data() + size()); }
  size_t size() const noexcept { return this->parameters_.size(); }

 protected:
  Tensor& add(const std::string& key, const Tensor& tensor) {
    return this->register_parameter(key, tensor, tensor.defined() && tensor.requires_grad());
  }
};

}  // namespace detail

// Named "0", "1", ...
class ParameterListImpl : public detail::ParameterContainer<ParameterListImpl> {
 public:
  ParameterListImpl() : ParameterContainer("ParameterList") {}
  template <class... Tensors>
  requires(sizeof...(Tensors) > 0 && (std::is_convertible_v<Tensors, Tensor> &&
                                      ...)) explicit ParameterListImpl(const Tensors&... parameters)
      : ParameterListImpl() {
    (append(parameters), ...);
  }

  void append(const Tensor& parameter) { add(std::to_string(size()), parameter); }
  void append(const Dict::Item& item) { append(item.value()); }
  // The tensors of another list, or of a container.
  template <class Container>
  void extend(const Container& container) {
    const std::vector items(container.begin(), container.end());  // it may be this one
    for (const auto& parameter : items) append(parameter);
  }
  ParameterListImpl& operator+=(const ParameterListImpl& other) {
    extend(other);
    return *this;
  }
  // Errors: IndexError out of range.
  Tensor& at(size_t index) const {
    check<IndexError>(index < size(), "ParameterList: Index out of range: ", index, " of ", size(),
                      " parameters; count from 0");
    return *parameters_[index].value();
  }
  Tensor& operator[](size_t index) const { return at(index); }
  bool is_empty() const noexcept { return size() == 0; }
};
GRADUS_MODULE(ParameterList);

// Keeps the order in which the names were added.
class ParameterDictImpl : public detail::ParameterContainer<ParameterDictImpl> {
 public:
  ParameterDictImpl() : ParameterContainer("ParameterDict") {}
  explicit ParameterDictImpl(const Dict& parameters) : ParameterDictImpl() {
    for (const auto& item : parameters) insert(item.key(), item.value());
  }

  // Errors: ValueError where the name is there already.
  Tensor& insert(const std::string& key, const Tensor& parameter) { return add(key, parameter); }
  // Puts the tensors of another ParameterDict, or of a container of pairs, in the places of those
  // of the same names. Errors: ValueError for another name.
  template <class Container>
  void update(const Container& container) {
    if constexpr (requires { container.begin()->key(); })
      for (const auto& item : container) get(item.key()) = item.value();
    else
      for (const auto& [key, parameter] : container) get(key) = parameter;
  }
  // Takes the parameter out.
  Tensor pop(const std::string& key) {
    const Tensor out = get(key);
    parameters_.erase(key);
    return out;
  }
  void clear() { parameters_.clear(); }

  bool contains(const std::string& key) const noexcept { return parameters_.contains(key); }
  std::vector<std::string> keys() const { return parameters_.keys(); }
  Tensors values() const { return parameters(false); }
  bool empty() const noexcept { return size() == 0; }
  // Errors, as pop()'s: ValueError where there is none of this name.
  Tensor& get(const std::string& key) const { return *parameters_[key]; }
  Tensor& operator[](const std::string& key) const { return get(key); }
};
GRADUS_MODULE(ParameterDict);

}  // namespace gradus::nn
