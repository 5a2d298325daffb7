#include "media/join/mixer.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "media/hear/sent_sound.h"

namespace parley {
namespace {

constexpr char kSinkComplete[] = "";
constexpr int64_t kStableQuanta = 40;  // 200 ms: two members that hear the same share an output after that
constexpr float kLeastMixPower = 1e-12F;

}  // namespace

// Callers.

uint32_t Mixer::AddMember(std::shared_ptr<JoinedLeg> leg, const MemberChange& change) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_ || members_.size() >= kMostMembers) return 0;
  auto member = std::make_unique<MixerMember>(++last_id_, std::move(leg));
  Apply(*member, change);
  member->input.gain = GainRamp(member->input.gain.target());
  member->listens = GainRamp(member->listens.target());
  inputs_.push_back(&member->input);
  members_.push_back(std::move(member));
  return last_id_;
}

void Mixer::Apply(MixerMember& member, const MemberChange& change) {
  if (change.gain) member.said_gain = *change.gain;
  if (change.muted) member.muted = *change.muted;
  if (change.deaf) member.listens.Set(*change.deaf ? 0.0F : 1.0F);
  if (change.voice) member.voice = *change.voice;
  member.input.gain.Set(member.muted ? 0.0F : member.said_gain);
}

MixerMember* Mixer::Find(uint32_t id) {
  const auto found = std::find_if(members_.begin(), members_.end(),
                                  [id](const auto& one) { return one->id() == id && !one->leaves; });
  return found == members_.end() ? nullptr : found->get();
}

void Mixer::ChangeMember(uint32_t id, const MemberChange& change) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (MixerMember* const member = Find(id)) Apply(*member, change);
}

void Mixer::Hears(uint32_t id, uint32_t other, bool is_heard) {
  std::lock_guard<std::mutex> lock(mutex_);
  MixerMember* const member = Find(id);
  if (member && Find(other)) member->Hears(other, is_heard);
}

// Members that shared its output go on with their own. The others hear the member end with a ramp.
void Mixer::RemoveMember(uint32_t id) {
  std::lock_guard<std::mutex> lock(mutex_);
  MixerMember* const member = Find(id);
  if (!member) return;
  for (const auto& one : members_) {
    if (one.get() != member && one->leader == member) Part(*one);
  }
  if (member->leader != member) Part(*member);
  member->leaves = true;
  member->input.gain.Set(0);
}

// Frees the members that nobody hears any more.
void Mixer::DropLeft() {
  for (auto at = members_.begin(); at != members_.end();) {
    MixerMember& member = **at;
    if (!member.leaves || !member.input.gain.silent()) {
      ++at;
      continue;
    }
    places_.Remove(&member.input);
    inputs_.erase(std::find(inputs_.begin(), inputs_.end(), &member.input));
    for (const auto& other : members_) other->Forget(member.id());
    at = members_.erase(at);
  }
}

void Mixer::Part(MixerMember& member) {
  member.output.CopyFrom(member.leader->output);
  member.output.BeginAnew();
  member.leader->followers--;
  member.leader = &member;
}

uint32_t Mixer::AddSource(std::shared_ptr<ByteRing> ring, std::vector<uint32_t> only, float gain) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return 0;
  auto source = std::make_unique<RingInput>(++last_id_, std::move(ring), std::move(only));
  source->gain = GainRamp(gain);
  if (!places_.AddRing(source.get())) return 0;
  sources_.push_back(std::move(source));
  return last_id_;
}

void Mixer::RemoveSource(uint32_t id) {
  std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& source : sources_) {
    if (source->id == id) source->Leave();
  }
}

bool Mixer::AddSink(std::shared_ptr<ByteRing> ring, int64_t now_ns) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_ || sinks_.size() >= kMostSinks) return false;
  sinks_.emplace_back(std::move(ring), EarSound::kSum, now_ns);
  return true;
}

void Mixer::RemoveSink(const ByteRing* ring) {
  std::lock_guard<std::mutex> lock(mutex_);
  const auto found =
      std::find_if(sinks_.begin(), sinks_.end(), [ring](const auto& one) { return one.bytes() == ring; });
  if (found == sinks_.end()) return;
  found->End(kSinkComplete);
  sinks_.erase(found);
}

