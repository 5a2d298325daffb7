#include "kernels/cuda/device/recorder.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace parley::cuda {

Recorder::Recorder(Device& device, const RecorderOptions& options)
    : device_(device),
      options_(options),
      known_(options.most_graphs, options.most_list_bytes),
      data_(device, options.data_bytes),
      carried_(device, options.data_bytes),
      results_(device, options.result_bytes) {}

// Waits, because running grids use the arenas and the graphs.
Recorder::~Recorder() {
  try {
    device_.Wait();
  } catch (...) {
    // A device that is lost does nothing any more.
  }
}

void Recorder::Add(const KernelEntry& entry, const Grid& grid, const void* args) {
  const size_t place = list_.args.size();
  const auto* const bytes = static_cast<const unsigned char*>(args);
  list_.args.insert(list_.args.end(), bytes, bytes + entry.args_bytes);
  list_.args.resize((list_.args.size() + 15) / 16 * 16);  // zeros between them
  list_.nodes.push_back({&entry, grid, static_cast<uint32_t>(place)});
}

Queue::DataPlace Recorder::AddRoom(size_t bytes) {
  const TwoSidedArena::Place place = data_.Take(bytes);
  return {place.host, place.device};
}

const void* Recorder::Carry(const void* from_host, size_t bytes) {
  const TwoSidedArena::Place place = carried_.Take(bytes);
  std::memcpy(place.host, from_host, bytes);
  return place.device;
}

void* Recorder::Result(void* to_host, size_t bytes, size_t room) {
  if (bytes > room) throw std::logic_error("more results than there is room for");
  const TwoSidedArena::Place place = results_.Take(room);
  deliveries_[turn_].push_back({to_host, place.host, bytes});
  return place.device;
}

// Null where the device has no memory for one more: then half of the others go, and this list, the last one
// used, runs grid by grid once more. So it does while no graph is tried.
std::unique_ptr<Graph> Recorder::Captured() {
  if (!pause_.IsOver()) return nullptr;
  try {
    auto graph = device_.Capture(list_);
    counters_.captures++;
    known_.Grow();
    pause_.Succeeded();
    return graph;
  } catch (const std::bad_alloc&) {
    pause_.Failed();
    device_.Wait();  // evicted graphs may be running
    known_.Halve();
    return nullptr;
  }
}

// Returns the cache's entry for the recorded list. It is null if the list runs grid by grid, because it runs
// for the first time.
KnownList* Recorder::Known() {
  if (!options_.graphs) return nullptr;
  if (KnownList* known = known_.Find(list_)) return known;
  if (!options_.capture_at_once && !known_.RanOnce()) return nullptr;
  if (known_.IsFullFor(list_)) device_.Wait();  // evicted graphs may be running
  return known_.Remember(list_);
}

void Recorder::RunList() {
  counters_.nodes += list_.nodes.size();
  KnownList* known = Known();
  if (known != nullptr && known->graph == nullptr) known->graph = Captured();
  if (known == nullptr || known->graph == nullptr) {
    counters_.eager++;
    return device_.Run(list_);
  }
  counters_.launches++;
  device_.Launch(*known->graph);
}

void Recorder::Start() {
  data_.Send();
  carried_.Send();
  RunList();
  results_.Fetch();
  device_.Mark(turn_);
  is_under_way_[turn_] = true;
  turn_ = 1 - turn_;
  Deliver(turn_);
}

// A list that cannot be started is discarded.
void Recorder::Submit() {
  try {
    if (!list_.nodes.empty()) Start();
  } catch (...) {
    Clear();
    throw;
  }
  Clear();
}

void Recorder::Clear() {
  list_.Clear();
  if (!is_under_way_[turn_]) deliveries_[turn_].clear();
  if (results_.WillGrow()) Deliver(1 - turn_);
  data_.Begin(turn_);
  carried_.Begin(turn_);
  results_.Begin(turn_);
}

void Recorder::Wait() {
  Submit();
  device_.Wait();
  Deliver(turn_);
  Deliver(1 - turn_);
}

// The list that had this turn last was submitted before any other that is not done.
void Recorder::Deliver(int turn) {
  if (!is_under_way_[turn]) return;
  device_.Wait(turn);
  is_under_way_[turn] = false;
  for (const Delivery& delivery : deliveries_[turn]) std::memcpy(delivery.to, delivery.from, delivery.bytes);
  deliveries_[turn].clear();
}

