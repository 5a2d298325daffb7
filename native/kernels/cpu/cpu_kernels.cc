#include "kernels/cpu/cpu_kernels.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "kernels/number_formats.h"

namespace parley::cpu {
namespace {

constexpr size_t kAlignment = 64;  // a cache line, and the widest register
constexpr size_t kRowGranule = 8;

// A gated product of fewer than kGatedVectors vectors buffers this many values (6 KiB) of `up` before it
// applies the gate. Many rows fit, because alternating between a few rows of either matrix reads memory more
// slowly. From kGatedVectors on it runs as two products: their packed copies only pay off for a whole
// product.
constexpr size_t kGatedValues = 1536;
constexpr size_t kGatedVectors = 16;

// From so many vectors a thread on each takes some of them, not some of the rows, where rows are fewer.
constexpr size_t kManyVectors = 64;

template <class Value>
Value* Aligned(Value* place) {
  return reinterpret_cast<Value*>((reinterpret_cast<uintptr_t>(place) + kAlignment - 1) / kAlignment *
                                  kAlignment);
}

void Validate(const Matrix& w, const Vectors& x) {
  Require(w.columns == x.length * x.segments,
          "the vectors do not have as many values as the matrix has columns");
  Require(!HasScales(w.format) || w.scales != nullptr, "a matrix of 8 bits has no scales");
}

Vectors From(const Vectors& x, size_t first, size_t count) {
  Vectors some = x;
  some.values += first * x.stride;
  some.count = count;
  return some;
}

template <class Value>
void AddRow(const Value* row, float scale, size_t width, bool add, float* y) {
  for (size_t i = 0; i < width; i++) {
    const float value = ToFloat(row[i]) * scale;
    y[i] = add ? y[i] + value : value;
  }
}

void AddRow(const Matrix& table, size_t id, bool add, float* y) {
  const size_t start = id * table.columns;
  switch (table.format) {
    case Format::kF32:
      return AddRow(static_cast<const float*>(table.values) + start, 1, table.columns, add, y);
    case Format::kF16:
      return AddRow(static_cast<const F16*>(table.values) + start, 1, table.columns, add, y);
    case Format::kBf16:
      return AddRow(static_cast<const Bf16*>(table.values) + start, 1, table.columns, add, y);
    case Format::kInt8:
      return AddRow(static_cast<const int8_t*>(table.values) + start, table.scales[id], table.columns, add,
                    y);
    case Format::kFp8:
      return AddRow(static_cast<const Fp8*>(table.values) + start, table.scales[id], table.columns, add, y);
  }
}

}  // namespace

CpuKernels::CpuKernels(const ThreadPoolOptions& threads, const Variant& variant)
    : variant_(variant),
      pool_(threads),
      name_(std::string("cpu ") + variant.name + ", " + std::to_string(threads.threads) +
            (threads.threads == 1 ? " thread" : " threads")),
      scores_(threads.threads),
      rooms_(threads.threads) {}

// calloc maps zeroed pages of large pieces only when they are touched. Memory that a stream reserves but
// never uses costs neither time nor RAM. The word before the returned address stores where the piece begins.
void* CpuKernels::Allocate(size_t bytes) {
  constexpr size_t kExtra = kAlignment + sizeof(void*);
  if (bytes > SIZE_MAX - kExtra) throw std::bad_alloc();
  void* const piece = std::calloc(1, bytes + kExtra);
  if (piece == nullptr) throw std::bad_alloc();
  const auto least = reinterpret_cast<uintptr_t>(piece) + sizeof(void*);
  void* const memory = reinterpret_cast<void*>((least + kAlignment - 1) / kAlignment * kAlignment);
  static_cast<void**>(memory)[-1] = piece;
  return memory;
}

void CpuKernels::Free(void* memory) {
  if (memory != nullptr) std::free(static_cast<void**>(memory)[-1]);
}

void CpuKernels::Copy(void* to, const void* from, size_t bytes) {
  if (bytes > 0) std::memmove(to, from, bytes);
}

// Here, not on the threads: they cannot tell that there is no memory.
void CpuKernels::MakeRooms(const Product& whole) {
  const size_t wanted = variant_.room(whole);
  if (wanted == 0) return;
  for (std::vector<float>& room : rooms_) {
    if (room.size() < wanted + kAlignment / sizeof(float)) room.resize(wanted + kAlignment / sizeof(float));
  }
}

// Once for all threads: a vector is little beside the rows that it meets.
RoundedVectors CpuKernels::Round(const Vectors& x) {
  const size_t groups = GroupsOf(x) * x.count, wholes = groups * kGroupColumns + kAlignment / sizeof(int16_t);
  if (wholes_.size() < wholes) wholes_.resize(wholes);
  if (scales_.size() < groups + 4) scales_.resize(groups + 4);
  const RoundedVectors rounded = {Aligned(wholes_.data()), scales_.data(), x.count};
  Split(x.count, 1, x.count * x.length * x.segments / 2,
        [&](size_t first, size_t last) { variant_.round(x, first, last, rounded); });
  return rounded;
}

void CpuKernels::Multiply(const Matrix& w, const Vectors& x, const Finish& finish, float* y) {
  Validate(w, x);
  const size_t operations = w.rows * w.columns * x.count / 8, threads = pool_.Threads();
  const RoundedVectors rounded = w.format == Format::kInt8 ? Round(x) : RoundedVectors{};
  const Product whole = {w, x, finish, y, w.rows, 0, w.rows, rounded};
  MakeRooms(whole);
  const auto multiply = [&](unsigned part, Product share) {
    share.room = rooms_[part].empty() ? nullptr : Aligned(rooms_[part].data());
    variant_.multiply(share);
  };
  // Few rows, many positions: the last convolutions of the codec.
  if (w.rows < 2 * kRowGranule * threads || (x.count > w.rows && x.count >= kManyVectors * threads)) {
    return SplitParts(x.count, 1, operations, [&](unsigned part, size_t first, size_t last) {
      const Vectors some = From(x, first, last - first);
      multiply(part, {w, some, finish, y + first * w.rows, w.rows, 0, w.rows, rounded.From(first)});
    });
  }
  SplitParts(w.rows, kRowGranule, operations, [&](unsigned part, size_t first, size_t last) {
    multiply(part, {w, x, finish, y + first, w.rows, first, last, rounded});
  });
}

void CpuKernels::MultiplyGated(const Matrix& gate, const Matrix& up, const Vectors& x, float* y) {
  Validate(gate, x);
  Validate(up, x);
  Require(gate.rows == up.rows, "gate and up differ in their rows");
  if (x.count == 0) return;
  if (x.count >= kGatedVectors) {
    const size_t count = x.count * gate.rows;
    if (lifted_.size() < count) lifted_.resize(count);
    Multiply(gate, x, {}, y);
    Multiply(up, x, {}, lifted_.data());
    return Split(count, kAlignment / sizeof(float), 4 * count, [&](size_t first, size_t last) {
      variant_.silu_multiply(y + first, lifted_.data() + first, last - first);
    });
  }
  const bool rounds = gate.format == Format::kInt8 || up.format == Format::kInt8;
  const RoundedVectors rounded = rounds ? Round(x) : RoundedVectors{};
  Split(gate.rows, kRowGranule, 2 * gate.rows * gate.columns * x.count / 8, [&](size_t first, size_t last) {
    float lifted[kGatedValues];
    for (size_t r = first, most = kGatedValues / x.count; r < last; r += most) {
      const size_t rows = std::min(most, last - r);
      variant_.multiply({gate, x, {}, y + r, gate.rows, r, r + rows, rounded});
      variant_.multiply({up, x, {}, lifted, rows, r, r + rows, rounded});
      for (size_t c = 0; c < x.count; c++)
        variant_.silu_multiply(y + c * gate.rows + r, lifted + c * rows, rows);
    }
  });
}

void CpuKernels::Gather(const Matrix& table, const Ids& ids, size_t count, bool add, float* y) {
  Require(!HasScales(table.format) || table.scales != nullptr, "a table of 8 bits has no scales");
  for (size_t i = 0; i < count; i++) {
    Require(ids.values[i * ids.stride] < static_cast<int64_t>(table.rows), "an id lies outside its table");
  }
  for (size_t i = 0; i < count; i++) {
    const int32_t id = ids.values[i * ids.stride];
    float* const row = y + i * table.columns;
    if (id >= 0) AddRow(table, static_cast<size_t>(id), add, row);
    else if (!add) std::fill_n(row, table.columns, 0.0f);
  }
}

void CpuKernels::Choose(const Choice* choices, size_t count, float* logits, size_t vocabulary,
                        uint64_t sequence, int32_t* ids, size_t stride) {
  for (size_t i = 0; i < count; i++) {
    ids[i * stride] = ChooseOne(choices[i], sequence, logits + i * vocabulary, vocabulary, &sampling_);
  }
}

}  // namespace parley::cpu