std::vector<MixerEvent> Mixer::TakeEvents() {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(events_, {});
}

bool Mixer::Watch(std::shared_ptr<ReadySink> sink, uint64_t handle) {
  watch_.Arm(std::move(sink), handle);
  std::lock_guard<std::mutex> lock(mutex_);
  const bool waiting = !events_.empty() || closed_;
  if (waiting) watch_.Disarm();
  return waiting;
}

std::optional<MixerMemberStats> Mixer::StatsOf(uint32_t id) {
  std::lock_guard<std::mutex> lock(mutex_);
  MixerMember* const member = Find(id);
  if (!member) return std::nullopt;
  MixerMemberStats stats;
  stats.hearing = member->input.figures();
  stats.hearing.discarded += member->input.leg().inbox().dropped();
  stats.frames = member->frames;
  stats.late = member->late;
  stats.shared = member->shared;
  stats.missed = member->sound ? member->sound->missed() : 0;
  stats.level_db = 10 * std::log10(std::max(kLeastMixPower, member->input.loudness));
  stats.speaking = member->input.speaking.speaking();
  return stats;
}

size_t Mixer::size() {
  std::lock_guard<std::mutex> lock(mutex_);
  return static_cast<size_t>(
      std::count_if(members_.begin(), members_.end(), [](const auto& one) { return !one->leaves; }));
}

void Mixer::Close() {
  std::vector<std::unique_ptr<MixerMember>> left;  // freed without the mutex
  std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  left.swap(members_);
  for (const auto& member : left) places_.Remove(&member->input);
  for (const auto& source : sources_) places_.Remove(source.get());
  for (ListenerRing& sink : sinks_) sink.End(kSinkComplete);
  inputs_.clear();
  sources_.clear();
  sinks_.clear();
  watch_.Fire();
}

// The joining thread.

void Mixer::Run(int64_t at_ns, int64_t now_ns, std::vector<Job>* jobs) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (closed_) return;
  for (const auto& member : members_) member->FollowStream();
  ChooseStep(at_ns);
  DropLeft();
  if (takes_frames_) MixFrames(at_ns);
  else MixQuanta(at_ns, now_ns);
  CountBands();
  ListJobs(at_ns, jobs);
}

// Two members hear each other and nothing else, and nobody else hears them.
bool Mixer::IsPlainBridge() const {
  const auto is_plain = [](const auto& member) { return !member->leaves && member->hears_all(); };
  return members_.size() <= 2 && std::all_of(members_.begin(), members_.end(), is_plain) &&
         sources_.empty() && sinks_.empty() && places_.loudest() > 1;
}

// Chooses whether this step takes whole frames. If the step before did and this one does not, the quanta that
// its two members owe each other are mixed first. Callers only append members, and DropLeft comes later: the
// two are still the first ones, even if they leave or others have joined.
void Mixer::ChooseStep(int64_t at_ns) {
  const bool is_plain = IsPlainBridge();
  plain_quanta_ = is_plain ? plain_quanta_ + 1 : 0;
  const bool took_frames = takes_frames_;
  takes_frames_ =
      members_.size() == 2 && plain_quanta_ > kPlainQuanta && members_[0]->ticks() && members_[1]->ticks();
  if (takes_frames_ == took_frames) return;
  for (size_t n = 0; n < 2; n++) {
    MixerMember& member = *members_[n];
    if (took_frames) MixOwed(member, at_ns - JoinedSound::kQuantumNs);
    if (member.leader != &member) Part(member);
  }
}

void Mixer::MixFrames(int64_t at_ns) {
  for (const auto& member : members_) {
    member->owed++;
    if (member->TickFor(at_ns) != 0) MixOwed(*member, at_ns);
  }
}