namespace {

constexpr size_t kRecent = 4;

// However little memory there is for graphs: what a step and the codec run again and again does not go for
// what comes once.
constexpr size_t kFewest = 64;

bool AreEqual(const List& a, const List& b) {
  return a.nodes.size() == b.nodes.size() && a.args.size() == b.args.size() &&
         (a.nodes.empty() ||
          std::memcmp(a.nodes.data(), b.nodes.data(), a.nodes.size() * sizeof(Node)) == 0) &&
         (a.args.empty() || std::memcmp(a.args.data(), b.args.data(), a.args.size()) == 0);
}

// Both are whole words.
uint64_t Mixed(const void* bytes, size_t count, uint64_t hash) {
  const auto* from = static_cast<const unsigned char*>(bytes);
  for (size_t i = 0; i + 8 <= count; i += 8) {
    uint64_t word;
    std::memcpy(&word, from + i, 8);
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  return hash;
}

uint64_t HashOf(const List& list) {
  const uint64_t nodes = Mixed(list.nodes.data(), list.nodes.size() * sizeof(Node), list.nodes.size());
  return Mixed(list.args.data(), list.args.size(), nodes);
}

}  // namespace

KnownList* KnownLists::Find(const List& list) {
  // The last few lists are compared without a hash: lists that differ mostly differ in length.
  auto recent = lists_.begin();
  for (size_t n = 0; n < kRecent && recent != lists_.end(); n++, recent++) {
    if (!AreEqual(recent->list, list)) continue;
    lists_.splice(lists_.begin(), lists_, recent);
    return &lists_.front();
  }
  missed_ = HashOf(list);
  const auto range = by_hash_.equal_range(missed_);
  for (auto at = range.first; at != range.second; at++) {
    if (!AreEqual(at->second->list, list)) continue;
    lists_.splice(lists_.begin(), lists_, at->second);
    return &lists_.front();
  }
  return nullptr;
}

bool KnownLists::RanOnce() {
  const auto place = std::find(once_.begin(), once_.end(), missed_);
  if (place != once_.end()) return *place = 0, true;
  once_[oldest_] = missed_;
  oldest_ = (oldest_ + 1) % once_.size();
  return false;
}

KnownList* KnownLists::Remember(const List& list) {
  while (IsFullFor(list)) ForgetLast();
  lists_.push_front({list, missed_, nullptr});
  bytes_ += BytesOf(list);
  by_hash_.emplace(missed_, lists_.begin());
  return &lists_.front();
}

void KnownLists::Halve() {
  const size_t left = std::max<size_t>(lists_.size() / 2, 1);
  while (lists_.size() > left) ForgetLast();
  kept_ = std::min(most_, std::max(left, kFewest));
}

void KnownLists::ForgetLast() {
  const auto last = std::prev(lists_.end());
  const auto range = by_hash_.equal_range(last->hash);
  for (auto at = range.first; at != range.second; at++) {
    if (at->second != last) continue;
    by_hash_.erase(at);
    break;
  }
  bytes_ -= BytesOf(last->list);
  lists_.erase(last);
}

namespace {

size_t Aligned(size_t bytes) { return (bytes + 15) / 16 * 16; }

}  // namespace

TwoSidedArena::TwoSidedArena(Device& device, size_t bytes)
    : device_(device), main_(Allocate(std::max<size_t>(Aligned(bytes), 16), true)) {}

TwoSidedArena::~TwoSidedArena() {
  Free(&main_);
  for (std::vector<Piece>& pieces : more_) {
    for (Piece& piece : pieces) Free(&piece);
  }
}

TwoSidedArena::Piece TwoSidedArena::Allocate(size_t bytes, bool both) {
  Piece piece;
  try {
    piece.bytes = bytes;
    piece.device = static_cast<char*>(device_.Allocate(bytes));
    piece.host[turn_] = static_cast<char*>(device_.AllocateHost(bytes));
    if (both) piece.host[1 - turn_] = static_cast<char*>(device_.AllocateHost(bytes));
  } catch (...) {
    Free(&piece);
    throw;
  }
  return piece;
}

void TwoSidedArena::Free(Piece* piece) {
  if (piece->device != nullptr) device_.Free(piece->device);
  for (char* host : piece->host) {
    if (host != nullptr) device_.FreeHost(host);
  }
  *piece = {};
}

void TwoSidedArena::Begin(int turn) {
  turn_ = turn;
  main_.used = 0;
  for (Piece& piece : more_[turn]) Free(&piece);
  more_[turn].clear();
  if (!WillGrow()) return;
  size_t bytes = main_.bytes;
  while (bytes < wanted_) bytes *= 2;
  device_.Wait();  // a list that is under way has the old one
  Piece larger = Allocate(bytes, true);
  Free(&main_);
  main_ = larger;
}

bool TwoSidedArena::Fits(const Piece& piece, size_t bytes) { return bytes <= piece.bytes - piece.used; }

TwoSidedArena::Place TwoSidedArena::Take(size_t bytes) {
  bytes = Aligned(bytes);
  std::vector<Piece>& more = more_[turn_];
  Piece* piece = more.empty() ? &main_ : &more.back();
  if (!Fits(*piece, bytes)) {
    more.push_back(Allocate(std::max(bytes, main_.bytes), false));
    piece = &more.back();
  }
  const Place place = {piece->host[turn_] + piece->used, piece->device + piece->used};
  piece->used += bytes;
  size_t all = main_.used;
  for (const Piece& one : more) all += one.used;
  wanted_ = std::max(wanted_, all);
  return place;
}

void TwoSidedArena::Send() {
  if (main_.used > 0) device_.Send(main_.device, main_.host[turn_], main_.used);
  for (const Piece& piece : more_[turn_]) device_.Send(piece.device, piece.host[turn_], piece.used);
}

void TwoSidedArena::Fetch() {
  if (main_.used > 0) device_.Fetch(main_.host[turn_], main_.device, main_.used);
  for (const Piece& piece : more_[turn_]) device_.Fetch(piece.host[turn_], piece.device, piece.used);
}

}  // namespace parley::cuda
