#include "test/emulator/block.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <random>
#include <utility>

#include "test/emulator/intrinsics.h"

#if defined(__SANITIZE_THREAD__)
// The threads of emulated blocks are there for as long as the program is; and blocks of all kernels have the
// same shared memory.
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options() {
  return "report_thread_leaks=0:suppress_equal_addresses=0";
}
#endif

namespace parley::cuda::emulator {
namespace {

const char* const kBarrier = "__syncthreads";

bool AreSame(const char* a, const char* b) { return a == b || std::strcmp(a, b) == 0; }

std::string PlaceOfBlock() {
  return ", block " + std::to_string(blockIdx.x) + "," + std::to_string(blockIdx.y) + "," +
         std::to_string(blockIdx.z);
}

}  // namespace

void Block::Unmap::operator()(unsigned char* memory) const { std::free(memory); }

Block& Block::Current() {
  static Block block;
  return block;
}

void Block::BeginGrid(const KernelEntry& entry, const Grid& grid, const void* args, const Rules& rules) {
  entry_ = &entry;
  args_ = args;
  rules_ = rules;
  block_threads_ = grid.threads;
  cluster_ = TogetherOf(entry, grid);
  count_ = grid.threads * cluster_;
  if (threads_.size() < count_) threads_.resize(count_);
  order_.resize(count_);
  ready_.resize(count_);
  warps_.resize((count_ + 31) / 32);
  at_first_.resize(size_t{kBarriers} * cluster_);
  if (first_orders_.size() < at_first_.size()) first_orders_.resize(at_first_.size());
  if (groups_.size() < count_ / kGroupThreads + 1) groups_.resize(count_ / kGroupThreads + 1);
  barriers_passed_.resize(cluster_);
  NameThreads();
  // With a single block per cluster, no other block's memory follows.
  shared_stride_ = cluster_ == 1 ? grid.shared : (grid.shared + 1023) / 1024 * 1024;
  if (const size_t bytes = shared_stride_ * cluster_; shared_ == nullptr || shared_bytes_ != bytes) {
    void* memory = nullptr;
    if (posix_memalign(&memory, 1024, std::max<size_t>(bytes, 1)) != 0) throw std::bad_alloc();
    shared_.reset(static_cast<unsigned char*>(memory));
    shared_bytes_ = bytes;
  }
  Arrange(rules.seed);
}

void Block::NameThreads() {
  constexpr size_t kMost = 8000;  // that ThreadSanitizer tells apart
  if (!races::kAreChecked) return;
  if (count_ > kMost)
    throw Refused(NameOf(*entry_) + ": more threads run together than races can be looked for among");
  host_name_ = races::Current();
  while (names_.size() < count_) names_.push_back(races::NewThread());
}

void Block::Arrange(uint64_t seed) {
  for (uint32_t i = 0; i < count_; i++) order_[i] = rules_.order == Order::kBackward ? count_ - 1 - i : i;
  if (rules_.order == Order::kShuffled) std::shuffle(order_.begin(), order_.end(), std::mt19937_64(seed));
  lanes_order_ = order_;
  if (rules_.order == Order::kForward) return;
  std::stable_sort(lanes_order_.begin(), lanes_order_.end(),
                   [](uint32_t a, uint32_t b) { return a / 32 < b / 32; });
}

void Block::Clear() {
  std::memset(shared_.get(), 0xff, shared_bytes_);
  for (uint32_t t = 0; t < count_; t++) threads_[t].waits_at = nullptr;
  for (Warp& warp : warps_) {
    warp.ended = 0;
    warp.collectives.clear();
  }
  if (count_ % 32 != 0) warps_.back().ended = ~uint32_t{0} << count_ % 32;
  ready_first_ = ready_count_ = 0;
  next_ = 0;
  living_ = count_;
  at_barrier_ = votes_ = 0;
  tile_copies.Clear();
  std::fill(at_first_.begin(), at_first_.end(), 0);
  for (Group& group : groups_) group.arrived = 0;
  same_stores_.clear();
  failure_ = nullptr;
  free_.insert(free_.end(), spent_.begin(), spent_.end());
  spent_.clear();
}

void Block::Run(uint64_t seed) {
  if (rules_.order == Order::kShuffled) Arrange(seed);
  first_block_ = blockIdx.x;
  Clear();
  races::Release(&begun_);
  {
    const races::Unseen unseen;
    Go(host_, FreeFiber().place);
  }
  races::Acquire(&ended_);
  if (failure_ == nullptr && living_ == 0) return;
  const std::string standstill = failure_ == nullptr ? Standstill() : "";
  ForgetFibers();
  if (failure_ != nullptr) std::rethrow_exception(std::exchange(failure_, nullptr));
  throw Refused(standstill);
}

std::string Block::Standstill() const {
  std::map<std::string, uint32_t> waiting;
  for (uint32_t t = 0; t < count_; t++) {
    if (threads_[t].waits_at != nullptr) waiting[threads_[t].waits_at]++;
  }
  std::string text = NameOf(*entry_) + ": of " + std::to_string(living_) + " threads that have not ended";
  for (const auto& [word, threads] : waiting) text += ", " + std::to_string(threads) + " wait at " + word;
  return text + PlaceOfBlock();
}

void Block::RefuseAs(const std::string& what) const {
  throw Refused(NameOf(*entry_) + ": thread " + std::to_string(running_) + " " + what + PlaceOfBlock());
}

// Discards the threads' stacks. Kernels own nothing, so no destructor is missed.
void Block::ForgetFibers() {
  for (uint32_t t = 0; races::kAreChecked && t < count_; t++) {
    races::Become(names_[t]);
    races::Release(&ended_);
    races::Become(host_name_);
  }
  races::Acquire(&ended_);
  spent_.clear();
  free_.clear();
  for (const auto& fiber : fibers_) {
    fiber->Begin(FiberBody);
    free_.push_back(fiber.get());
  }
}

Fiber& Block::FreeFiber() {
  if (free_.empty()) {
    fibers_.push_back(std::make_unique<Fiber>());
    fibers_.back()->Begin(FiberBody);
    free_.push_back(fibers_.back().get());
  }
  arriving_ = free_.back();
  free_.pop_back();
  return *arriving_;
}

void Block::FiberBody() {
  Block& block = Current();
  Fiber* const fiber = block.arriving_;
  Arrive(fiber->place);
  for (;;) {
    block.BeginThreads(fiber);
    (races::kAreChecked ? block.spent_ : block.free_).push_back(fiber);
    block.LeaveFor(fiber->place);
  }
}

void Block::BeginThreads(Fiber* fiber) {
  while (next_ < count_ && failure_ == nullptr) {
    BeginThread(order_[next_++], fiber);
    try {
      {
        const races::Seen seen;
        entry_->emulate(args_);
      }
      EndThread();
    } catch (...) {
      failure_ = std::current_exception();
    }
    races::Release(&ended_);
    if (races::kAreChecked) return;
  }
}

void Block::BeginThread(uint32_t thread, Fiber* fiber) {
  Thread& begun = threads_[thread];
  begun.fiber = fiber;
  begun.has_awaited = false;
  begun.group = 0;
  begun.tiles = 0;
  begun.copies.clear();
  RunAs(thread);
  races::Acquire(&begun_);
}

void Block::RunAs(uint32_t thread) {
  running_ = thread;
  if (races::kAreChecked) races::Become(names_[thread]);
  threadIdx.x = thread % block_threads_;
  if (cluster_ > 1) blockIdx.x = first_block_ + thread / block_threads_;
}

void Block::EndThread() {
  if (!Self().has_awaited) RefuseAs("ends without GridDependencyWait()");
  Warp& warp = warps_[running_ / 32];
  const uint32_t lane = uint32_t{1} << running_ % 32;
  for (const Collective& collective : warp.collectives) {
    if (collective.mask & lane) RefuseAs("ends while its warp waits for it");
  }
  warp.ended |= lane;
  living_--;
  if (living_ > 0 && at_barrier_ == living_) OpenBarrier();
}

// Threads that have not begun come before those that go on.
void Block::LeaveFor(Place& from) {
  if (failure_ == nullptr && next_ < count_) return Go(from, FreeFiber().place);
  if (failure_ != nullptr || ready_count_ == 0) {
    races::Become(host_name_);
    return Go(from, host_);
  }
  RunAs(ready_[ready_first_]);
  ready_first_ = ready_first_ + 1 == count_ ? 0 : ready_first_ + 1;
  ready_count_--;
  Place& to = Self().fiber->place;
  if (&to != &from) Go(from, to);
}

void Block::Wait() { LeaveFor(Self().fiber->place); }

void Block::Free(uint32_t thread) {
  threads_[thread].waits_at = nullptr;
  const size_t last = ready_first_ + ready_count_++;
  ready_[last < count_ ? last : last - count_] = thread;
}

void Block::WarpCollective(const char* word, uint32_t mask, void* laid_down, Join join, Memory memory) {
  Warp& warp = warps_[running_ / 32];
  const uint32_t lane = uint32_t{1} << running_ % 32;
  if ((mask & lane) == 0) RefuseAs(std::string("is not in the mask of its ") + word);
  if (mask & warp.ended) RefuseAs(std::string("comes to a ") + word + " whose mask has lanes that ended");
  Self().waits_at = word;
  Self().laid_down = laid_down;
  size_t m = 0;
  while (m < warp.collectives.size() &&
         (warp.collectives[m].mask != mask || !AreSame(warp.collectives[m].word, word)))
    m++;
  if (m == warp.collectives.size()) warp.collectives.push_back({word, mask, 0, warp.orders.Next()});
  warp.collectives[m].arrived |= lane;
  const char* const order = warp.collectives[m].order;
  if (memory == Memory::kOrdered) races::Release(order);
  if (warp.collectives[m].arrived == mask) FinishCollective(&warp, m, join);
  Wait();
  if (memory == Memory::kOrdered) races::Acquire(order);
}

void Block::FinishCollective(Warp* warp, size_t collective, Join join) {
  const uint32_t mask = warp->collectives[collective].mask, first = running_ / 32 * 32;
  warp->collectives.erase(warp->collectives.begin() + static_cast<ptrdiff_t>(collective));
  void* lanes[32] = {};
  for (uint32_t l = 0; l < 32; l++) {
    if (mask >> l & 1) lanes[l] = threads_[first + l].laid_down;
  }
  join(lanes, mask);
  for (uint32_t i = first; i < std::min(first + 32, count_); i++) {
    if (mask >> lanes_order_[i] % 32 & 1) Free(lanes_order_[i]);
  }
}

uint32_t Block::BlockBarrier(uint32_t vote) {
  at_barrier_++;
  votes_ += vote;
  Self().waits_at = kBarrier;
  const char* const order = barrier_order_.Now();
  races::Release(order);
  if (at_barrier_ == living_) OpenBarrier();
  Wait();
  races::Acquire(order);
  return last_votes_;
}

void Block::NamedBarrier(uint32_t barrier, uint32_t threads) {
  static const char* const kNames[kBarriers] = {"barrier 0",  "barrier 1",  "barrier 2",  "barrier 3",
                                                "barrier 4",  "barrier 5",  "barrier 6",  "barrier 7",
                                                "barrier 8",  "barrier 9",  "barrier 10", "barrier 11",
                                                "barrier 12", "barrier 13", "barrier 14", "barrier 15"};
  const char* const name = kNames[barrier];
  const uint32_t block = running_ / block_threads_;
  if (running_ % block_threads_ >= threads || threads > block_threads_)
    RefuseAs(std::string("is not of those that meet at ") + name);
  Self().waits_at = name;
  Orders& orders = first_orders_[block * kBarriers + barrier];
  const char* const order = orders.Now();
  races::Release(order);
  if (uint32_t& arrived = at_first_[block * kBarriers + barrier]; ++arrived == threads) {
    arrived = 0;
    orders.Next();
    barriers_passed_[block]++;
    for (const uint32_t thread : order_) {
      if (thread / block_threads_ == block && threads_[thread].waits_at == name) Free(thread);
    }
  }
  Wait();
  races::Acquire(order);
}

// Race checks know what was multiplied before a commit by a place of its own.
void Block::CommitTiles() { races::Release(groups_[running_ / kGroupThreads].At(Self().tiles++)); }

void Block::AwaitTiles(uint32_t left) {
  static const char* const kName = "AwaitTiles";
  Group& group = groups_[running_ / kGroupThreads];
  const uint32_t first = running_ / kGroupThreads * kGroupThreads;
  if (first % block_threads_ + kGroupThreads > block_threads_)
    RefuseAs("multiplies tiles, but is of no whole warpgroup");
  Self().waits_at = kName;
  if (++group.arrived == kGroupThreads) {
    group.arrived = 0;
    for (uint32_t t = first; t < first + kGroupThreads; t++) Free(t);
  }
  Wait();
  if (Self().tiles > left) races::Acquire(group.At(Self().tiles - left - 1));
}

void Block::StoreSame(void* to, const void* value, size_t bytes) {
  const uint32_t block = running_ / block_threads_;
  auto* const words = static_cast<uint32_t*>(to);
  for (size_t i = 0; i < bytes / 4; i++) {
    uint32_t word;
    std::memcpy(&word, static_cast<const unsigned char*>(value) + 4 * i, sizeof word);
    const SameStore now{word, block, barriers_passed_[block]};
    const auto [before, is_first] = same_stores_.emplace(words + i, now);
    const bool is_later = before->second.block == block && before->second.barriers != now.barriers;
    if (!is_first && !is_later && before->second.word != word)
      RefuseAs("stores another value than the others to where all store the same");
    before->second = now;
    const races::Seen seen;
    races::StoreWithOthers(words + i, word);
  }
}

void Block::OpenBarrier() {
  last_votes_ = votes_;
  votes_ = at_barrier_ = 0;
  barrier_order_.Next();
  for (uint32_t& passed : barriers_passed_) passed++;
  FreeAllAt(kBarrier);
}

void Block::WaitAt(const char* word) {
  Self().waits_at = word;
  Wait();
}

void Block::FreeAllAt(const char* word) {
  for (const uint32_t thread : order_) {
    if (threads_[thread].waits_at == word) Free(thread);
  }
}

}  // namespace parley::cuda::emulator
