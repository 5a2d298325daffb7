#include "test/emulator/emulator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <numeric>
#include <random>

#include "test/emulator/block.h"
#include "test/emulator/intrinsics.h"

namespace parley::cuda::emulator {
namespace {

void Validate(const KernelEntry& entry, const Grid& grid, const Rules& rules) {
  const auto refuse = [&](const std::string& what) { throw Refused(NameOf(entry) + ": " + what); };
  if (grid.threads == 0 || grid.threads > 1024)
    refuse("a block of " + std::to_string(grid.threads) + " threads");
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) refuse("a grid without blocks");
  if (grid.x > 0x7fffffff || grid.y > 65535 || grid.z > 65535)
    refuse("a grid of more blocks than there may be");
  if (grid.x % TogetherOf(entry, grid) != 0) refuse("a grid that is no multiple of its clusters");
  if (entry.cluster == kAllBlocks && grid.y * grid.z != 1)
    refuse("blocks that wait for each other do not lie in x alone");
  if (grid.shared > rules.most_shared) refuse(std::to_string(grid.shared) + " bytes of shared memory");
}

// Runs the block, or the cluster that it begins: clusters lie in x.
void RunBlock(const Grid& grid, uint64_t number, uint64_t seed) {
  blockIdx.x = static_cast<uint32_t>(number % grid.x);
  blockIdx.y = static_cast<uint32_t>(number / grid.x % grid.y);
  blockIdx.z = static_cast<uint32_t>(number / grid.x / grid.y);
  Block::Current().Run(seed + number);
}

}  // namespace

void Run(const KernelEntry& entry, const Grid& grid, const void* args, const Rules& rules) {
  static std::mutex one_at_a_time;
  const std::lock_guard<std::mutex> lock(one_at_a_time);
  Validate(entry, grid, rules);
  gridDim = {grid.x, grid.y, grid.z};
  blockDim = {grid.threads, 1, 1};
  threadIdx = {0, 0, 0};
  Block::Current().BeginGrid(entry, grid, args, rules);
  const uint64_t each = TogetherOf(entry, grid), clusters = uint64_t{grid.x} * grid.y * grid.z / each;
  if (rules.order == Order::kShuffled) {
    std::vector<uint64_t> order(clusters);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937_64(rules.seed));
    for (const uint64_t number : order) RunBlock(grid, number * each, rules.seed);
    return;
  }
  for (uint64_t i = 0; i < clusters; i++) {
    RunBlock(grid, (rules.order == Order::kBackward ? clusters - 1 - i : i) * each, rules.seed);
  }
}

