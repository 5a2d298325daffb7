// How many grids a frame of the full-size codec takes: a few streams wait for each of them, some 4 us. On a device that runs nothing, as large as an H200;
// and on an emulated one that its transformer as one grid gives the bits of its layers one by one, through the whole codec.
#include <memory>
#include <vector>

#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/emulator/idle_device.h"
#include "model/codec_decoder.h"
#include "model/codec_state.h"
#include "test/check.h"
#include "test/cuda_backend.h"
#include "test/kernel_inputs.h"
#include "test/random_codec.h"

namespace parley::test {
namespace {

class Codec {
 public:
  Codec()
      : files_({1024, 512, 1536, 512, 1024, 8, 16, 16, 64, 72, {2, 2}, {8, 5, 4, 3}}, kBlank),
        checkpoint_(files_.Open()),
        kernels_(std::make_unique<cuda::emulator::IdleDevice>(), {}),
        decoder_(kernels_, *checkpoint_, Format::kBf16) {}

  void Fuse(cuda::Fused what, bool on) { kernels_.Fuse(static_cast<size_t>(what), on); }

  // Of a pass of so many streams and frames of each, once its lists are known.
  uint64_t Grids(size_t streams, size_t frames) {
    std::vector<std::unique_ptr<model::CodecState>> states;
    std::vector<model::CodecDecoder::Job> jobs;
    const std::vector<int32_t> codes(frames * 16);
    std::vector<float> samples(streams * frames * decoder_.frame_samples());
    for (size_t n = 0; n < streams; n++) {
      states.push_back(decoder_.NewState());
      jobs.push_back({states.back().get(), codes.data(), frames, samples.data() + n * frames * decoder_.frame_samples()});
    }
    uint64_t before = 0;
    for (int n = 0; n < 3; n++) {
      before = kernels_.TheRecorder().Counters().nodes;
      decoder_.Decode(jobs.data(), jobs.size());
    }
    return kernels_.TheRecorder().Counters().nodes - before;
  }

 private:
  const RandomCodec files_;
  const std::unique_ptr<const model::Checkpoint> checkpoint_;
  cuda::CudaKernels kernels_;
  model::CodecDecoder decoder_;
};

void AFrameOfOneStreamTakesFewGrids() {
  Codec codec;
  CHECK_EQ(codec.Grids(1, 1), 63u);
  CHECK(codec.Grids(2, 1) <= 70);
  CHECK(codec.Grids(1, 2) <= 70);  // two rows go through the transformer's layers at once too
  CHECK(codec.Grids(3, 1) <= 74);
}

// One stream's frame, and what of it each fusion saves.
void EachFusionSavesItsGrids() {
  const std::pair<cuda::Fused, uint64_t> saved[] = {
      {cuda::Fused::kLatent, 39}, {cuda::Fused::kUnits, 6}, {cuda::Fused::kSnaked, 9}, {cuda::Fused::kActivated, 4}, {cuda::Fused::kGathered, 2}};
  Codec codec;
  for (const auto& [fusion, grids] : saved) {
    codec.Fuse(fusion, false);
    CHECK_EQ(codec.Grids(1, 1) - 63u, grids);
    codec.Fuse(fusion, true);
  }
  CHECK_EQ(codec.Grids(1, 1), 63u);
}

// Frames one by one, then two and three at once, on so many multiprocessors, with all fusions or none; and how many grids that took.
std::vector<float> Decoded(const model::Checkpoint& checkpoint, int multiprocessors, bool fused, uint64_t* grids) {
  cuda::emulator::DeviceOptions device;
  device.multiprocessors = multiprocessors;
  const auto kernels = MakeCudaKernels({}, device);
  for (size_t n = 0; n < kernels->Fusions().size(); n++) kernels->Fuse(n, fused);
  model::CodecDecoder decoder(*kernels, checkpoint, Format::kBf16);
  const auto state = decoder.NewState();
  std::vector<int32_t> codes(7 * 16);
  for (size_t i = 0; i < codes.size(); i++) codes[i] = static_cast<int32_t>(i * 29 % 128);
  std::vector<float> samples(7 * decoder.frame_samples());
  kernels->Wait();
  const uint64_t before = kernels->TheRecorder().Counters().nodes;
  size_t done = 0;
  for (const size_t frames : {1, 1, 2, 3}) {
    const model::CodecDecoder::Job job{state.get(), codes.data() + done * 16, frames, samples.data() + done * decoder.frame_samples()};
    decoder.Decode(&job, 1);
    done += frames;
  }
  *grids = kernels->TheRecorder().Counters().nodes - before;
  return samples;
}

// With the window of a stream that has just begun to look back, so that it rolls.
void TheTransformerAsOneGridGivesTheSameSound() {
  const RandomCodec files({64, 32, 32, 512, 1024, 1, 16, 16, 64, 3, {2}, {2, 2}});
  const auto checkpoint = files.Open();
  uint64_t whole = 0, pieces = 0, none = 0;
  const std::vector<float> sound = Decoded(*checkpoint, 64, true, &whole);
  CHECK(SameBits(sound, Decoded(*checkpoint, 4, true, &pieces)));
  CHECK(sound.front() != 0 && sound.front() != sound.back());
  // Heads, attention, o, gate with up, and down are one; of rows of one stream heads are placed by a grid of their own.
  CHECK_EQ(pieces - whole, 2 * 4u + 2 * 5u);
  CHECK(SameBits(sound, Decoded(*checkpoint, 64, false, &none)));
  CHECK(none > pieces);
}

}  // namespace
}  // namespace parley::test

int main() {
  using namespace parley::test;
  return Run({{"a frame of one stream takes few grids", AFrameOfOneStreamTakesFewGrids},
              {"each fusion saves its grids", EachFusionSavesItsGrids},
              {"the transformer as one grid gives the same sound", TheTransformerAsOneGridGivesTheSameSound}});
}
