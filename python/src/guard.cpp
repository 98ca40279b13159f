// gradus.watch.NanGuard: the first NaN or infinity, with the line of the program of Python.
#include <gradus/watch/guard/nan_guard.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "bind.h"
#include "errors.h"
#include "objects.h"
#include "params.h"
#include "place.h"

namespace gradus::python {
namespace {

const char* phase_of(const NanReport& report) {
  constexpr const char* names[] = {"forward", "backward", "optimizer"};
  return names[static_cast<size_t>(report.phase)];
}

// Names the line of Python that called the operation, in the place of one of the interpreter's own.
// That is known while the call lasts: not in a backward pass, and not for work of a GPU.
void name_line(NanReport& report) {
  size_t at = std::string_view("NanGuard: ").size();
  if (!report.module.empty()) at += report.module.size() + 2;
  at += report.operation.size() + 2 + std::strlen(phase_of(report));
  if (!report.line.empty()) report.message.erase(at, report.line.size() + 2);
  report.line.clear();
  if (report.phase == NanReport::Phase::Backward || report.device.is_cuda()) return;
  if (const std::optional<ProgramPlace> place = program_place()) {
    report.line =
        place->file.substr(place->file.rfind('/') + 1) + ":" + std::to_string(place->line);
    report.message.insert(at, ", " + report.line);
  }
}

// A NanGuard that Python can end before its object goes.
class PythonNanGuard {
 public:
  explicit PythonNanGuard(nb::handle callback) {
    const Held held = callback.is_none() ? nullptr : hold_callback(callback);
    guard_ = std::make_unique<NanGuard>([this, held](NanReport report) {
      if (callbacks_have_ended()) return;
      const Acquired python;
      name_line(report);
      if (held) {
        nb::handle(held.get())(report);
      } else {
        if (guard_) guard_->reset();
        throw NanError(std::move(report));
      }
    });
  }
  ~PythonNanGuard() {
    const nb::error_scope kept;
    try {
      end();
    } catch (const std::exception& error) {
      if (PyErr_WarnEx(PyExc_UserWarning, error.what(), 1) != 0) PyErr_WriteUnraisable(nullptr);
    }
  }
  PythonNanGuard(const PythonNanGuard&) = delete;
  PythonNanGuard& operator=(const PythonNanGuard&) = delete;

  // Waits for the GPUs that were looked at. Errors: NanError; the guard has ended then.
  void end() {
    const Released other_threads_run;
    const std::unique_ptr<NanGuard> last = std::move(guard_);
    if (last) last->check();
  }
  NanGuard& guard() {
    check<Error>(guard_ != nullptr, "NanGuard: it has ended; make another one");
    return *guard_;
  }

 private:
  std::unique_ptr<NanGuard> guard_;
};

}  // namespace

void bind_guard(nb::module_& m) {
  nb::class_<NanReport>(m, "NanReport", "What a NanGuard found.")
      .def_ro("message", &NanReport::message, "All of the below, and the inputs, in a line.")
      .def_ro("module", &NanReport::module,
              "\"blocks.3.attn.proj (Linear)\"; empty outside of modules.")
      .def_ro("line", &NanReport::line,
              "The line of the program, \"train.py:41\"; empty where it is not known.")
      .def_ro("operation", &NanReport::operation, "\"matmul\"; \"matmul in AddmmBackward0\".")
      .def_prop_ro("phase", &phase_of, "The part of a step: forward, backward or optimizer.")
      .def_ro("device", &NanReport::device, "Where it was computed.")
      .def_ro("made", &NanReport::made,
              "Whether the operation made it. Otherwise a batch or a parameter has it.")
      .def_ro("nans", &NanReport::nans, "How many results are NaN.")
      .def_ro("infinities", &NanReport::infinities, "How many results are infinite.")
      .def_ro("numel", &NanReport::numel, "The number of results.")
      .def_prop_ro(
          "first", [](const NanReport& self) { return to_python(IntArrayRef(self.first)); },
          "The place of the first one, in the results or in the operand.");
  nb::class_<PythonNanGuard>(m, "_NanGuard")
      .def(nb::init<nb::handle>(), nb::arg("callback").none())
      .def("_end", &PythonNanGuard::end)
      .def(
          "check",
          [](PythonNanGuard& self) {
            NanGuard& guard = self.guard();
            const Released other_threads_run;
            guard.check();
          },
          "Waits for the GPUs that were looked at. Errors: NanError.")
      .def(
          "reset", [](PythonNanGuard& self) { self.guard().reset(); },
          "Looks for the next one, where the callback has told of one.");
}

}  // namespace gradus::python
