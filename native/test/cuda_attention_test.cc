// Attention on the emulated GPU: as on the CPU, and the same bits alone, in a batch, whole, in pieces and
// shared among blocks.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/cuda/attention/attend.cuh"
#include "test/check.h"
#include "test/emulator/emulator.h"
#include "test/kernel_inputs.h"

namespace parley::test {
namespace {

using cuda::emulator::Order;

struct Setting {
  size_t query_heads, heads, head_dim, window;
  Format format;
};

constexpr Setting kSettings[] = {
    {4, 2, 128, 0, Format::kBf16}, {2, 2, 128, 0, Format::kF32}, {6, 2, 128, 40, Format::kF16},
    {2, 2, 64, 72, Format::kF32},  {4, 1, 64, 0, Format::kF16},  {2, 1, 20, 5, Format::kBf16},
    {3, 3, 6, 0, Format::kF32},    {4, 2, 80, 0, Format::kF16},
};

struct Heads {
  std::vector<float> queries, keys, values, output, angles;
};

// The arguments of attention for streams of `counts` new rows each, after `befores` earlier ones.
struct Scene {
  Setting s;
  std::vector<size_t> befores, counts;
  std::vector<std::vector<char>> caches;
  std::vector<AttentionStream> streams;
  std::vector<uint64_t> positions;
  Heads heads;
  std::vector<float> q_norm, k_norm;
  AttentionBatch batch;

  Scene(const Setting& setting, const std::vector<size_t>& were, const std::vector<size_t>& come,
        size_t capacity)
      : s(setting), befores(were), counts(come) {
    batch.layout = {s.format, s.heads, s.head_dim};
    for (size_t n = 0; n < counts.size(); n++) {
      caches.push_back(std::vector<char>(2 * batch.layout.LayerBytes(capacity)));
      streams.push_back({caches.back().data(), capacity, befores[n], static_cast<uint32_t>(counts[n]),
                         static_cast<uint32_t>(batch.rows)});
      for (size_t i = 0; i < counts[n]; i++) positions.push_back(befores[n] + i);
      batch.rows += counts[n];
      batch.longest = std::max(batch.longest, counts[n]);
      batch.furthest = std::max(batch.furthest, befores[n] + counts[n]);
    }
    batch.streams = streams.data();
    batch.count = streams.size();
    batch.query_heads = s.query_heads;
    batch.sight.window = s.window;
    batch.scale = 1 / std::sqrt(static_cast<float>(s.head_dim));
    q_norm = RandomFloats(s.head_dim, 11);
    k_norm = RandomFloats(s.head_dim, 12);
    // A stream's rows are those of its own seed, whoever is beside it.
    for (size_t n = 0; n < counts.size(); n++) {
      Past(n);
      Append(&heads.queries, Rows(n, 1, s.query_heads));
      Append(&heads.keys, Rows(n, 2, s.heads));
      Append(&heads.values, Rows(n, 3, s.heads));
    }
    heads.output.assign(heads.queries.size(), NAN);
    heads.angles.resize(batch.rows * s.head_dim);
    if (batch.rows > 0)
      MakeKernels()->Angles(positions.data(), batch.rows, s.head_dim, 1e6, heads.angles.data());
  }

  static void Append(std::vector<float>* to, const std::vector<float>& from) {
    to->insert(to->end(), from.begin(), from.end());
  }

  // Row p of a stream is the same however they are cut.
  std::vector<float> Rows(size_t n, uint64_t what, size_t width) const {
    std::vector<float> rows;
    for (size_t i = 0; i < counts[n]; i++)
      Append(&rows, RandomFloats(width * s.head_dim, 1000 * what + befores[n] + i));
    return rows;
  }