// The quanta are of the other member of a bridge. Where they are no whole frame, because the bridge was none
// until now or ends to be one, each of them is as it would have been in its own time.
void Mixer::MixOwed(MixerMember& hearer, int64_t at_ns) {
  MixerMember& speaker = *members_[members_[0].get() == &hearer ? 1 : 0];
  const size_t quanta = std::min(std::exchange(hearer.owed, 0), LegInput::kMostQuanta);
  const bool is_frame =
      quanta > 1 && hearer.sound && quanta * JoinedSound::kQuantum == hearer.sound->samples();
  if (is_frame) speaker.input.Hear(at_ns, quanta);
  for (size_t n = 0; n < quanta; n++) {
    if (!is_frame)
      speaker.input.Hear(at_ns - static_cast<int64_t>(quanta - 1 - n) * JoinedSound::kQuantumNs, 1);
    TakeNext(speaker);
    places_.Choose(inputs_);
    speaker.input.step = speaker.input.gain.Advance();
    places_.Fill(speaker.input);
    hearer.Advance();
    hearer.mask = hearer.MaskOf(places_, &hearer.alone);
    hearer.mask_quanta = 0;
    MixFor(hearer);
  }
}

void Mixer::MixQuanta(int64_t at_ns, int64_t now_ns) {
  HearMembers(at_ns);
  ReadSources();
  places_.Choose(inputs_);
  for (LegInput* const input : inputs_) input->step = input->gain.Advance();
  for (const auto& source : sources_) source->step = source->gain.Advance();
  places_.Fill();
  ChooseMasks();
  MixAll();
  if (!sinks_.empty()) WriteSinks(at_ns, now_ns);
}

void Mixer::HearMembers(int64_t at_ns) {
  for (const auto& member : members_) {
    member->input.Hear(at_ns, 1);
    TakeNext(*member);
  }
}

void Mixer::TakeNext(MixerMember& member) {
  LegInput& input = member.input;
  input.Next();
  if (member.leaves || !input.speaking.Take(input.power)) return;
  Post(member.id(), input.speaking.speaking() ? MixerEvent::kSpeaks : MixerEvent::kSilent);
}

// An event that finds no room is lost: nobody has taken any for long.
void Mixer::Post(uint32_t id, MixerEvent::Kind kind) {
  if (events_.size() < kMostEvents) events_.push_back({id, kind});
  watch_.Fire();
}

void Mixer::ReadSources() {
  for (auto source = sources_.begin(); source != sources_.end();) {
    const bool goes_on = (*source)->Read() && !(*source)->has_left();
    if (goes_on) {
      ++source;
      continue;
    }
    Post((*source)->id, MixerEvent::kSourceEnded);
    places_.Remove(source->get());
    source = sources_.erase(source);
  }
}

// A member that begins to hear something else than its leader goes on with its own output.
void Mixer::ChooseMasks() {
  for (const auto& one : members_) {
    MixerMember& member = *one;
    member.Advance();
    const uint64_t mask = member.MaskOf(places_, &member.alone);
    member.mask_quanta = mask == member.mask && !member.alone ? member.mask_quanta + 1 : 0;
    member.mask = mask;
  }
  for (const auto& one : members_) {
    MixerMember& member = *one;
    const MixerMember& leader = *member.leader;
    if (&leader == &member) continue;
    const bool same = member.sound && leader.sound && leader.mask == member.mask && !leader.alone &&
                      !member.alone && leader.phase == member.phase &&
                      leader.sound->codec() == member.sound->codec() &&
                      leader.sound->period_ns() == member.sound->period_ns();
    if (!same) Part(member);
  }
}

void Mixer::MixAll() {
  for (const auto& member : members_) {
    if (member->leader == member.get() && member->sound) MixFor(*member);
  }
}

void Mixer::MixFor(MixerMember& member) {
  float quantum[JoinedSound::kQuantum];
  if (member.mask != 0) member.Mix(places_, member.mask, quantum);
  member.output.Append(member.mask != 0 ? quantum : nullptr);
}

