#include "runtime/speech_mailbox.h"

namespace parley::runtime {

StreamId SpeechMailbox::Start(SpeechRequest request, std::shared_ptr<SpeechSink> sink) {
  StreamId id = 0;
  Leave([&](Orders& orders) {
    orders.arrivals.push_back({last_id_ + 1, std::move(request), std::move(sink), now_()});
    id = ++last_id_;
  });
  return id;
}

void SpeechMailbox::AddText(StreamId stream, std::string text, bool last) {
  Leave([&](Orders& orders) { orders.texts.push_back({stream, std::move(text), last}); });
}

void SpeechMailbox::Cancel(StreamId stream) {
  Leave([&](Orders& orders) { orders.cancels.push_back(stream); });
}

}  // namespace parley::runtime
