// G.722 at 64 kbit/s: 16 kHz sound, one byte for two samples.
//
//   16 kHz ─▶ QMF ─┬─ low band ─▶ ADPCM, 6 bits ─┐
//                  └─ high band ▶ ADPCM, 2 bits ─┴─▶ high << 6 | low
//
// The decoder goes the same way in reverse. All arithmetic is the 16-bit fixed point of ITU-T G.722, so
// that every bit equals those of other implementations.
#ifndef PARLEY_AUDIO_G722_H_
#define PARLEY_AUDIO_G722_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace parley {

// The predictor and the scale of one band. Names are those of the blocks of ITU-T G.722, sections 3, 4 and
// 6.2.
class G722Band {
 public:
  explicit G722Band(int first_scale) : first_scale_(first_scale), scale_(first_scale) {}

  int estimate() const { return s_; }
  int scale() const { return scale_; }
  void Reset() { *this = G722Band(first_scale_); }
  // LOGSCL and SCALEL, or LOGSCH and SCALEH: `shift` is 8 for the low band, 10 for the high band.
  void AdaptScale(int weight, int most, int shift);
  // Block 4: takes the quantized difference and makes the next estimate.
  void Predict(int difference);

 private:
  static constexpr int kZeros = 6;

  void AdaptPoles();
  void AdaptZeros(int difference);
  int Poles() const;
  int Zeros();

  int first_scale_, scale_;
  int log_scale_ = 0;
  int s_ = 0, sz_ = 0;
  // The reconstructed and partly reconstructed signals, poles, differences and zeros; index 0 is now.
  std::array<int, 3> r_{}, p_{}, a_{};
  std::array<int, kZeros + 1> d_{}, b_{};
};

constexpr size_t kG722Taps = 24;
constexpr size_t kG722Chunk = 80;  // pairs of samples

// The newest kG722Taps - 2 samples, then those of a chunk.
using G722Window = std::array<int, kG722Taps - 2 + 2 * kG722Chunk>;

class G722Encoder {
 public:
  // Reads two samples for each of the bytes.
  void Encode(const int16_t* samples, size_t bytes, uint8_t* out);
  void Reset() { *this = G722Encoder(); }

 private:
  G722Band low_{32}, high_{8};
  G722Window window_{};
};

class G722Decoder {
 public:
  // Writes two samples for each of the bytes.
  void Decode(const uint8_t* payload, size_t bytes, int16_t* out);
  // Adapts to sound that replaces lost bytes, as if it had been decoded from them.
  void Follow(const int16_t* samples, size_t pairs);
  void Reset() { *this = G722Decoder(); }

 private:
  void DecodeChunk(const uint8_t* payload, size_t bytes, int16_t* out);
  void FollowChunk(const int16_t* samples, size_t pairs);

  G722Band low_{32}, high_{8};
  G722Window bands_{};    // sums and differences of both bands
  G722Window sounded_{};  // what was written or followed
};

}  // namespace parley

#endif  // PARLEY_AUDIO_G722_H_
