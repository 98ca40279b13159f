// gradus.sim: what the simulator of CUDA devices found, and what it counted.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <sstream>

#include "bind.h"
#ifdef GRADUS_SIMULATED
#include <gradus/cuda/sim/simulator.h>
#endif

namespace gradus::python {

#ifdef GRADUS_SIMULATED
namespace {

namespace sim = cuda::sim;

nb::tuple triple(const sim::Index3& i) { return nb::make_tuple(i.x, i.y, i.z); }

template <class T>
std::string text_of(const T& value) {
  std::ostringstream out;
  out << value;
  std::string text = out.str();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

// The innermost place of a side, or of the first one.
const sim::Frame* frame_of(const sim::Side& side) {
  return side.frames.empty() ? nullptr : &side.frames[0];
}
const sim::Frame* frame_of(const sim::Finding& finding) {
  return finding.sides.empty() ? nullptr : frame_of(finding.sides[0]);
}
const sim::Frame* frame_of(const sim::LineCounts& line) {
  return line.frames.empty() ? nullptr : &line.frames[0];
}
// The properties `file` and `line`.
template <class T, class C>
void add_place(C& c) {
  c.def_prop_ro(
      "file",
      [](const T& self) {
        const sim::Frame* frame = frame_of(self);
        return frame ? frame->file : std::string();
      },
      "The file of the innermost place; empty where it is not known.");
  c.def_prop_ro(
      "line",
      [](const T& self) {
        const sim::Frame* frame = frame_of(self);
        return frame ? frame->line : 0;
      },
      "The line of the innermost place; 0 where it is not known.");
}

}  // namespace
#endif

void bind_sim([[maybe_unused]] nb::module_& m) {
#ifdef GRADUS_SIMULATED
  nb::class_<sim::Frame>(m, "Frame", "A place in source text.")
      .def_ro("function", &sim::Frame::function, "The name of the function.")
      .def_ro("file", &sim::Frame::file, "The name of the file.")
      .def_ro("line", &sim::Frame::line, "The line, from 1 on; 0 where it is not known.");
  nb::class_<sim::Side> side(m, "Side", "One side of a finding: which thread did what, and where.");
  side.def_ro("what", &sim::Side::what, "What was done: \"reads 4 bytes\".")
      .def_ro("frames", &sim::Side::frames, "The places, the innermost first and the kernel last.")
      .def_ro("by_thread", &sim::Side::by_thread, "Whether a thread of a kernel did it.")
      .def_prop_ro(
          "block", [](const sim::Side& self) { return triple(self.block); },
          "Of the thread: (x, y, z).")
      .def_prop_ro(
          "thread", [](const sim::Side& self) { return triple(self.thread); },
          "(x, y, z) within the block.");
  add_place<sim::Side>(side);
  nb::class_<sim::Finding> finding(m, "Finding", "A mistake of a kernel, or advice.");
  finding
      .def_prop_ro(
          "kind", [](const sim::Finding& self) { return sim::name_of(self.kind); },
          "What is wrong: \"race\", \"out of bounds\", and so on.")
      .def_ro("kernel", &sim::Finding::kernel, "The name of the kernel.")
      .def_ro("message", &sim::Finding::message, "One line: what is wrong, and a fix.")
      .def_ro("sides", &sim::Finding::sides,
              "Two for a race, otherwise at most one that is to blame.")
      .def_ro("times", &sim::Finding::times, "How often it was seen at this place in one launch.")
      .def("__repr__", &text_of<sim::Finding>);
  add_place<sim::Finding>(finding);

  nb::class_<sim::Counts> counts(m, "Counts", "How a kernel, or one line of it, used memory.");
#define COUNT(name, doc) counts.def_ro(#name, &sim::Counts::name, doc);
  COUNT(global_loads, "Loads of threads from global memory.")
  COUNT(global_stores, "Stores of threads to global memory.")
  COUNT(global_load_bytes, "Bytes of these loads.")
  COUNT(global_store_bytes, "Bytes of these stores.")
  COUNT(global_requests, "What the lanes of a warp access together, of global memory.")
  COUNT(sectors, "Pieces of 32 bytes that the requests touch.")
  COUNT(least_sectors, "How many would hold as many different bytes.")
  COUNT(shared_loads, "Loads of threads from shared memory.")
  COUNT(shared_stores, "Stores of threads to shared memory.")
  COUNT(shared_requests, "What the lanes of a warp access together, of shared memory.")
  COUNT(shared_wavefronts, "1 a request of up to 128 bytes without bank conflicts.")
  COUNT(least_wavefronts, "How many there would be without bank conflicts.")
  COUNT(atomics, "Atomic operations of threads.")
  COUNT(shared_atomics, "Those of them on shared memory.")
  COUNT(global_atomic_bytes, "Bytes of those on global memory.")
#undef COUNT
  nb::class_<sim::LineCounts> line(m, "LineCounts", "The counts of one access of the source text.");
  line.def_ro("frames", &sim::LineCounts::frames, "Where it stands, the innermost place first.")
      .def_ro("counts", &sim::LineCounts::counts, "Its counts.");
  add_place<sim::LineCounts>(line);
  nb::class_<sim::LaunchCounts>(m, "LaunchCounts", "The counts of one launch.")
      .def_ro("kernel", &sim::LaunchCounts::kernel, "The name of the kernel.")
      .def_prop_ro(
          "grid", [](const sim::LaunchCounts& self) { return triple(self.grid); },
          "In blocks: (x, y, z).")
      .def_prop_ro(
          "block", [](const sim::LaunchCounts& self) { return triple(self.block); },
          "In threads: (x, y, z).")
      .def_ro("shared_bytes", &sim::LaunchCounts::shared_bytes, "Bytes of dynamic shared memory.")
      .def_ro("threads", &sim::LaunchCounts::threads, "The number of threads.")
      .def_ro("idle_threads", &sim::LaunchCounts::idle_threads,
              "Those that ended without an access to memory.")
      .def_ro("barriers", &sim::LaunchCounts::barriers, "Barriers, summed over blocks.")
      .def_ro("tensor_products", &sim::LaunchCounts::tensor_products,
              "Products of two numbers, by tensor cores.")
      .def_ro("counts", &sim::LaunchCounts::counts, "The counts of the whole launch.")
      .def_ro("lines", &sim::LaunchCounts::lines,
              "The counts of each access of the text, by file and line.")
      .def("advice", &sim::LaunchCounts::advice, "What makes memory slow, as findings.")
      .def("__repr__", &text_of<sim::LaunchCounts>);
  nb::class_<sim::Recording>(m, "_Recording")
      .def(nb::init<>())
      .def("launches", &sim::Recording::launches);
  m.def("take_findings", &sim::take_findings,
        "What was found since the last call, oldest first. The devices work again after it.");
  m.def("take_leaks", &sim::take_leaks,
        "All memory in use, as findings, without what an earlier call returned.");
  m.def("checks", &sim::checks, "Whether kernels are checked: not with GRADUS_SIM_CHECK=0.");
#endif
}

}  // namespace gradus::python
