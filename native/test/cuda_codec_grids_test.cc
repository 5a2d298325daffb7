// The number of grids that a frame of the full-size codec takes: a few streams wait for each of them, some 4
// us. On a device that runs nothing, as large as an H200.
#include <memory>
#include <vector>

#include "kernels/cuda/cuda_kernels.h"
#include "model/speech/codec_decoder.h"
#include "model/speech/codec_state.h"
#include "test/check.h"
#include "test/emulator/idle_device.h"
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

  // Number of grids in a pass of `streams` with `frames` each, after its graph was captured.
  uint64_t Grids(size_t streams, size_t frames) {
    std::vector<std::unique_ptr<model::CodecState>> states;
    std::vector<model::CodecDecoder::Job> jobs;
    const std::vector<int32_t> codes(frames * 16);
    std::vector<float> samples(streams * frames * decoder_.frame_samples());
    for (size_t n = 0; n < streams; n++) {
      states.push_back(decoder_.NewState());
      jobs.push_back({states.back().get(), codes.data(), frames,
                      samples.data() + n * frames * decoder_.frame_samples()});
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
  CHECK_EQ(codec.Grids(1, 1), 117u);
  CHECK_EQ(codec.Grids(2, 1), 117u);
  CHECK_EQ(codec.Grids(1, 2), 125u);
  CHECK_EQ(codec.Grids(3, 1), 119u);
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(cuda_codec_grids) {
  using namespace parley::test;
  return Run({{"a frame of one stream takes few grids", AFrameOfOneStreamTakesFewGrids}});
}
