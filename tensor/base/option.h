// Options of modules and optimizers, set by name: LinearOptions(3, 4).bias(false).
#pragma once

// A member of an options struct, or of a base that it derives from as Base<Options>, with its
// setter, which returns the struct, and its getter.
#define GRADUS_OPTION(Options, type, name)     \
  Options& name(const type& value) {           \
    this->name##_ = value;                     \
    return static_cast<Options&>(*this);       \
  }                                            \
  const type& name() const { return name##_; } \
  type name##_
