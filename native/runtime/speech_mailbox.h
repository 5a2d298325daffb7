// Requests to the speech engine, from any thread to its device's.
#ifndef PARLEY_RUNTIME_SPEECH_MAILBOX_H_
#define PARLEY_RUNTIME_SPEECH_MAILBOX_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/engine.h"
#include "runtime/mailbox.h"

namespace parley::runtime {

struct Arrival {
  StreamId id = 0;
  SpeechRequest request;
  std::shared_ptr<SpeechSink> sink;
  Clock::time_point at;
};

struct MoreText {
  StreamId stream;
  std::string text;
  bool last;
};

struct Orders {
  std::vector<Arrival> arrivals;
  std::vector<MoreText> texts;
  std::vector<StreamId> cancels;
  bool close = false;
};

class SpeechMailbox : public Mailbox<Orders> {
 public:
  explicit SpeechMailbox(TimeSource now, std::shared_ptr<Signal> signal = std::make_shared<Signal>())
      : Mailbox(std::move(signal)), now_(std::move(now)) {}

  StreamId Start(SpeechRequest request, std::shared_ptr<SpeechSink> sink);
  void AddText(StreamId stream, std::string text, bool last);
  void Cancel(StreamId stream);

 private:
  const TimeSource now_;
  StreamId last_id_ = 0;  // guarded by the mailbox
};

}  // namespace parley::runtime

#endif  // PARLEY_RUNTIME_SPEECH_MAILBOX_H_