void Mixer::WriteSinks(int64_t at_ns, int64_t now_ns) {
  float quantum[JoinedSound::kQuantum] = {};
  for (size_t n = 0; n < places_.size(); n++) {
    if (!(places_.sounding() >> n & 1)) continue;
    AddScaled(places_[n].sound.data(), JoinedSound::kQuantum, {1, 1}, quantum);
  }
  sink_limiter_.Process(quantum, JoinedSound::kQuantum);
  for (const float sample : quantum) {
    sink_block_[sink_at_++] = sample;
    if (sink_at_ < sink_block_.size()) continue;
    sink_at_ = 0;
    const ListeningMoment moment{at_ns, now_ns, false};
    sinks_.erase(std::remove_if(sinks_.begin(), sinks_.end(),
                                [&](ListenerRing& sink) { return !sink.Write(sink_block_.data(), moment); }),
                 sinks_.end());
  }
}

void Mixer::CountBands() {
  narrow_ = wide_ = 0;
  for (const LegInput* const input : inputs_) {
    narrow_ += input->is_narrow() ? 1 : 0;
    wide_ += input->is_wide() ? 1 : 0;
  }
}

// All other members say sound of G.711, and nothing of ours is played.
bool Mixer::HearsNarrow(const MixerMember& member) const {
  if (!sources_.empty()) return false;
  return wide_ == (member.input.is_wide() ? 1 : 0) && narrow_ > (member.input.is_narrow() ? 1 : 0);
}

void Mixer::ListJobs(int64_t at_ns, std::vector<Job>* jobs) {
  for (size_t n = 0; n < members_.size(); n++) {
    const int64_t tick_ns = members_[n]->leaves ? 0 : members_[n]->TickFor(at_ns);
    if (tick_ns != 0) jobs->push_back({tick_ns, this, members_[n]->id(), n});
  }
}

// The first other member that heard the same for long, and whose frames are due with the same quanta.
MixerMember* Mixer::LeaderFor(const MixerMember& member) {
  if (member.followers > 0 || member.mask_quanta < kStableQuanta || member.output.limits()) return nullptr;
  for (const auto& one : members_) {
    MixerMember& other = *one;
    const bool fits = &other != &member && other.leader == &other && other.sound && !other.alone &&
                      !other.leaves && other.mask == member.mask && other.phase == member.phase &&
                      other.mask_quanta >= kStableQuanta && !other.output.limits() &&
                      other.sound->codec() == member.sound->codec() &&
                      other.sound->period_ns() == member.sound->period_ns();
    if (fits) return &other;
  }
  return nullptr;
}

void Mixer::Encode(const Job& job, int64_t at_ns, int64_t now_ns) {
  std::lock_guard<std::mutex> lock(mutex_);
  const bool is_there = job.index < members_.size() && members_[job.index]->id() == job.member;
  MixerMember* const found = is_there ? members_[job.index].get() : Find(job.member);
  if (!found || !found->sound || found->leaves) return;
  MixerMember& member = *found;
  const int64_t quantum = at_ns / JoinedSound::kQuantumNs;
  const int64_t phase = quantum % (member.sound->period_ns() / JoinedSound::kQuantumNs);
  if (std::exchange(member.phase, phase) != phase && member.leader != &member) Part(member);
  uint64_t replaces = JoinedSound::kReplacesNothing;
  size_t bytes = 0;
  if (member.ducks()) {
    if (member.leader != &member) Part(member);
    member.sound->encoder().SetNarrow(false);
    bytes = member.EncodeDucked(&replaces);
  } else {
    MixerMember* const leader = member.leader == &member ? LeaderFor(member) : nullptr;
    if (leader) {
      member.leader = leader;
      leader->followers++;
      leader->output.BeginAnew();
    }
    member.shared += member.leader != &member && member.leader->output.IsEncoded(quantum) ? 1 : 0;
    member.leader->sound->encoder().SetNarrow(HearsNarrow(*member.leader));
    bytes = member.leader->output.Encode(quantum, *member.leader->sound);
  }
  if (bytes == 0) return;
  member.frames++;
  if (now_ns > job.tick_ns) member.late++;
  member.sound->Put(job.tick_ns, member.leader->output.payload(), bytes, replaces);
}

}  // namespace parley
