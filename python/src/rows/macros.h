// The rows of functions.def as functions of Python: a source that includes their files includes
// this.
#pragma once

#include "rows/rows.h"

// REQUIRES: `scopes`, where the rows go, is in reach.
#define METHOD(...) GRADUS_PYTHON_ROW(method, __VA_ARGS__)
#define FUNCTION(...) GRADUS_PYTHON_ROW(method_out, __VA_ARGS__)
#define IN_PLACE(result, name, params, args, dtypes, grad, doc)                          \
  GRADUS_PYTHON_ROW(method_out, result, name, params, args, dtypes, grad, doc)           \
  add_in_place(                                                                          \
      scopes, #name "_",                                                                 \
      +[](const Tensor& self GRADUS_AND params) -> Tensor { return self.name##_ args; }, \
      [] params { return Defaults::of args; }, #args, doc);
#define UPDATE(...) IN_PLACE(__VA_ARGS__)
#define PAIR(...) GRADUS_PYTHON_ROW(method_out, __VA_ARGS__)
#define FREE(...) GRADUS_PYTHON_FREE(free, __VA_ARGS__)
#define FREE_OUT(...) GRADUS_PYTHON_FREE(free_out, __VA_ARGS__)
#define FACTORY(name, params, args, dtypes, doc)                         \
  add_factory(                                                           \
      scopes, #name, +[] params -> Tensor { return gradus::name args; }, \
      [] params { return Defaults::of args; }, #args, doc);
#define GRADUS_PYTHON_ROW(form, result, name, params, args, dtypes, grad, doc) \
  add_row<Form::form>(                                                         \
      scopes, #name,                                                           \
      +[](const Tensor& self GRADUS_AND params) -> result {                    \
        return gradus::name(self GRADUS_AND args);                             \
      },                                                                       \
      [] params { return Defaults::of args; }, #args, doc);
#define GRADUS_PYTHON_FREE(form, result, name, params, args, dtypes, grad, doc) \
  add_row<Form::form>(                                                          \
      scopes, #name, +[] params -> result { return gradus::name args; },        \
      [] params { return Defaults::of args; }, #args, doc);
