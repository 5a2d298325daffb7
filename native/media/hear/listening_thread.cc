#include "media/hear/listening_thread.h"

#include <algorithm>
#include <utility>

namespace parley {

void ListeningWork::Tick(const std::vector<std::shared_ptr<ListeningCall>>& calls, int64_t at_ns,
                         int64_t now_ns) {
  const int64_t quantum = (at_ns - time_.start_ns()) / SentSound::kQuantumNs;
  const bool ends_window = quantum % kQuantaOfWindow == kQuantaOfWindow - 1;
  for (const auto& call : calls) {
    ListeningCall::Result result = call->Tick({at_ns, now_ns, ends_window});
    if (result.ears && std::find(announced_.begin(), announced_.end(), result.ears) == announced_.end()) {
      announced_.push_back(std::move(result.ears));
    }
    if (!result.ended && result.tones.count == 0) continue;
    const auto owner = call->owner();
    if (!owner) continue;
    for (size_t n = 0; n < result.tones.count; n++) owner->OnTone(result.tones.list[n]);
    if (result.ended) owner->OnListenerEnded();
  }
  for (const auto& ears : announced_) ears->Announce(at_ns + SentSound::kQuantumNs);
  announced_.clear();
}

}  // namespace parley
