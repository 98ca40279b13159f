// What modules register in C++ for Python: parameters, buffers and submodules by name.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <typeinfo>

#include "gradus/nn/module.h"

namespace gradus::python {

namespace nb = nanobind;

// The class gradus.nn.Parameter, which its module holds.
extern PyObject* parameter_class;
bool is_parameter(nb::handle object);
// The class gradus.nn.Buffer.
extern PyObject* buffer_class;

bool has_parameter(nn::Module& module, const std::string& name);
bool has_buffer(nn::Module& module, const std::string& name);
// value: a tensor or None. A module of C++ computes with it from here on.
void register_parameter(nn::Module& module, const std::string& name, nb::handle value);
void register_buffer(nn::Module& module, const std::string& name, nb::handle value);
// Puts a tensor in the place of a parameter or buffer, and returns that. Errors: ValueError where
// there is none of this name.
Tensor exchange(nn::Module& module, const std::string& name, const Tensor& tensor);
// A module that owns its Python object, for one module above it. The garbage collector sees the
// object there as long as that module has the handles that it took while this one lived.
// REQUIRES: an object of Module.
struct OwnedModule {
  explicit OwnedModule(nb::handle module);
  ~OwnedModule();
  OwnedModule(const OwnedModule&) = delete;
  OwnedModule& operator=(const OwnedModule&) = delete;
  const std::shared_ptr<nn::Module> handle;
};
// Errors, of both: NotImplementedError for a part of a module of C++, which keeps its own.
void register_child(nn::Module& module, const std::string& name, nb::handle child);
void unregister_child(nn::Module& module, const std::string& name);
// Whether `other` is the module or one below it.
bool holds(const nn::Module& module, const nn::Module& other);

// The submodules of the module itself.
nb::list children_of(const nn::Module& module);
// What is registered in the module itself under that name; nothing where there is none.
std::optional<nb::object> registered(nn::Module& module, const std::string& name);
// (name, parameter) of the module and, where asked, of those below, each tensor once.
nb::list named_parameters(nn::Module& module, const std::string& prefix, bool recurse);

// Modules of C++ have their tensors as members, too, which this finds by name.
using MemberOf = Tensor* (*)(nn::Module& module, std::string_view name);
void note_members(const std::type_info& type, MemberOf member_of);

// The slots of every class of modules: what the garbage collector sees of them.
extern PyType_Slot module_slots[];
// The same, and what a call of a module does.
std::array<PyType_Slot, 4> slots_called_by(ternaryfunc call);

}  // namespace gradus::python