  // The keys and values of the positions before, in both layers.
  void Past(size_t n) {
    const auto kernels = MakeKernels();
    for (size_t p = 0; p < befores[n]; p++) {
      std::vector<float> key = RandomFloats(s.heads * s.head_dim, 2000 + p),
                         value = RandomFloats(s.heads * s.head_dim, 3000 + p);
      const AttentionStream stream{caches[n].data(), streams[n].capacity, p, 1, 0};
      AttentionBatch one = batch;
      one.streams = &stream;
      one.count = one.rows = one.longest = 1;
      one.query_heads = s.query_heads;
      std::vector<float> angles(s.head_dim);
      const uint64_t position = p;
      kernels->Angles(&position, 1, s.head_dim, 1e6, angles.data());
      kernels->RmsNorm(key.data(), k_norm.data(), s.heads, s.head_dim, 1e-6f, key.data());
      kernels->Rotate(key.data(), 1, s.heads, s.head_dim, angles.data());
      for (size_t layer = 0; layer < 2; layer++)
        kernels->Store(one, layer, {nullptr, key.data(), value.data(), nullptr});
    }
  }

  AttentionRows Signals() {
    return {heads.queries.data(), heads.keys.data(), heads.values.data(), heads.output.data()};
  }
};

std::vector<float> OnTheCpu(Scene scene) {
  for (size_t n = 0; n < scene.caches.size(); n++) scene.streams[n].cache = scene.caches[n].data();
  scene.batch.streams = scene.streams.data();
  const auto kernels = MakeKernels();
  const Setting& s = scene.s;
  Heads& h = scene.heads;
  kernels->RmsNorm(h.queries.data(), scene.q_norm.data(), scene.batch.rows * s.query_heads, s.head_dim, 1e-6f,
                   h.queries.data());
  kernels->RmsNorm(h.keys.data(), scene.k_norm.data(), scene.batch.rows * s.heads, s.head_dim, 1e-6f,
                   h.keys.data());
  kernels->Rotate(h.queries.data(), scene.batch.rows, s.query_heads, s.head_dim, h.angles.data());
  kernels->Rotate(h.keys.data(), scene.batch.rows, s.heads, s.head_dim, h.angles.data());
  kernels->Store(scene.batch, 1, scene.Signals());
  kernels->Attend(scene.batch, 1, scene.Signals());
  return h.output;
}

struct Room {
  std::vector<float> parts;
  std::vector<uint32_t> arrivals;
  cuda::AttendRoom room;

