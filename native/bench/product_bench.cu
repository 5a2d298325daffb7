// Measures the cost of each way to cut a product on this GPU: the figures that
// kernels/cuda/products/product_plan.h is fitted to.
//
//   product_bench [vectors: 1,8,16,32,64,128,256,512,1024] [weights: bf16,int8,fp8]
//
// A line for each shape of the 1.7B model's products and number of vectors: microseconds of every plan, one
// product behind the other in one graph, weights from memory. The plan that is chosen is marked. For weights
// of 8 bits, the first line states if they give the bits of the same numbers in bf16.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "kernels/cuda/device/device.h"
#include "kernels/cuda/device/recorder.h"
#include "kernels/cuda/device/work_room.h"
#include "kernels/cuda/products/products.cuh"

namespace parley::cuda {
namespace {

constexpr size_t kInRow = 60;           // products of a graph
constexpr size_t kWeights = 300 << 20;  // bytes at least, so that they are not in the cache

struct Shape {
  const char* name;
  size_t rows, columns;
  bool gated;
};

constexpr Shape kShapes[] = {
    {"talker qkv", 4096, 2048, false},       {"talker o", 2048, 2048, false},
    {"talker gate up", 6144, 2048, true},    {"talker down", 2048, 6144, false},
    {"predictor qkv", 4096, 1024, false},    {"predictor o", 1024, 2048, false},
    {"predictor gate up", 3072, 1024, true}, {"predictor down", 1024, 3072, false},
    {"codec conv 768", 768, 5376, false},    {"codec conv 96", 96, 672, false},
};

class Bench {
 public:
  explicit Bench(Device& device) : device_(device), recorder_(device, Options()), room_(device) {
    std::mt19937 random(1);
    weights_ = static_cast<char*>(device.Allocate(kWeights));
    scales_ = static_cast<float*>(device.Allocate(6144 * 4));
    std::vector<float> x(size_t{1024} * 6144);
    for (float& value : x) value = static_cast<float>(random() % 2000) / 1000 - 1;
    x_ = static_cast<float*>(device.Allocate(x.size() * 4));
    device.Upload(x_, x.data(), x.size() * 4);
    y_ = static_cast<float*>(device.Allocate(size_t{1024} * 6144 * 4));
  }

  // From here on weights are of this format, any numbers; or a few of `like` in bf16.
  void Take(Format format) {
    format_ = format;
    std::mt19937 random(1);
    std::vector<uint32_t> weights(kWeights / 4);
    for (uint32_t& weight : weights)
      weight =
          format == Format::kBf16 ? 0x3c003c00 | (random() & 0x83ff83ff) : static_cast<uint32_t>(random());
    device_.Upload(weights_, weights.data(), kWeights);
    const std::vector<float> scales(6144, format == Format::kInt8 ? 1e-4f : 1e-5f);
    device_.Upload(scales_, scales.data(), scales.size() * 4);
    is_scaled_ = HasScales(format);
  }
  void TakeWidened(Format like, size_t count) {
    std::vector<uint8_t> codes(count);
    device_.Download(codes.data(), weights_, count);
    std::vector<Bf16> wide;
    for (const uint8_t code : codes) {
      const float fp8 = (code & 0x7f) == 0x7f ? (code < 0x80 ? 480.0f : -480.0f) : ToFloat(Fp8{code});
      wide.push_back(ToBf16(like == Format::kFp8 ? fp8 : static_cast<float>(static_cast<int8_t>(code))));
    }
    format_ = Format::kBf16;
    is_scaled_ = false;
    device_.Upload(weights_, wide.data(), count * 2);
  }

  // With scales of their rows, or bare numbers.
  void Scale(bool is_scaled) { is_scaled_ = is_scaled; }

  // In `bits` what the product was, to be compared with that of other plans.
  double Of(const Shape& shape, size_t count, const Plan& plan, uint64_t* bits, size_t in_row = kInRow) {
    double best = 1e9;
    for (int n = 0; n < 3; n++) {
      Record(shape, count, plan, in_row);
      const auto began = std::chrono::steady_clock::now();
      recorder_.Wait();
      const double us =
          std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count();
      if (n > 0 && us / static_cast<double>(in_row) < best) best = us / static_cast<double>(in_row);
    }
    std::vector<uint32_t> y(count * shape.rows);
    device_.Download(y.data(), y_, y.size() * 4);
    for (const uint32_t value : y) *bits = (*bits ^ value) * 0x9E3779B97F4A7C15u;
    return best;
  }

 private:
  static RecorderOptions Options() {
    RecorderOptions options;
    options.capture_at_once = true;
    options.most_graphs = 4;
    return options;
  }

  void Record(const Shape& shape, size_t count, const Plan& plan, size_t in_row) {
    const size_t bytes = shape.rows * shape.columns * BytesOf(format_);
    size_t at = 0;
    const auto next = [&] {
      if (at + bytes > kWeights) at = 0;
      at += bytes;
      return Matrix{format_, weights_ + at - bytes, is_scaled_ ? scales_ : nullptr, shape.rows,
                    shape.columns};
    };
    for (size_t n = 0; n < in_row; n++) {
      const LaidVectors laid = LayVectors(recorder_, Rows(x_, count, shape.columns));
      ProductArgs args = ArgsFor(next(), y_, laid.view);
      if (shape.gated) TakeMatrix(next(), nullptr, 1, &args);
      EnqueuePlanned(recorder_, room_, plan, shape.gated, args, laid);
    }
  }

