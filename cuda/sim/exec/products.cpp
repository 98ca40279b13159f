// Products of warpgroups (wgmma): 64 rows of a by the columns of b, over 32 bytes of terms.
//
// A descriptor (PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout") has the
// address of an operand and the distances of its parts, all in units of 16 bytes, and the swizzle.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "gradus/cuda/sim/check/mistake.h"
#include "gradus/cuda/sim/exec/async.h"
#include "gradus/cuda/sim/exec/dynamic_shared.h"
#include "gradus/cuda/sim/exec/worker.h"

namespace gradus::cuda::sim {

namespace {

constexpr unsigned kGroupThreads = 128, kRows = 64;

class Operand {
 public:
  // along: lines hold elements of one term, not terms of one row or column.
  Operand(uint64_t descriptor, bool along, unsigned bytes)
      : leading_(static_cast<unsigned>(descriptor >> 16 & 0x3fff) * 16),
        stride_(static_cast<unsigned>(descriptor >> 32 & 0x3fff) * 16),
        swizzle_((4 - static_cast<unsigned>(descriptor >> 62)) & 3),
        line_(16u << swizzle_),
        bytes_(bytes),
        along_(along) {
    // The low 18 bits tell the place in dynamic shared memory, which is smaller than that.
    const auto shared = reinterpret_cast<uintptr_t>(gradus_sim_dynamic_shared);
    begin_ = shared + (((descriptor & 0x3fff) * 16 - shared) & 0x3ffff);
  }
  unsigned swizzle() const { return swizzle_; }
  // The address of an element: of a row of a or a column of b, and of a term.
  uintptr_t at(unsigned outer, unsigned term) const {
    uintptr_t offset;
    if (along_) {
      const unsigned each = line_ / bytes_;
      offset =
          outer / each * leading_ + term / 8 * stride_ + term % 8 * line_ + outer % each * bytes_;
    } else {
      const unsigned byte = term * bytes_;
      offset = outer / 8 * stride_ + outer % 8 * line_ +
               (swizzle_ == 0 ? byte / 16 * leading_ + byte % 16 : byte);
    }
    return swizzled(begin_ + offset, swizzle_);
  }

 private:
  uintptr_t begin_ = 0;
  unsigned leading_, stride_, swizzle_, line_, bytes_;
  bool along_;
};

unsigned bytes_of(const Product& of) { return of.type == 'f' ? 4 : 2; }

double element(uint32_t bits, char type) {
  if (type == 'f') return static_cast<double>(value_of<float>(bits & 0xffffe000u));
  const auto half = static_cast<uint16_t>(bits);
  return type == 'b' ? __nv_bfloat16(__nv_bfloat16::Raw{half}).wide()
                     : __half(__half::Raw{half}).wide();
}
double element_at(uintptr_t address, char type) {
  uint32_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<const void*>(address), type == 'f' ? 4 : 2);
  return element(bits, type);
}

}  // namespace

// f(address, swizzle) for each 16-byte chunk of shared memory that a product reads.
template <class F>
void Async::for_operands(const Warpgroup::Item& item, const F& f) const {
  const Product& of = item.of[0];
  const unsigned bytes = bytes_of(of), terms = 32 / bytes, each = 16 / bytes;
  const auto visit = [&](uint64_t descriptor, bool along, unsigned outers) {
    const Operand operand(descriptor, along, bytes);
    for (unsigned outer = 0; outer < outers; outer += along ? each : 1)
      for (unsigned term = 0; term < terms; term += along ? 1 : each)
        f(operand.at(outer, term), operand.swizzle());
  };
  if (!of.held) visit(of.a, of.along_a, kRows);
  visit(of.b, of.along_b, static_cast<unsigned>(of.columns));
}

void Async::multiply(const Product& product, uintptr_t pc) {
  const Thread& thread = *worker_.current;
  const unsigned member = thread.linear % kGroupThreads;
  Warpgroup& group = warpgroups_[thread.linear / kGroupThreads];
  if (group.engine == 0) group.engine = new_engine();
  const uint64_t number = group.next[member]++;
  if (number - group.done == group.items.size()) {
    auto& item = group.items.emplace_back();
    item.thread = thread.linear;
    item.group = group.groups;
    item.pc = pc;
  }
  auto& item = group.items[number - group.done];
  item.of[member] = product;
  if (product.held) {  // registers are copied
    auto* const copy = group.held.emplace_back(std::make_unique<std::array<uint32_t, 4>>()).get();
    std::copy_n(product.held, 4, copy->data());
    item.of[member].held = copy->data();
  }
  if (!group.fenced[member])
    report_here(Kind::under_way, "multiplies", pc, [] {
      return std::string(
          "registers may still be written when this product (wgmma) reads them; let "
          "the warpgroup call wgmma.fence before the first product");
    });
  group.fenced[member] = 1;
  worker_.copies.begin_registers({reinterpret_cast<uintptr_t>(product.sums),
                                  static_cast<size_t>(product.columns) * 2, pc, thread.linear});
  const Product& first = item.of[item.thread % kGroupThreads];
  if (product.a != first.a || product.b != first.b || product.columns != first.columns)
    report_here(Kind::warp, "multiplies", pc, [] {
      return std::string(
          "threads of one warpgroup give different operands; let all 128 of them "
          "make the same product");
    });
  if (++item.came < kGroupThreads) return;
  item.of[0].a = first.a;
  item.interval = new_interval(thread.linear);
  const Record as(item.interval, group.engine, 0, place_of(pc), 0);
  const auto shared = reinterpret_cast<uintptr_t>(gradus_sim_dynamic_shared);
  bool inside = true;
  for_operands(item, [&](uintptr_t chunk, unsigned) {
    inside &= chunk - shared + 16 <= worker_.launch->shared_bytes;
  });
  if (!inside)
    stop_here(Kind::out_of_bounds, "multiplies", pc, [] {
      return std::string(
          "a descriptor of this product (wgmma) leaves the dynamic shared memory that "
          "the launch gave");
    });
  for_operands(item, [&](uintptr_t chunk, unsigned swizzle) {
    check_swizzle(chunk, swizzle, pc);
    read(chunk, as, pc, "multiplies");
    worker_.copies.begin_read(chunk, {pc, thread.linear, true});
  });
}

