#include "test/emulator/emulated_device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

namespace parley::cuda::emulator {
namespace {

constexpr size_t kAlignment = 256;

class Kept final : public Graph {
 public:
  explicit Kept(const List& list) : list(std::make_shared<const List>(list)) {}
  const std::shared_ptr<const List> list;
};

void RunAll(const List& list, const Rules& rules) {
  for (const Node& node : list.nodes) emulator::Run(*node.entry, node.grid, list.ArgsOf(node), rules);
}

}  // namespace

EmulatedDevice::EmulatedDevice(const DeviceOptions& options) : rules_(options.rules) {
  facts_.name = "emulated";
  facts_.multiprocessors = options.multiprocessors;
  facts_.major = options.major;
  facts_.memory = options.memory;
  facts_.shared = options.rules.most_shared;
}

EmulatedDevice::~EmulatedDevice() {
  for (const auto& piece : pieces_) std::free(piece.first);
}

void EmulatedDevice::CheckThere() const {
  if (!lost_.empty()) throw DeviceLost(lost_);
}

void* EmulatedDevice::Allocate(size_t bytes) {
  CheckThere();
  void* memory = nullptr;
  if (bytes > facts_.memory - used_ || posix_memalign(&memory, kAlignment, std::max<size_t>(bytes, 1)) != 0) {
    throw std::bad_alloc();
  }
  std::memset(memory, 0, bytes);
  pieces_.emplace(memory, bytes);
  used_ += bytes;
  return memory;
}

void EmulatedDevice::Free(void* memory) {
  if (memory == nullptr) return;
  try {
    Wait();
  } catch (...) {
    asked_.clear();  // a waiting caller gets the error, or has got it already
    done_ = marks_[0] = marks_[1] = 0;
  }
  const auto piece = pieces_.find(memory);
  if (piece == pieces_.end()) std::abort();  // not the device's, or freed before
  used_ -= piece->second;
  pieces_.erase(piece);
  std::free(memory);
}

void* EmulatedDevice::AllocateHost(size_t bytes) {
  void* const memory = Allocate(bytes);
  std::memset(memory, 0xff, bytes);
  return memory;
}

void EmulatedDevice::FreeHost(void* memory) { Free(memory); }

void EmulatedDevice::Enqueue(std::function<void()> work) {
  CheckThere();
  asked_.push_back(std::move(work));
}

void EmulatedDevice::Copied(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  const auto* a = static_cast<const char*>(from);
  auto* b = static_cast<char*>(to);
  if (a < b + bytes && b < a + bytes) throw std::logic_error("a copy overlaps itself");
  Enqueue([=] { std::memcpy(to, from, bytes); });
}

void EmulatedDevice::Upload(void* to, const void* from_host, size_t bytes) {
  Copied(to, from_host, bytes);
  Wait();
}

void EmulatedDevice::Download(void* to_host, const void* from, size_t bytes) {
  Copied(to_host, from, bytes);
  Wait();
}

void EmulatedDevice::Send(void* to, const void* from_host, size_t bytes) { Copied(to, from_host, bytes); }
void EmulatedDevice::Fetch(void* to_host, const void* from, size_t bytes) { Copied(to_host, from, bytes); }
void EmulatedDevice::Copy(void* to, const void* from, size_t bytes) { Copied(to, from, bytes); }

void EmulatedDevice::Clear(void* memory, size_t bytes) {
  Enqueue([=] { std::memset(memory, 0, bytes); });
}

void EmulatedDevice::Run(const List& list) {
  Enqueue([this, list] { RunAll(list, rules_); });
}

std::unique_ptr<Graph> EmulatedDevice::Capture(const List& list) {
  CheckThere();
  if (graphs_left_ == 0) {
    graphs_refused_++;
    throw std::bad_alloc();
  }
  graphs_left_--;
  return std::make_unique<Kept>(list);
}

void EmulatedDevice::Launch(const Graph& graph) {
  Enqueue([this, list = static_cast<const Kept&>(graph).list] { RunAll(*list, rules_); });
}

void EmulatedDevice::Mark(int mark) {
  CheckThere();
  marks_[mark] = done_ + asked_.size();
}

void EmulatedDevice::Wait(int mark) {
  CheckThere();
  while (done_ < marks_[mark]) {
    const std::function<void()> work = std::move(asked_.front());
    asked_.pop_front();
    done_++;
    work();
  }
}

void EmulatedDevice::Wait() {
  CheckThere();
  const size_t before = std::exchange(marks_[0], done_ + asked_.size());
  Wait(0);
  marks_[0] = before;
}

}  // namespace parley::cuda::emulator
