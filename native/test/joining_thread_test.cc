// The joining thread beside callers who add, change and remove members. ThreadSanitizer looks on.
#include <thread>

#include "test/mixer_rig.h"

namespace parley::test {
namespace {

constexpr int kRounds = 60;

void Turn(const std::shared_ptr<MediaPlane>& plane, const std::shared_ptr<Mixer>& mixer, uint64_t first) {
  Random random(first);
  std::vector<std::unique_ptr<MixedCall>> calls;
  for (uint64_t n = 0; n < 3; n++) {
    calls.push_back(std::make_unique<MixedCall>(plane, first + n, n == 0 ? kOpusMember : kPcmuMember));
    calls.back()->says = Tone(500, 0.3, calls.back()->rate(), 80'000);
  }
  for (int round = 0; round < kRounds; round++) {
    for (const auto& call : calls) {
      call->Say();
      if (call->id == 0) {
        call->leg = std::make_shared<JoinedLeg>();
        call->id = mixer->AddMember(call->leg, {});
        CHECK(call->socket->JoinMixer(call->leg));
      } else if (random.Unit() < 0.1) {
        call->socket->LeaveMixer(call->leg.get());
        mixer->RemoveMember(call->id);
        call->id = 0;
      }
      MemberChange change;
      change.muted = random.Unit() < 0.5;
      change.voice = random.Unit() < 0.5 ? VoiceMode::kDucked : VoiceMode::kPaused;
      mixer->ChangeMember(call->id, change);
      mixer->Hears(call->id, calls[0]->id, random.Unit() < 0.5);
      mixer->StatsOf(call->id);
      call->Push(SilentFrame());
    }
    mixer->TakeEvents();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  for (const auto& call : calls) {
    call->socket->Close();
    plane->CloseStream(call->stream.get());
  }
}

void CallersMeetTheThread() {
  const auto plane = MediaPlane::OpenReal(1);
  const auto mixer = std::make_shared<Mixer>(2);
  CHECK(plane->BeginMixer(mixer));
  const auto ring = std::make_shared<ByteRing>(64'000);
  CHECK(mixer->AddSource(ring, {}, 1) != 0);
  CHECK(mixer->AddSink(std::make_shared<ByteRing>(1 << 20), plane->time().Now()));
  std::vector<std::thread> threads;
  for (uint64_t n = 0; n < 3; n++) threads.emplace_back([&, n] { Turn(plane, mixer, 10 * n + 1); });
  const Sound tone = Tone(300, 0.2, JoinedSound::kRate, 1600);
  for (int n = 0; n < 10; n++)
    ring->Write(reinterpret_cast<const uint8_t*>(tone.data()), tone.size() * sizeof(float), sizeof(float));
  for (std::thread& thread : threads) thread.join();
  plane->CloseMixer(mixer.get());
  CHECK_EQ(plane->MixerCount(), size_t{0});
  CHECK_EQ(mixer->AddMember(std::make_shared<JoinedLeg>(), {}), uint32_t{0});
  plane->Close();
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(joining_thread) {
  using namespace parley::test;
  return Run({{"callers meet the thread", CallersMeetTheThread}});
}
