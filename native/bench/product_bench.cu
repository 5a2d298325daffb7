// What each way to cut a product costs on this GPU: the figures that kernels/cuda/product_plan.h is fitted to.
//
//   product_bench [vectors: 1,8,16,32,64,128,256,512,1024]
//
// A line for each shape of the 1.7B model's products and number of vectors: microseconds of every plan, one product behind the other in one
// graph, weights from memory. The plan that is chosen is marked.
#include <cstdio>
#include <cstdlib>
#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "kernels/cuda/gpu_device.h"
#include "kernels/cuda/products.cuh"
#include "kernels/cuda/recorder.h"
#include "kernels/cuda/work_room.h"

namespace parley::cuda {
namespace {

constexpr size_t kInRow = 60;         // products of a graph
constexpr size_t kWeights = 300 << 20;  // bytes at least, so that they are not in the cache

struct Shape {
  const char* name;
  size_t rows, columns;
  bool gated;
};

constexpr Shape kShapes[] = {
    {"talker qkv", 4096, 2048, false},     {"talker o", 2048, 2048, false},  {"talker gate up", 6144, 2048, true},
    {"talker down", 2048, 6144, false},    {"predictor qkv", 4096, 1024, false}, {"predictor o", 1024, 2048, false},
    {"predictor gate up", 3072, 1024, true}, {"predictor down", 1024, 3072, false}, {"codec conv 768", 768, 5376, false},
    {"codec conv 96", 96, 672, false},
};

class Bench {
 public:
  explicit Bench(Device& device) : device_(device), recorder_(device, Options()), room_(device) {
    std::mt19937 random(1);
    std::vector<uint16_t> weights(kWeights / 2);
    for (uint16_t& weight : weights) weight = static_cast<uint16_t>(0x3c00 | (random() & 0x83ff));
    weights_ = static_cast<char*>(device.Allocate(kWeights));
    device.Upload(weights_, weights.data(), kWeights);
    std::vector<float> x(size_t{1024} * 6144);
    for (float& value : x) value = static_cast<float>(random() % 2000) / 1000 - 1;
    x_ = static_cast<float*>(device.Allocate(x.size() * 4));
    device.Upload(x_, x.data(), x.size() * 4);
    y_ = static_cast<float*>(device.Allocate(size_t{1024} * 6144 * 4));
  }

  // In `bits` what the product was, to be compared with that of other plans.
  double Of(const Shape& shape, size_t count, const Plan& plan, uint64_t* bits) {
    double best = 1e9;
    for (int n = 0; n < 3; n++) {
      Record(shape, count, plan);
      const auto began = std::chrono::steady_clock::now();
      recorder_.Wait();
      const double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - began).count();
      if (n > 0 && us / kInRow < best) best = us / kInRow;
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

  void Record(const Shape& shape, size_t count, const Plan& plan) {
    const size_t bytes = shape.rows * shape.columns * 2;
    size_t at = 0;
    const auto next = [&] {
      if (at + bytes > kWeights) at = 0;
      at += bytes;
      return Matrix{Format::kBf16, weights_ + at - bytes, nullptr, shape.rows, shape.columns};
    };
    for (size_t n = 0; n < kInRow; n++) {
      const LaidVectors laid = LayVectors(recorder_, Rows(x_, count, shape.columns));
      ProductArgs args = ArgsFor(next(), y_, laid.view);
      if (shape.gated) TakeMatrix(next(), nullptr, 1, &args);
      EnqueuePlanned(recorder_, room_, plan, shape.gated, args, laid);
    }
  }

  Device& device_;
  Recorder recorder_;
  WorkRoom room_;
  char* weights_;
  float *x_, *y_;
};

std::string NameOf(const Plan& plan) {
  return std::string(plan.cut == Cut::kFew ? "few" : plan.cut == Cut::kMany ? "many" : plan.cut == Cut::kWide ? "wide" : "split") + std::to_string(plan.tiles) + "x" + std::to_string(plan.octets);
}

// All that are worth a look.
std::vector<Plan> PlansFor(bool gated, size_t bucket) {
  std::vector<Plan> plans;
  for (uint32_t octets = bucket <= 8 ? 1 : 2; octets <= 4; octets *= 2) {
    if (octets > 1 && octets * 4 >= bucket) continue;
    for (uint32_t tiles = 1; tiles <= MostTiles(Format::kBf16, octets, gated); tiles *= 2) plans.push_back({Cut::kFew, tiles, octets});
  }
  if (bucket > 8) plans.insert(plans.end(), {{Cut::kMany, 2, 2}, {Cut::kMany, 4, 4}, {Cut::kWide, 4, 16}, {Cut::kWide, 6, 16}, {Cut::kWide, 8, 16}, {Cut::kWide, 4, 8}, {Cut::kSplit, 4, 8}});
  return plans;
}

void Line(Bench* bench, const Shape& shape, size_t count) {
  const size_t bucket = BucketOf(count);
  const Plan chosen = PlanOf({Format::kBf16, shape.rows, shape.columns, shape.gated, bucket, true, true});
  std::printf("%-18s %4zu:", shape.name, count);
  uint64_t wanted = 0;
  for (const Plan& plan : PlansFor(shape.gated, bucket)) {
    uint64_t bits = 0;
    const double us = bench->Of(shape, count, plan, &bits);
    if (wanted == 0) wanted = bits;
    std::printf(" %s%s %.1f%s", plan == chosen ? "*" : "", NameOf(plan).c_str(), us, bits == wanted ? "" : " (OTHER BITS)");
  }
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace
}  // namespace parley::cuda

int main(int count, char** arguments) {
  using namespace parley::cuda;
  try {
    const auto device = OpenGpu({0});
    Bench bench(*device);
    const std::string vectors = count > 1 ? arguments[1] : "1,8,16,32,64,128,256,512,1024";
    for (const Shape& shape : kShapes) {
      for (const char* at = vectors.c_str(); *at != 0;) {
        char* end = nullptr;
        const unsigned long many = std::strtoul(at, &end, 10);
        if (end == at || many == 0 || many > 1024) return std::fprintf(stderr, "vectors are 1 to 1024, with commas between them\n"), 2;
        Line(&bench, shape, many);
        at = *end == ',' ? end + 1 : end;
      }
    }
  } catch (const std::exception& problem) {
    return std::fprintf(stderr, "product_bench: %s\n", problem.what()), 1;
  }
  return 0;
}
