// STUN messages against the samples of RFC 5769, and the answers of the lite half of ICE.
#include "media/ice/ice_lite.h"

#include <openssl/evp.h>

#include <algorithm>
#include <cstring>

#include "media/time.h"
#include "test/check.h"
#include "test/stun_samples.h"

namespace parley::test {
namespace {

bool Read(const StunBytes& bytes, StunMessage* out) { return ReadStun(bytes.data(), bytes.size(), out); }

std::string TextOf(const StunAttribute* attribute) {
  if (!attribute) return "missing";
  return {reinterpret_cast<const char*>(attribute->value), attribute->bytes};
}

void TheSampleRequestIsRead() {
  StunMessage message;
  CHECK(Read(kSampleRequest, &message));
  CHECK(message.kind == StunClass::kRequest && message.method == kStunBinding);
  CHECK_EQ(TextOf(message.Find(stun::kUsername)), "evtj:h6vY");
  CHECK_EQ(GetBig32(message.Find(stun::kPriority)->value), 0x6e0001ffU);
  CHECK(message.Find(stun::kIceControlled) != nullptr);
  CHECK(IsSealedWith(message, KeyOf(kSamplePassword)));
  CHECK(!IsSealedWith(message, KeyOf(kSamplePassword + "x")));
  std::string_view fragment;
  CHECK(LocalFragment(message, &fragment) && fragment == "evtj");
}

void TheSampleResponsesAreReadAndWritten() {
  const std::pair<const StunBytes*, const char*> samples[] = {
      {&kSampleIpv4Response, "192.0.2.1"}, {&kSampleIpv6Response, "2001:db8:1234:5678:11:2233:4455:6677"}};
  for (const auto& [sample, address] : samples) {
    StunMessage message;
    CHECK(Read(*sample, &message));
    CHECK(message.kind == StunClass::kSuccess && IsSealedWith(message, KeyOf(kSamplePassword)));
    StunWriter writer(StunClass::kSuccess, kStunBinding, message.transaction);
    writer.AddMappedAddress(Address::Of(address, 32'853));
    const HmacSha1 key = KeyOf(kSamplePassword);
    CHECK(writer.Finish(&key));
    StunMessage ours;
    CHECK(ReadStun(writer.data(), writer.size(), &ours) && IsSealedWith(ours, key));
    CHECK_EQ(TextOf(ours.Find(stun::kXorMappedAddress)), TextOf(message.Find(stun::kXorMappedAddress)));
  }
}

void TheSampleWithALongTermCredentialIsRead() {
  StunMessage message;
  CHECK(Read(kSampleLongTermRequest, &message));
  CHECK_EQ(TextOf(message.Find(stun::kRealm)), "example.org");
  const std::string secret = "\u30de\u30c8\u30ea\u30c3\u30af\u30b9:example.org:TheMatrIX";
  uint8_t digest[16];
  unsigned bytes = sizeof(digest);
  CHECK_EQ(EVP_Digest(secret.data(), secret.size(), digest, &bytes, EVP_md5(), nullptr), 1);
  HmacSha1 key;
  key.Init(digest, sizeof(digest));
  CHECK(IsSealedWith(message, key));
}

void AChangedOctetIsNoticed() {
  const size_t fingerprint = kSampleRequest.size() - 8;
  for (size_t at = 0; at < kSampleRequest.size(); at++) {
    if (at == fingerprint || at == fingerprint + 1) continue;  // the name of another optional attribute
    StunBytes changed = kSampleRequest;
    changed[at] ^= 1;
    StunMessage message;
    CHECK(!Read(changed, &message));
  }
}

void WithoutAFingerprintAChangedOctetBreaksTheIntegrity() {
  StunBytes bare(kSampleRequest.begin(), kSampleRequest.end() - 8);
  bare[3] = static_cast<uint8_t>(bare.size() - kStunHeaderBytes);
  for (size_t at = 8; at < bare.size(); at++) {
    StunBytes changed = bare;
    changed[at] ^= 1;
    StunMessage message;
    CHECK(!Read(changed, &message) || !IsSealedWith(message, KeyOf(kSamplePassword)));
  }
}

void AttributesBehindTheIntegrityAreNotRead() {
  StunBytes message = Write({});
  message.resize(message.size() - 8);
  const StunBytes behind = FromHex("00250000 00060004 617a3a62");
  message.insert(message.end(), behind.begin(), behind.end());
  PutBig16(message.data() + 2, static_cast<uint16_t>(message.size() - kStunHeaderBytes));
  StunMessage read;
  CHECK(Read(message, &read) && IsSealedWith(read, KeyOf(kIce.local_password)));
  CHECK(!read.Find(stun::kUseCandidate));
  CHECK_EQ(TextOf(read.Find(stun::kUsername)), "ours:them");
}

void MoreAttributesThanAnyCheckHasAreRefused() {
  for (const size_t count : {size_t{31}, size_t{32}}) {
    StunWriter writer(StunClass::kRequest, kStunBinding, kTransaction);
    for (size_t n = 0; n < count; n++) writer.Add(0x8000, nullptr, 0);
    CHECK(writer.Finish(nullptr));
    StunMessage message;
    CHECK_EQ(ReadStun(writer.data(), writer.size(), &message), count < 32);
  }
}

void AKeyMayBeLongerThanABlock() {
  const std::string password(200, 'p');
  Check check;
  check.password = password;
  const StunBytes message = Write(check);
  StunMessage read;
  CHECK(Read(message, &read) && IsSealedWith(read, KeyOf(password)));
  CHECK(!IsSealedWith(read, KeyOf(password.substr(1))));
}

// The lite half.

const char* const kNear = "192.0.2.7";

struct Held {
  IceLite ice{kIce};
  RefusalLimit refusals;
  int64_t now_ns = 5000 * kNsPerMs;
  std::vector<std::string> nominated;
  StunBytes bytes;

  // The code of the answer: 0 success, -1 no answer.
  int Take(const StunBytes& message, uint16_t port = 4000, int component = 1) {
    bytes.clear();
    StunMessage request;
    if (!Read(message, &request)) return -1;
    const Path from{Address::Of(kNear, port), Address(), nullptr, AF_INET, nullptr};
    IceLite::Answer answer;
    ice.Take(request, from, component, refusals, now_ns, &answer);
    if (answer.nominated) nominated.push_back(std::to_string(port) + " " + std::to_string(component));
    bytes.assign(answer.data.begin(), answer.data.begin() + static_cast<long>(answer.bytes));
    StunMessage read;
    if (bytes.empty() || !Read(bytes, &read)) return -1;
    CHECK_EQ(std::memcmp(read.transaction, request.transaction, kStunTransactionBytes), 0);
    CHECK_EQ(read.kind == StunClass::kSuccess, answer.passed);
    return CodeOf(read);
  }
  int Take(const Check& check, uint16_t port = 4000, int component = 1) {
    return Take(Write(check), port, component);
  }
  bool HasChecked(uint16_t port) const { return ice.HasChecked(Address::Of(kNear, port), nullptr); }
  std::string Nominated() const {
    std::string all;
    for (const std::string& one : nominated) all += all.empty() ? one : ", " + one;
    return all;
  }
};

Check Nominating(uint32_t priority = 1000) {
  Check check;
  check.nominate = true;
  check.priority = priority;
  return check;
}

void ACheckIsAnsweredWithItsSource() {
  Held held;
  CHECK_EQ(held.ice.last_check_ns(), int64_t{-1});
  CHECK_EQ(held.Take(Check{}), 0);
  StunMessage answer;
  CHECK(Read(held.bytes, &answer) && IsSealedWith(answer, KeyOf(kIce.local_password)));
  StunWriter wanted(StunClass::kSuccess, kStunBinding, kTransaction);
  wanted.AddMappedAddress(Address::Of(kNear, 4000));
  StunMessage mapped;
  CHECK(wanted.Finish(nullptr) && ReadStun(wanted.data(), wanted.size(), &mapped));
  CHECK_EQ(TextOf(answer.Find(stun::kXorMappedAddress)), TextOf(mapped.Find(stun::kXorMappedAddress)));
  CHECK_EQ(held.ice.last_check_ns(), held.now_ns);
  CHECK(held.HasChecked(4000) && !held.HasChecked(4001));
  CHECK_EQ(held.Nominated(), "");
}

void WrongChecksAreRefusedAndCountForNothing() {
  const std::pair<Check, int> wrong[] = {
      {{"", kIce.local_password}, 400},           {{"ours:them", ""}, 400},
      {{"them:ours", kIce.local_password}, 401},  {{"ours", kIce.local_password}, 401},
      {{"ours:them", "another password"}, 401},   {{"ours:them", kIce.remote_password}, 401},
      {{"oursx:them", kIce.local_password}, 401}, {{":them", kIce.local_password}, 401},
  };
  for (auto [check, code] : wrong) {
    Held held;
    check.nominate = true;
    CHECK_EQ(held.Take(check), code);
    StunMessage answer;
    // Only answers to authenticated requests carry an integrity.
    CHECK(Read(held.bytes, &answer) && !answer.seal);
    CHECK_EQ(held.Nominated(), "");
    CHECK(held.ice.last_check_ns() == -1 && !held.HasChecked(4000));
  }
}

void AControlledFarEndMustChangeItsRole() {
  Held held;
  Check check = Nominating();
  check.more = stun::kIceControlled;
  CHECK_EQ(held.Take(check), 487);
  StunMessage answer;
  CHECK(Read(held.bytes, &answer) && IsSealedWith(answer, KeyOf(kIce.local_password)));
  IceCredentials sample = kIce;
  sample.local_fragment = "evtj";
  sample.local_password = kSamplePassword;
  held.ice.Restart(sample);
  CHECK_EQ(held.Take(kSampleRequest), 487);
  CHECK(held.Nominated().empty() && !held.HasChecked(4000));
}

void AnAttributeThatMustBeUnderstoodIsNamed() {
  Held held;
  Check check = Nominating();
  check.more = 0x7fee;
  CHECK_EQ(held.Take(check), 420);
  StunMessage answer;
  CHECK(Read(held.bytes, &answer) && IsSealedWith(answer, KeyOf(kIce.local_password)));
  CHECK_EQ(TextOf(answer.Find(stun::kUnknownAttributes)), "\x7f\xee");
  CHECK(held.Nominated().empty() && !held.HasChecked(4000));
}

void WhatIsNoCheckIsNotAnswered() {
  Held held;
  Check check;
  check.kind = StunClass::kIndication;
  CHECK_EQ(held.Take(check), -1);
  check.kind = StunClass::kSuccess;
  CHECK_EQ(held.Take(check), -1);
  check.kind = StunClass::kRequest;
  check.method = 3;
  CHECK_EQ(held.Take(check), -1);
  const StunBytes whole = Write(Check{});
  CHECK_EQ(held.Take(StunBytes(whole.begin(), whole.begin() + 40)), -1);
  CHECK_EQ(held.Take(StunBytes()), -1);
  CHECK_EQ(held.ice.last_check_ns(), int64_t{-1});
}

void StrangersGetTwentyRefusalsASecond() {
  Held held;
  Check wrong;
  wrong.password = "wrong";
  int refused = 0;
  for (int n = 0; n < 100; n++) refused += held.Take(wrong) == 401;
  CHECK_EQ(refused, 20);
  CHECK_EQ(held.Take(Check{}), 0);
  held.now_ns += kNsPerSecond;
  CHECK_EQ(held.Take(wrong), 401);
}

void ANominationIsReportedOnceForEachAddress() {
  Held held;
  held.Take(Nominating());
  held.Take(Nominating());
  held.Take(Check{});
  CHECK_EQ(held.Nominated(), "4000 1");
  held.Take(Nominating(), 4001, 2);
  CHECK_EQ(held.Nominated(), "4000 1, 4001 2");
  CHECK(held.ice.nominated(1)->remote.port() == 4000 && held.ice.nominated(2)->remote.port() == 4001);
}

void OfSimultaneousNominationsTheHighestPriorityCounts() {
  Held held;
  for (int n = 0; n < 10; n++) {
    held.Take(Nominating(10), 4000);
    held.Take(Nominating(30), 4001);
    held.Take(Nominating(20), 4002);
    held.now_ns += 500 * kNsPerMs;
  }
  CHECK_EQ(held.Nominated(), "4000 1, 4001 1");
}

void AFarEndThatMovesIsFollowedAfterTwoSeconds() {
  Held held;
  held.Take(Nominating(30), 4000);
  held.now_ns += 1999 * kNsPerMs;
  held.Take(Nominating(10), 4001);
  CHECK_EQ(held.Nominated(), "4000 1");
  held.now_ns += kNsPerMs;
  held.Take(Nominating(10), 4001);
  CHECK_EQ(held.Nominated(), "4000 1, 4001 1");
}

void ARestartKeepsTheOldPathAlive() {
  Held held;
  held.Take(Nominating(30));
  held.ice.Restart(kIce);
  const IceCredentials fresh{"new1", "another password of ours", "new2", kIce.remote_password};
  held.ice.Restart(fresh);
  CHECK_EQ(held.Take(Nominating(), 4001), 0);
  CHECK_EQ(held.Nominated(), "4000 1");
  Check check = Nominating(10);
  check.username = "new1:new2";
  check.password = fresh.local_password;
  CHECK_EQ(held.Take(check, 4002), 0);
  StunMessage answer;
  CHECK(Read(held.bytes, &answer) && IsSealedWith(answer, KeyOf(fresh.local_password)));
  CHECK_EQ(held.Nominated(), "4000 1, 4002 1");
  CHECK(held.ice.Knows("ours") && held.ice.Knows("new1"));
  IceCredentials third = fresh;
  third.local_fragment = "new3";
  held.ice.Restart(third);
  CHECK_EQ(held.Take(Check{}), 401);
  CHECK(!held.ice.Knows("ours") && held.ice.Knows("new1") && held.ice.Knows("new3"));
}

void CredentialsInUseSurviveRestartsWhoseAnswersAreLost() {
  Held held;
  held.Take(Nominating(30));
  for (const char* name : {"new1", "new2", "new3"}) {
    held.ice.Restart({name, "another password of ours", "new2", kIce.remote_password});
    CHECK_EQ(held.Take(Nominating(), 4001), 0);
  }
  CHECK(held.ice.Knows("ours") && !held.ice.Knows("new1") && !held.ice.Knows("new2") &&
        held.ice.Knows("new3"));
}

void NewRemoteCredentialsAloneAreNoRestart() {
  Held held;
  held.Take(Nominating(30));
  IceCredentials changed = kIce;
  changed.remote_fragment = "else";
  held.ice.Restart(changed);
  held.Take(Nominating(10), 4001);
  CHECK_EQ(held.Nominated(), "4000 1");
}

void SixtyFourSourcesAreRemembered() {
  Held held;
  for (uint16_t port = 1; port <= 65; port++) held.Take(Check{}, port);
  CHECK(!held.HasChecked(1) && held.HasChecked(2) && held.HasChecked(65));
  CHECK_EQ(held.ice.sources().size(), IceLite::kMaxSources);
}

struct NoSink : PacketSink {
  bool Send(const uint8_t*, size_t, Wait) override { return false; }
  void Close() override {}
};

void FourConnectionsAreRememberedAndTheOneInUse() {
  Held held;
  std::vector<std::shared_ptr<NoSink>> sinks;
  for (uint16_t port = 1; port <= 6; port++) {
    sinks.push_back(std::make_shared<NoSink>());
    StunMessage request;
    const StunBytes bytes = Write(port == 1 ? Nominating() : Check{});
    CHECK(Read(bytes, &request));
    IceLite::Answer answer;
    held.ice.Take(request, {Address::Of(kNear, port), Address(), nullptr, AF_INET, sinks.back()}, 1,
                  held.refusals, held.now_ns, &answer);
    CHECK(answer.passed);
    CHECK_EQ(answer.forgotten.sink != nullptr, port > IceLite::kMaxConnections);
  }
  CHECK_EQ(held.ice.sources().size(), IceLite::kMaxConnections);
  CHECK(held.ice.HasChecked(Address::Of(kNear, 1), sinks[0].get()));   // nominated
  CHECK(!held.ice.HasChecked(Address::Of(kNear, 3), sinks[2].get()));  // the oldest of the others went first
  CHECK(held.ice.HasChecked(Address::Of(kNear, 4), sinks[3].get()));
}

void AConnectionIsAnotherSourceThanADatagramOfItsAddress() {
  Held held;
  const auto sink = std::make_shared<NoSink>();
  const StunBytes message = Write(Nominating());
  StunMessage request;
  CHECK(Read(message, &request));
  IceLite::Answer answer;
  held.ice.Take(request, {Address::Of(kNear, 4000), Address(), nullptr, AF_INET, sink}, 1, held.refusals,
                held.now_ns, &answer);
  CHECK(answer.nominated && !held.HasChecked(4000));
  CHECK(held.ice.HasChecked(Address::Of(kNear, 4000), sink.get()));
  CHECK(held.ice.PathTo(Address::Of(kNear, 4000))->sink == sink);
  CHECK(held.ice.Forget(sink.get()) && !held.ice.nominated(1));
  CHECK(!held.ice.PathTo(Address::Of(kNear, 4000)) && !held.ice.Forget(sink.get()));
}

}  // namespace
}  // namespace parley::test

TEST_GROUP(ice_lite) {
  using namespace parley::test;
  return Run({
      {"RFC 5769, 2.1: the sample request", TheSampleRequestIsRead},
      {"RFC 5769, 2.2 and 2.3: the sample responses", TheSampleResponsesAreReadAndWritten},
      {"RFC 5769, 2.4: the sample with a long-term credential", TheSampleWithALongTermCredentialIsRead},
      {"a changed octet is noticed", AChangedOctetIsNoticed},
      {"without a fingerprint a changed octet breaks the integrity",
       WithoutAFingerprintAChangedOctetBreaksTheIntegrity},
      {"attributes behind the integrity are not read", AttributesBehindTheIntegrityAreNotRead},
      {"more attributes than any check has are refused", MoreAttributesThanAnyCheckHasAreRefused},
      {"a key may be longer than a block", AKeyMayBeLongerThanABlock},
      {"a check is answered with its source", ACheckIsAnsweredWithItsSource},
      {"wrong checks are refused and count for nothing", WrongChecksAreRefusedAndCountForNothing},
      {"a controlled far end must change its role", AControlledFarEndMustChangeItsRole},
      {"an attribute that must be understood is named", AnAttributeThatMustBeUnderstoodIsNamed},
      {"what is no check is not answered", WhatIsNoCheckIsNotAnswered},
      {"strangers get twenty refusals a second", StrangersGetTwentyRefusalsASecond},
      {"a nomination is reported once for each address", ANominationIsReportedOnceForEachAddress},
      {"of simultaneous nominations the highest priority counts",
       OfSimultaneousNominationsTheHighestPriorityCounts},
      {"a far end that moves is followed after two seconds", AFarEndThatMovesIsFollowedAfterTwoSeconds},
      {"a restart keeps the old path alive", ARestartKeepsTheOldPathAlive},
      {"credentials in use survive restarts whose answers are lost",
       CredentialsInUseSurviveRestartsWhoseAnswersAreLost},
      {"new remote credentials alone are no restart", NewRemoteCredentialsAloneAreNoRestart},
      {"sixty-four sources are remembered", SixtyFourSourcesAreRemembered},
      {"four connections are remembered, and the one in use", FourConnectionsAreRememberedAndTheOneInUse},
      {"a connection is another source than a datagram of its address",
       AConnectionIsAnotherSourceThanADatagramOfItsAddress},
  });
}
