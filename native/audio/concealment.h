// Conceals lost sound of a waveform codec by pitch repetition, as ITU-T G.711 Appendix I does.
//
// After 10 ms the sound fades, and from 60 ms on it is silence. The first good samples after a loss are
// overlap-added with the continued repetition. Unlike Appendix I, this delays nothing: a decaying offset
// joins the repetition to the last good sample.
#ifndef PARLEY_AUDIO_CONCEALMENT_H_
#define PARLEY_AUDIO_CONCEALMENT_H_

#include <array>
#include <cstddef>

namespace parley {

class Concealment {
 public:
  // `rate` is 8000, 16,000 or 24,000 Hz.
  explicit Concealment(size_t rate);

  // Takes good samples. Changes the first of them after a loss.
  void Accept(float* samples, size_t count);
  void Conceal(size_t count, float* out);
  void Reset();

 private:
  static constexpr size_t kMostHistory = 1170;  // 48.75 ms at 24 kHz

  void Begin();
  float Next();
  float RepeatedAt(size_t periods, size_t offset) const;
  void AddPeriod();
  size_t EstimatePitch() const;
  double Likeness(size_t lag, size_t step) const;
  void Remember(const float* samples, size_t count);

  // Samples of 10 ms, the history, and the quarter of a period that overlaps.
  const size_t ten_ms_, history_size_;
  size_t pitch_, quarter_;
  std::array<float, kMostHistory> history_{};  // what was returned, newest last
  std::array<float, kMostHistory> before_{};   // the same, at the beginning of the loss

  bool lost_ = false;
  size_t elapsed_ = 0;  // of the loss, at most 60 ms
  size_t periods_ = 1, offset_ = 0;
  size_t older_left_ = 0, older_offset_ = 0;  // of the repetition with one period fewer
  float bridge_ = 0;
  size_t join_size_ = 0, joined_ = 0;
};

}  // namespace parley

#endif  // PARLEY_AUDIO_CONCEALMENT_H_
