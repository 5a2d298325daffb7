#include "kernels/cuda/device/recorder.h"

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

// What is under way uses the arenas and the graphs.
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

// Null where the device has no memory for one more: then half of the others go, and this list, the last one used, runs grid by grid once more. So it
// does while no graph is tried.
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
    device_.Wait();  // what goes may be under way
    known_.Halve();
    return nullptr;
  }
}

void Recorder::RunList() {
  counters_.nodes += list_.nodes.size();
  KnownList* known = options_.graphs ? known_.Find(list_) : nullptr;
  const bool is_new = known == nullptr;
  if (options_.graphs && is_new) {
    if (known_.IsFullFor(list_)) device_.Wait();  // what goes may be under way
    known = known_.Remember(list_);
  }
  const bool wanted = known != nullptr && (!is_new || options_.capture_at_once);
  if (wanted && known->graph == nullptr) known->graph = Captured();
  if (!wanted || known->graph == nullptr) {
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

// What cannot be started is given up.
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

}  // namespace parley::cuda
