#include "model/shared/staged_work.h"

#include <algorithm>
#include <utility>

namespace parley::model {

void StagedWork::Add(size_t units, size_t cost, Units work, size_t granule) {
  if (units > 0) stages_.push_back({units, cost, granule, std::move(work)});
}

void StagedWork::Add(size_t cost, std::function<void()> work) {
  Add(1, cost, [work = std::move(work)](size_t, size_t) { work(); });
}

size_t StagedWork::Stage::Fitting(size_t done, size_t left) const {
  const size_t rest = units - done, most = cost == 0 ? rest : left / cost;
  return most < rest ? most / granule * granule : rest;
}

bool StagedWork::Advance(size_t most) {
  size_t left = most;
  bool worked = false;
  while (stage_ < stages_.size()) {
    const Stage& stage = stages_[stage_];
    size_t some = stage.Fitting(done_, left);
    if (some == 0 && worked) break;
    if (some == 0) some = std::min(stage.granule, stage.units - done_);
    stage.work(done_, some);
    worked = worked || stage.cost > 0;
    left -= std::min(left, some * stage.cost);
    done_ += some;
    if (done_ < stage.units) continue;
    done_ = 0;
    stage_++;
  }
  return worked;
}

}  // namespace parley::model
