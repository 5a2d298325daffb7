#include "runtime/file_recognition.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "model/recognition/speech_energy.h"
#include "model/text/tokenizer.h"

namespace parley::runtime {
namespace {

constexpr size_t kFileLook = SoundReader::kRate * 4;  // samples

}  // namespace

FileRecognition::FileRecognition(StreamId id, RecognitionRequest request, std::string language,
                                 model::RecognitionPrompt prompt, std::shared_ptr<SoundReader> reader,
                                 std::shared_ptr<TextSink> sink, const RecognitionSetup& setup,
                                 Clock::time_point now)
    : Recognition(id, std::move(request), std::move(reader), std::move(sink), now),
      setup_(setup),
      language_(std::move(language)),
      prompt_(std::move(prompt)),
      began_(now),
      splits_(static_cast<size_t>(this->request().piece_seconds * SoundReader::kRate)) {}

size_t FileRecognition::Bytes() const {
  size_t bytes = buffered_ * sizeof(float);
  for (const Piece& piece : pieces_) {
    if (piece.stream == nullptr) continue;
    bytes += piece.is_begun ? piece.stream->Bytes() : setup_.BytesOf(SecondsOf(piece.count));
  }
  return bytes;
}

std::shared_ptr<TextSink> FileRecognition::Leave(Clock::time_point now, RecognitionEnd* end) {
  pieces_.clear();
  return Recognition::Leave(now, end);
}

bool FileRecognition::Look(Clock::time_point, const Room& room) {
  if (ending()) return false;
  const auto under_way = [this] {
    return static_cast<size_t>(
        std::count_if(pieces_.begin(), pieces_.end(), [](const Piece& piece) { return !piece.is_done; }));
  };
  const size_t piece_bytes = setup_.BytesOf(request().piece_seconds);
  bool busy = BeginSome();
  const bool has_room = piece_bytes <= room.bytes || (room.is_next && under_way() == 0);
  // A look adds one piece at most, so that it is short.
  for (const size_t pieces = pieces_.size(); has_room && pieces_.size() == pieces;) {
    if (ending() || under_way() >= kTogether || !ReadPiece()) break;
    busy = true;
  }
  ReportDone();
  return busy;
}

// True: there was sound.
bool FileRecognition::ReadPiece() {
  std::vector<float> samples;
  std::string problem;
  if (!finished_ && splits_.Missing() > 0) {
    if (!reader().Read(std::min(kFileLook, splits_.Missing()), &samples, &problem)) {
      EndWith(Outcome::kBadRequest, std::move(problem));
      return true;
    }
    splits_.Push(samples.data(), samples.size());
    buffered_ += samples.size();
    if (reader().ended()) splits_.Finish(), finished_ = true;
    if (finished_ && reader().samples() < model::MelFeatures::kLeastSamples) {
      EndWith(Outcome::kBadRequest, reader().samples() == 0
                                        ? "the sound is empty"
                                        : "the sound is shorter than 13 ms, too short for speech");
      return true;
    }
  }
  auto piece = splits_.Next();
  if (!piece) return !samples.empty();
  buffered_ -= std::min(buffered_, piece->samples.size());
  AddPiece(std::move(*piece));
  return true;
}

void FileRecognition::AddPiece(model::QuietSplits::Piece sound) {
  model::Level(&sound.samples);
  pieces_.emplace_back();
  Piece& piece = pieces_.back();
  piece.first = sound.first;
  piece.count = sound.samples.size();
  model::SpeechEnergy energy;
  energy.Push(sound.samples.data(), sound.samples.size());
  piece.has_speech = energy.HasSpeech();
  piece.stream = std::make_unique<model::RecognitionStream>(*setup_.model, prompt_.head, setup_.cache_format);
  piece.stream->Push(sound.samples.data(), sound.samples.size());
}

// Computes features of the first piece that needs them, and after the last of them begins its pass. Returns
// false if no piece needs any.
bool FileRecognition::BeginSome() {
  const auto found =
      std::find_if(pieces_.begin(), pieces_.end(), [](const Piece& one) { return !one.is_begun; });
  if (found == pieces_.end()) return false;
  if (found->stream->Settle(kFramesALook)) return true;
  found->is_begun = true;
  model::Pass pass;
  pass.tail = prompt_.tail;
  pass.max_new_tokens = MostIdsOf(found->count);
  pass.cuts_loops = true;
  try {
    if (!found->stream->BeginPass(std::move(pass))) found->is_done = true;
  } catch (const std::length_error& error) {
    EndWith(Outcome::kTooLarge, error.what());
  }
  return true;
}

void FileRecognition::AddWanted(std::vector<WantedPass>* wanted) {
  if (ending()) return;
  // Files share the time: the one whose sound came less far goes first.
  const Clock::time_point due =
      began_ + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(done_seconds_));
  for (const Piece& piece : pieces_) {
    if (piece.is_begun && !piece.is_done)
      wanted->push_back({piece.stream.get(), this, Rank::kFiles, false, due});
  }
}

void FileRecognition::Advanced(model::RecognitionStream* stream, Clock::time_point) {
  if (stream->turn() != model::RecognitionStream::Turn::kDone) return;
  for (Piece& piece : pieces_) {
    if (piece.stream.get() == stream && !piece.is_done) TakeText(&piece);
  }
  ReportDone();
}

void FileRecognition::TakeText(Piece* piece) {
  const model::RecognitionStream& stream = *piece->stream;
  if (!PassIsGood(stream, 0)) return;
  const std::string raw =
      TextOf(setup_.model->checkpoint().tokenizer(), stream.generated(), model::Special::kSkipped);
  piece->transcript = model::ParseTranscript(raw, language_);
  piece->is_done = true;
  done_seconds_ += SecondsOf(piece->count);
  piece->stream.reset();
}

void FileRecognition::ReportDone() {
  while (!ending() && !pieces_.empty() && pieces_.front().is_done) {
    const Piece piece = std::move(pieces_.front());
    pieces_.pop_front();
    RecognisedText text;
    text.part = reported_++;
    text.final = true;
    text.text = WithoutEcho(piece.transcript.text, last_text_, {SecondsOf(piece.count), piece.has_speech});
    last_text_ = text.text;
    text.stable = text.text.size();
    text.language = piece.transcript.language;
    text.begin_seconds = SecondsOf(piece.first);
    text.end_seconds = SecondsOf(piece.first + piece.count);
    counts_.sound_seconds += SecondsOf(piece.count);
    Report(text);
  }
  if (finished_ && pieces_.empty() && !splits_.HasMore()) EndWith(Outcome::kDone, "");
}

}  // namespace parley::runtime