// Out of "... EntryOf() [with auto kKernel = parley::cuda::Name<...>]", as the compiler writes it.
std::string NameOf(const KernelEntry& entry) {
  std::string name = entry.name;
  const size_t equals = name.find("kKernel = ");
  if (equals == std::string::npos) return name;
  name = name.substr(equals + 10);
  if (!name.empty() && name.back() == ']') name.pop_back();
  const size_t angle = std::min(name.find('<'), name.size()), colons = name.rfind("::", angle);
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

void Immediate::Release::operator()(void* memory) const { std::free(memory); }

Queue::DataPlace Immediate::AddRoom(size_t bytes) {
  void* memory = nullptr;
  if (posix_memalign(&memory, 16, std::max<size_t>(bytes, 1)) != 0) throw std::bad_alloc();
  data_.emplace_back(memory);
  std::memset(memory, 0xff, bytes);
  return {memory, memory};
}

// --- what kernels call

void WarpCollective(const char* word, uint32_t mask, void* laid_down, Join join, Memory memory) {
  const races::Unseen unseen;
  Block::Current().WarpCollective(word, mask, laid_down, join, memory);
}
uint32_t BlockBarrier(uint32_t vote) {
  const races::Unseen unseen;
  return Block::Current().BlockBarrier(vote);
}
void NamedBarrier(uint32_t barrier, uint32_t threads) {
  const races::Unseen unseen;
  Block::Current().NamedBarrier(barrier, threads);
}
void CommitTiles() {
  const races::Unseen unseen;
  Block::Current().CommitTiles();
}
void AwaitTiles(uint32_t left) {
  const races::Unseen unseen;
  Block::Current().AwaitTiles(left);
}
void StoreSame(void* to, const void* value, size_t bytes) {
  const races::Unseen unseen;
  Block::Current().StoreSame(to, value, bytes);
}
uint32_t Lane() {
  const races::Unseen unseen;
  return Block::Current().Running() % 32;
}
unsigned char* SharedMemory() {
  const races::Unseen unseen;
  return Block::Current().Shared();
}
void MarkAwaited() {
  const races::Unseen unseen;
  Block::Current().Self().has_awaited = true;
}

void RequestCopy(void* to, const void* from, bool valid) {
  const races::Unseen unseen;
  if (reinterpret_cast<uintptr_t>(to) % 16 != 0 || (valid && reinterpret_cast<uintptr_t>(from) % 16 != 0)) {
    Refuse("copies 16 bytes that do not lie at a multiple of 16");
  }
  Thread& self = Block::Current().Self();
  self.copies.push_back({to, from, valid, self.group});
}

void CommitRequested() {
  const races::Unseen unseen;
  Block::Current().Self().group++;
}

void MakeCopies(uint32_t groups_left) {
  const races::Unseen unseen;
  Thread& self = Block::Current().Self();
  size_t made = 0;
  for (const PendingCopy& copy : self.copies) {
    if (copy.group + groups_left >= self.group) break;  // later ones are of later groups
    if (copy.valid) std::memcpy(copy.to, copy.from, 16);
    else std::memset(copy.to, 0, 16);
    ShowCopy(copy.to, copy.valid ? copy.from : nullptr, 16);
    made++;
  }
  self.copies.erase(self.copies.begin(), self.copies.begin() + static_cast<ptrdiff_t>(made));
}

void ShowCopy(void* to, const void* from, size_t bytes) {
  const races::Seen seen;
  if (from != nullptr) races::Reads(from, bytes);
  races::Writes(to, bytes);
}

void Refuse(const char* what) { Block::Current().RefuseAs(what); }

}  // namespace parley::cuda::emulator

namespace parley::cuda {
namespace {

// A lane's operands of a matrix product.
struct Fragments {
  float* d;
  const uint32_t* a;
  const uint32_t* b;
};

float HalfOf(uint32_t pair, size_t half) {
  return formats::FromBits(half == 0 ? pair << 16 : pair & 0xffff0000);
}

typedef double Eight __attribute__((vector_size(64)));

void JoinMma(void* const lanes[32], uint32_t) {
  double a[16][16];
  Eight b[16], d[16];
  for (size_t lane = 0; lane < 32; lane++) {
    const auto* mine = static_cast<const Fragments*>(lanes[lane]);
    const size_t g = lane / 4, t = lane % 4;
    for (size_t half = 0; half < 2; half++) {
      for (size_t i = 0; i < 4; i++) a[g + i % 2 * 8][2 * t + i / 2 * 8 + half] = HalfOf(mine->a[i], half);
      for (size_t i = 0; i < 2; i++) b[2 * t + i * 8 + half][g] = HalfOf(mine->b[i], half);
    }
  }
  for (size_t row = 0; row < 16; row++) {
    d[row] = a[row][0] * b[0];
    for (size_t k = 1; k < 16; k++) d[row] += a[row][k] * b[k];
  }
  for (size_t lane = 0; lane < 32; lane++) {
    const auto* mine = static_cast<const Fragments*>(lanes[lane]);
    const size_t g = lane / 4, t = lane % 4;
    for (size_t i = 0; i < 4; i++)
      mine->d[i] = static_cast<float>(mine->d[i] + d[g + i / 2 * 8][2 * t + i % 2]);
  }
}

}  // namespace

void Mma(float (&d)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
  Fragments mine{d, a, b};
  emulator::WarpCollective("Mma", 0xffffffff, &mine, JoinMma);
}

}  // namespace parley::cuda