  explicit Room(const Setting& s)
      : parts(cuda::AttendRoom::PartsOf(s.query_heads, s.head_dim), NAN),
        arrivals(cuda::AttendRoom::ArrivalsOf(s.query_heads)),
        room{parts.data(), arrivals.data()} {}
};

// The part of AttendRows behind its projections.
std::vector<float> OnTheGpu(Scene* scene, Order order = Order::kForward, bool shared = true) {
  cuda::emulator::Immediate queue({order, 7});
  Room room(scene->s);
  for (size_t n = 0; n < scene->caches.size(); n++) scene->streams[n].cache = scene->caches[n].data();
  scene->batch.streams = scene->streams.data();
  cuda::EnqueueRawAttend(queue, scene->batch, 1, scene->Signals(),
                         {scene->heads.angles.data(), scene->q_norm.data(), scene->k_norm.data(), 1e-6f},
                         shared ? room.room : cuda::AttendRoom{});
  for (const uint32_t arrived : room.arrivals) CHECK_EQ(arrived, 0u);
  return scene->heads.output;
}

void CheckNear(const std::vector<float>& seen, const std::vector<float>& wanted, const char* what) {
  double worst = seen.size() == wanted.size() ? 0 : INFINITY;
  for (size_t i = 0; i < seen.size() && worst < 1; i++) {
    worst = std::isnan(seen[i]) ? INFINITY
                                : std::fmax(worst, std::fabs(static_cast<double>(seen[i]) - wanted[i]));
  }
  if (worst >= 1e-6) std::printf("%s: off by %g\n", what, worst);
  CHECK(worst < 1e-6);  // 1.8e-7
}

void AttentionIsTheCpus() {
  for (const Setting& s : kSettings) {
    for (const auto& [befores, counts] : {std::pair<std::vector<size_t>, std::vector<size_t>>{{0}, {1}},
                                          {{0, 7, 3}, {2, 2, 1}},
                                          {{30, 0, 11}, {1, 1, 1}},
                                          {{5, 0, 2}, {9, 0, 20}}}) {
      Scene scene(s, befores, counts, 64);
      const std::vector<float> wanted = OnTheCpu(scene);
      for (const Order order : {Order::kForward, Order::kBackward, Order::kShuffled}) {
        if (cuda::emulator::races::kAreChecked && order != Order::kBackward)
          continue;  // races are found in any order
        Scene own = scene;
        CheckNear(OnTheGpu(&own, order), wanted, "rows");
      }
    }
  }
}

void LongContextsAreTheCpus() {
  for (const Setting& s : {kSettings[0], kSettings[3], kSettings[5]}) {
    Scene scene(s, {700, 300, 10}, {1, 1, 1}, 2100);
    const std::vector<float> wanted = OnTheCpu(scene);
    Scene own = scene, alone = scene;
    const std::vector<float> seen = OnTheGpu(&own);
    CheckNear(seen, wanted, "long contexts");
    CHECK(SameBits(OnTheGpu(&alone, Order::kShuffled, false), seen));
  }
}

void ABatchGivesTheBitsOfEachAlone() {
  for (const Setting& s : {kSettings[0], kSettings[3], kSettings[6]}) {
    Scene together(s, {300, 0, 12, 258}, {1, 1, 1, 1}, 400);
    const std::vector<float> seen = OnTheGpu(&together);
    const size_t width = s.query_heads * s.head_dim;
    for (size_t n = 0; n < 4; n++) {
      Scene alone(s, {together.befores[n]}, {1}, 400);
      const std::vector<float> own = OnTheGpu(&alone);
      CHECK(SameBits(own, std::vector<float>(seen.begin() + static_cast<std::ptrdiff_t>(n * width),
                                             seen.begin() + static_cast<std::ptrdiff_t>((n + 1) * width))));
      CHECK(alone.caches[0] == together.caches[n]);
    }
  }
}

void AnyCutOfTheRowsGivesTheSameBits() {
  for (const Setting& s : kSettings) {
    Scene whole(s, {250}, {12}, 300);
    const std::vector<float> wanted = OnTheGpu(&whole);
    for (const size_t piece : {1u, 3u, 5u}) {
      std::vector<float> seen;
      std::vector<char> cache = Scene(s, {250}, {0}, 300).caches[0];
      for (size_t at = 0; at < 12; at += piece) {
        Scene some(s, {250 + at}, {std::min(piece, 12 - at)}, 300);
        some.caches[0] = cache;
        Scene::Append(&seen, OnTheGpu(&some));
        cache = some.caches[0];
      }
      CHECK(SameBits(seen, wanted));
      CHECK(cache == whole.caches[0]);
    }
  }
}

// Rows that go together, in one tile and in several, of one chunk and of more, beside rows that are alone in
// their stream.
void RowsTogetherGiveTheBitsOfEach() {
  for (const Setting& s : {Setting{4, 2, 128, 0, Format::kBf16}, {4, 1, 128, 0, Format::kF16}}) {
    const std::vector<size_t> befores = {0, 500, 60, 3}, counts = {37, 18, 5, 1};
    Scene together(s, befores, counts, 600);
    CHECK(cuda::GoRowsTogether(together.batch));
    Scene backward = together, shuffled = together;
    const std::vector<float> seen = OnTheGpu(&together);
    CHECK(SameBits(OnTheGpu(&backward, Order::kBackward), seen));
    CHECK(SameBits(OnTheGpu(&shuffled, Order::kShuffled), seen));
    std::vector<float> wanted;
    for (size_t n = 0; n < counts.size(); n++) {
      std::vector<char> cache = Scene(s, {befores[n]}, {0}, 600).caches[0];
      for (size_t i = 0; i < counts[n]; i++) {
        Scene alone(s, {befores[n] + i}, {1}, 600);
        alone.caches[0] = cache;
        Scene::Append(&wanted, OnTheGpu(&alone));
        cache = alone.caches[0];
      }
      CHECK(cache == together.caches[n]);
    }
    CHECK(SameBits(seen, wanted));
  }
}

// Blocks of a sound: every row sees all of its block and nothing else, alone as beside others.
void RowsOfABlockSeeEachOther() {
  for (const auto& [s, longest] : {std::pair<Setting, size_t>{{2, 2, 64, 0, Format::kF32}, 104},
                                   {{2, 1, 128, 0, Format::kBf16}, 17},
                                   {kSettings[6], 17}}) {
    const std::vector<size_t> counts = {1, longest, 2};
    Scene together(s, std::vector<size_t>(3), counts, 104);
    together.batch.sight.whole = true;
    CHECK(!cuda::GoRowsTogether(together.batch));
    const std::vector<float> wanted = OnTheCpu(together);
    Scene shuffled = together;
    const std::vector<float> seen = OnTheGpu(&together);
    CheckNear(seen, wanted, "blocks");
    CHECK(SameBits(OnTheGpu(&shuffled, Order::kShuffled), seen));
    std::vector<float> each;
    for (const size_t count : counts) {
      Scene alone(s, {0}, {count}, 104);
      alone.batch.sight.whole = true;
      Scene::Append(&each, OnTheGpu(&alone));
    }
    CHECK(SameBits(each, seen));
  }
}

// A recording of seven minutes: rows alone and together, where a lane has several chunks.
void VeryLongContextsAreTheCpus() {
  const Setting s{2, 1, 128, 0, Format::kBf16};
  Scene scene(s, {6'000, 2'045, 4'100}, {1, 1, 1}, 6'100);
  const std::vector<float> wanted = OnTheCpu(scene);
  Scene alone = scene;
  const std::vector<float> seen = OnTheGpu(&scene);
  CheckNear(seen, wanted, "very long contexts");
  CHECK(SameBits(OnTheGpu(&alone, Order::kShuffled, false), seen));
  Scene rows(s, {2'045, 4'100}, {7, 5}, 4'200);
  CHECK(!cuda::GoRowsTogether(rows.batch));
  const std::vector<float> of_rows = OnTheCpu(rows), all = OnTheGpu(&rows);
  CheckNear(all, of_rows, "rows of long contexts");
  const size_t width = s.query_heads * s.head_dim;
  for (const auto& [stream, row] : {std::pair<size_t, size_t>{1, 0}, {2, 7}}) {
    const std::vector<float> first(seen.begin() + static_cast<std::ptrdiff_t>(stream * width),
                                   seen.begin() + static_cast<std::ptrdiff_t>((stream + 1) * width));
    CHECK(SameBits(first, std::vector<float>(all.begin() + static_cast<std::ptrdiff_t>(row * width),
                                             all.begin() + static_cast<std::ptrdiff_t>((row + 1) * width))));
  }
}

void ARingForgetsWhatNobodySees() {
  const Setting s = kSettings[3];
  Scene roomy(s, {200, 90}, {6, 6}, 300), tight(s, {200, 90}, {6, 6}, 77);
  CHECK(SameBits(OnTheGpu(&tight), OnTheGpu(&roomy)));
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(cuda_attention) {
  using namespace parley::test;
  return Run({
      {"attention is the CPU's", AttentionIsTheCpus},
      {"long contexts are the CPU's", LongContextsAreTheCpus},
      {"a batch gives the bits of each alone", ABatchGivesTheBitsOfEachAlone},
      {"any cut of the rows gives the same bits", AnyCutOfTheRowsGivesTheSameBits},
      {"rows together give the bits of each", RowsTogetherGiveTheBitsOfEach},
      {"rows of a block see each other", RowsOfABlockSeeEachOther},
      {"very long contexts are the CPU's", VeryLongContextsAreTheCpus},
      {"a ring forgets what nobody sees", ARingForgetsWhatNobodySees},
  });
}