void Async::fence_products() {
  const unsigned thread = worker_.current->linear;
  warpgroups_[thread / kGroupThreads].fenced[thread % kGroupThreads] = 1;
}

// All threads of the warpgroup come before the first goes on.
void Async::end_products(uintptr_t pc) {
  const unsigned number = worker_.current->linear / kGroupThreads;
  Warpgroup& group = warpgroups_[number];
  if (++group.at_end == kGroupThreads) group.at_end = 0, ++group.groups;
  constexpr unsigned kNumber = 1 << 16;  // beyond those of named barriers
  meet(kNumber + number, kGroupThreads, false, pc);
}

void Async::wait_for_products(unsigned pending) {
  Thread& thread = *worker_.current;
  Warpgroup& group = warpgroups_[thread.linear / kGroupThreads];
  while (!group.items.empty() && group.items.front().group + pending < group.groups) finish(group);
  // The product is done for this thread as well if another one has waited for it.
  learn(thread.linear, group.engine, group.last);
}

// Does the oldest product.
void Async::finish(Warpgroup& group) {
  const Warpgroup::Item& item = group.items.front();
  if (item.came == kGroupThreads) {
    make_sums(item);
    for_operands(item, [&](uintptr_t chunk, unsigned) { worker_.copies.end_read(chunk); });
    group.last = item.interval;
  } else {
    worker_.launch->sightings.add(Kind::warp, item.pc, 0, [&] {
      Sighting out{Kind::warp,
                   "only " + std::to_string(item.came) +
                       " of the 128 threads of a warpgroup made this product (wgmma); let all of "
                       "them make it",
                   {}};
      out.sides.push_back(worker_.side("multiplies", worker_.thread(item.thread), {item.pc}));
      return out;
    });
  }
  for (unsigned member = 0; member < kGroupThreads; ++member)
    if (const float* const sums = item.of[member].sums)
      worker_.copies.end_registers(item.thread / kGroupThreads * kGroupThreads + member,
                                   reinterpret_cast<uintptr_t>(sums));
  ++group.done;
  group.items.pop_front();
  if (group.items.empty()) group.held.clear();
}

void Async::make_sums(const Warpgroup::Item& item) const {
  const Product& of = item.of[0];
  const unsigned bytes = bytes_of(of), terms = 32 / bytes;
  const auto columns = static_cast<unsigned>(of.columns);
  worker_.tensor_products += int64_t{kRows} * columns * terms;
  std::vector<double> a(kRows * terms), b(columns * terms);
  const Operand of_a(of.a, of.along_a, bytes), of_b(of.b, of.along_b, bytes);
  for (unsigned row = 0; row < kRows; ++row)
    for (unsigned k = 0; k < terms; ++k) {
      double& to = a[row * terms + k];
      if (!of.held) {
        to = element_at(of_a.at(row, k), of.type);
        continue;
      }
      // A thread holds rows 8 apart, of each half of the terms, as of mma's a. A register has one
      // float or two halves.
      const unsigned each = 4 / bytes, unit = k / each;
      const Product& holder = item.of[row / 16 * 32 + row % 8 * 4 + unit % 4];
      const uint32_t held = holder.held[row % 16 / 8 + unit / 4 * 2];
      to = element(bytes == 4 ? held : held >> (k % 2 * 16), of.type);
    }
  for (unsigned column = 0; column < columns; ++column)
    for (unsigned k = 0; k < terms; ++k)
      b[column * terms + k] = element_at(of_b.at(column, k), of.type);
  for (unsigned member = 0; member < kGroupThreads; ++member) {
    const Product& mine = item.of[member];
    const unsigned lane = member % 32, first_row = member / 32 * 16 + lane / 4;
    for (unsigned i = 0; i < columns / 2; ++i) {
      const double* const left = &a[(first_row + i % 4 / 2 * 8) * terms];
      const double* const right = &b[(i / 4 * 8 + lane % 4 * 2 + i % 2) * terms];
      double sum = mine.adds ? static_cast<double>(mine.sums[i]) : 0;
      for (unsigned k = 0; k < terms; ++k) sum += left[k] * right[k];
      mine.sums[i] = static_cast<float>(sum);
    }
  }
}

void multiply(const Product& product) {
  const uintptr_t pc = GRADUS_SIM_CALLER;
  const Unwatched guard;
  here->async().multiply(product, pc);
}
void fence_products() {
  const Unwatched guard;
  here->async().fence_products();
}
void end_product_group() {
  const uintptr_t pc = GRADUS_SIM_CALLER;
  const Unwatched guard;
  here->async().end_products(pc);
}
void wait_for_product_groups(unsigned pending) {
  const Unwatched guard;
  here->async().wait_for_products(pending);
}

}  // namespace gradus::cuda::sim
