#include "runtime/live_input.h"

#include <algorithm>
#include <utility>

namespace parley::runtime {
namespace {

constexpr size_t kOneLook = size_t{30} * SoundReader::kRate;  // samples: a backlog is recognised as one

}  // namespace

LiveInput::LiveInput(const RecognitionRequest& request) : rate_(request.rate) {
  for (const PlacedOrder& order : request.orders) Add(order);
}

void LiveInput::Add(const PlacedOrder& order) {
  if (orders_.size() > kMostOrders) return;
  const uint64_t before = orders_.empty() ? 0 : orders_.back().at;
  orders_.push_back({order.order, std::max(order.at, before)});
}

bool LiveInput::Read(SoundReader& reader, std::string* problem) {
  if (orders_.size() > kMostOrders) {
    *problem = "more than " + std::to_string(kMostOrders) + " orders about turns wait";
    return false;
  }
  const size_t most = std::min(kOneLook, kMost - std::min(kMost, sound_.size()));
  return most == 0 || reader.Read(most, &sound_, problem);
}

// All of the source's sound before the order was read.
bool LiveInput::IsDue(const SoundReader& reader) const {
  return !orders_.empty() && (reader.source_samples() >= orders_.front().at || reader.ended());
}

std::vector<float> LiveInput::TakeSound(const SoundReader& reader) {
  size_t count = sound_.size();
  if (IsDue(reader)) {
    const uint64_t place = orders_.front().at * SoundReader::kRate / rate_;
    count = std::min(count, static_cast<size_t>(std::max(place, taken_) - taken_));
  }
  taken_ += count;
  if (count == sound_.size()) return std::exchange(sound_, {});
  const auto end = sound_.begin() + static_cast<ptrdiff_t>(count);
  std::vector<float> taken(sound_.begin(), end);
  sound_.erase(sound_.begin(), end);
  return taken;
}

std::optional<TurnOrder> LiveInput::TakeOrder(const SoundReader& reader) {
  if (!IsDue(reader)) return std::nullopt;
  const TurnOrder order = orders_.front().order;
  orders_.pop_front();
  return order;
}

bool LiveInput::Finished(const SoundReader& reader) const {
  return reader.ended() && sound_.empty() && orders_.empty();
}

}  // namespace parley::runtime