  Device& device_;
  Recorder recorder_;
  WorkRoom room_;
  Format format_ = Format::kBf16;
  bool is_scaled_ = false;
  char* weights_;
  float *scales_, *x_, *y_;
};

std::string NameOf(const Plan& plan) {
  return std::string(plan.cut == Cut::kGemv         ? "few"
                     : plan.cut == Cut::kSkinnyGemm ? "many"
                     : plan.cut == Cut::kTiledGemm  ? "wide"
                                                    : "split") +
         std::to_string(plan.tiles) + "x" + std::to_string(plan.octets);
}

// All that are worth a look.
std::vector<Plan> PlansFor(Format format, bool gated, size_t bucket) {
  std::vector<Plan> plans;
  for (uint32_t octets = bucket <= 8 ? 1 : 2; octets <= 4; octets *= 2) {
    if (octets > 1 && octets * 4 >= bucket) continue;
    for (uint32_t tiles = 1; tiles <= MostTiles(format, octets, gated); tiles *= 2)
      plans.push_back({Cut::kGemv, tiles, octets});
  }
  if (bucket <= 8) return plans;
  plans.insert(plans.end(), {{Cut::kSkinnyGemm, 2, 2},
                             {Cut::kSkinnyGemm, 4, 4},
                             {Cut::kTiledGemm, 4, 16},
                             {Cut::kTiledGemm, 8, 16},
                             {Cut::kTiledGemm, 4, 8},
                             {Cut::kSplitK, 4, 8}});
  if (!HasScales(format)) plans.push_back({Cut::kTiledGemm, 6, 16});
  if (!HasScales(format) && !gated) plans.push_back({Cut::kSplitK, 8, 8});
  return plans;
}

const char* NameOf(Format format) {
  return format == Format::kBf16 ? "bf16" : format == Format::kInt8 ? "int8" : "fp8";
}

// Every way to cut a product of one row more than fill a tile, with any codes, beside one of the same numbers
// in bf16.
bool MeansTheSameInBf16(Bench* bench, Format format) {
  constexpr Shape kOne{"", 136, 2080, false};
  std::vector<uint64_t> seen;
  bench->Scale(false);
  for (const Plan& plan : PlansFor(format, false, 256)) bench->Of(kOne, 200, plan, &seen.emplace_back(0), 1);
  bench->TakeWidened(format, kOne.rows * kOne.columns);
  uint64_t wanted = 0;
  bench->Of(kOne, 200, {Cut::kGemv, 1, 2}, &wanted, 1);
  bench->Take(format);
  return std::all_of(seen.begin(), seen.end(), [&](uint64_t bits) { return bits == wanted; });
}

bool Line(Bench* bench, Format format, const Shape& shape, size_t count) {
  const size_t bucket = BucketOf(count);
  const Plan chosen = PlanOf({format, shape.rows, shape.columns, shape.gated, bucket, true, true});
  std::printf("%s %-18s %4zu:", NameOf(format), shape.name, count);
  uint64_t wanted = 0;
  bool is_right = true;
  for (const Plan& plan : PlansFor(format, shape.gated, bucket)) {
    uint64_t bits = 0;
    const double us = bench->Of(shape, count, plan, &bits);
    if (wanted == 0) wanted = bits;
    is_right = is_right && bits == wanted;
    std::printf(" %s%s %.1f%s", plan == chosen ? "*" : "", NameOf(plan).c_str(), us,
                bits == wanted ? "" : " (OTHER BITS)");
  }
  std::printf("\n");
  std::fflush(stdout);
  return is_right;
}

// True if all bits were those of the others. The codec's weights are never of 8 bits.
bool Lines(Bench* bench, Format format, const std::vector<size_t>& vectors) {
  bool is_right = !HasScales(format) || MeansTheSameInBf16(bench, format);
  if (HasScales(format))
    std::printf("%s: %s\n", NameOf(format),
                is_right ? "the bits of the same numbers in bf16"
                         : "OTHER BITS than those of the same numbers in bf16");
  for (const Shape& shape : kShapes) {
    if (HasScales(format) && std::string(shape.name).find("codec") == 0) continue;
    for (const size_t count : vectors) is_right = Line(bench, format, shape, count) && is_right;
  }
  return is_right;
}

}  // namespace
}  // namespace parley::cuda

int main(int count, char** arguments) {
  using namespace parley::cuda;
  try {
    const auto device = OpenGpu({0});
    Bench bench(*device);
    std::vector<size_t> vectors;
    const std::string list = count > 1 ? arguments[1] : "1,8,16,32,64,128,256,512,1024";
    for (const char* at = list.c_str(); *at != 0;) {
      char* end = nullptr;
      vectors.push_back(std::strtoul(at, &end, 10));
      if (end == at || vectors.back() == 0 || vectors.back() > 1024)
        return std::fprintf(stderr, "vectors are 1 to 1024, with commas between them\n"), 2;
      at = *end == ',' ? end + 1 : end;
    }
    const std::string formats = std::string(count > 2 ? arguments[2] : "bf16,int8,fp8") + ",";
    bool is_right = true;
    for (const parley::Format format : {parley::Format::kBf16, parley::Format::kInt8, parley::Format::kFp8}) {
      if (formats.find(std::string(NameOf(format)) + ",") == std::string::npos) continue;
      bench.Take(format);
      is_right = Lines(&bench, format, vectors) && is_right;
    }
    return is_right ? 0 : 1;
  } catch (const std::exception& problem) {
    return std::fprintf(stderr, "product_bench: %s\n", problem.what()), 1;
  }
}
