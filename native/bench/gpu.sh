#!/usr/bin/env bash
# Everything that needs a GPU: build (CMake, no Node), parity, figures. In stages of some minutes each, most
# informative first; a stage that passed is not repeated (its mark lies in the work folder), so that the script can be run again
# after it was cut off. The tables come last, and into $OUT where that is set.
#
#   native/bench/gpu.sh [work folder: /tmp/parley-gpu] [stages: all of them]
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
WORK="${1:-/tmp/parley-gpu}"
STAGES="${2:-build parity pocket asr-parity bench-1.7b asr-1.7b mixed asr-0.6b bench-0.6b bench-bytes sanitize joins live products lost}"
LIMIT=520 # seconds of a stage
# The groups of cuda_tests that use PARLEY_CUDA_FILE; the others run on the emulator alone. The last two: bit by bit.
PARITY="cuda_speech cuda_recognition cuda_layers cuda_residual"
# Results of another checkout's build do not count here.
./drop-moved-build.sh "$WORK/build"
[ -f "$WORK/build/CMakeCache.txt" ] || rm -rf "$WORK/done"
mkdir -p "$WORK/done"
export PARLEY_CUDA_FILE="$WORK/build/parley_cuda.so"

# The GPU's own code alone: the others take as long again each.
capability() { nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .; }

stage_build() {
  local architecture
  architecture="$(capability)"
  [ "$architecture" = 90 ] && architecture=90a
  cmake -S . -B "$WORK/build" -DPARLEY_CUDA=ON -DPARLEY_CUDA_ARCHITECTURES="$architecture" -DPARLEY_SPEECH=ON >"$WORK/configure.log" &&
    cmake --build "$WORK/build" --parallel "$(nproc)" --target parley_cuda product_bench lost_wait gpu_bench live_bench gpu_recognition_bench mixed_bench write_checkpoint cuda_tests >"$WORK/build.log" 2>&1 ||
    { tail -40 "$WORK/build.log"; return 1; }
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv,noheader
}
stage_parity() { for group in $PARITY; do "$WORK/build/cuda_tests" "$group" || return 1; done; }
# Pocket TTS: latents and sound of the golden vectors.
stage_pocket() { "$WORK/build/cuda_tests" cuda_pocket; }
checkpoint() { # size
  [ -f "$WORK/$1/config.json" ] || "$WORK/build/write_checkpoint" --size "$1" --type custom_voice --out "$WORK/$1"
}
recogniser() { # size
  [ -f "$WORK/asr-$1/config.json" ] || "$WORK/build/write_checkpoint" --size "$1" --type asr --out "$WORK/asr-$1"
}
# Logits of the processors and of the GPU, with weights as the file has them and of 8 bits.
stage_asr-parity() {
  recogniser 0.6b && for weights in bf16 int8; do
    "$WORK/build/gpu_recognition_bench" "$PARLEY_CUDA_FILE" "$WORK/asr-0.6b" 1,3 5 $weights || return 1
  done
}
# Clips of five seconds together, and one of eight alone. The goals are those of 1.7B.
stage_asr-1.7b() { recogniser 1.7b && "$WORK/build/gpu_recognition_bench" "$PARLEY_CUDA_FILE" "$WORK/asr-1.7b" --rate 2500 --latency 45; }
stage_asr-0.6b() { recogniser 0.6b && "$WORK/build/gpu_recognition_bench" "$PARLEY_CUDA_FILE" "$WORK/asr-0.6b"; }
# Callers who hear and callers who speak, on one device. Fails if a listener misses sound, if a voice sounds other than
# alone, or if final texts are late.
stage_mixed() {
  checkpoint 1.7b && recogniser 1.7b && for callers in "0 400" "256 256"; do
    # shellcheck disable=SC2086
    "$WORK/build/mixed_bench" "$PARLEY_CUDA_FILE" "$WORK/1.7b" "$WORK/asr-1.7b" $callers 60 --p95 150 || return 1
  done
}
stage_bench-1.7b() { checkpoint 1.7b && "$WORK/build/gpu_bench" "$PARLEY_CUDA_FILE" "$WORK/1.7b" 1,8,16,64,128,256,512,1000; }
stage_bench-0.6b() { checkpoint 0.6b && "$WORK/build/gpu_bench" "$PARLEY_CUDA_FILE" "$WORK/0.6b" 1,8,16,64,128,256,512; }
# Weights of 8 bits: gpu_bench compares the codes of few streams with those of more.
stage_bench-bytes() {
  checkpoint 1.7b && for weights in int8 int8-talker fp8; do
    echo "$weights" && "$WORK/build/gpu_bench" "$PARLEY_CUDA_FILE" "$WORK/1.7b" 1,2,3,8,64,256 20 "$weights" || return 1
  done
}
stage_sanitize() {
  command -v compute-sanitizer >/dev/null || { echo "compute-sanitizer is not installed"; return 1; }
  compute-sanitizer --error-exitcode 9 --tool memcheck --target-processes all "$WORK/build/cuda_tests" cuda_speech | tail -20
}
# Ten thousand streams that come and go: memory in use at the end is that of the beginning.
stage_joins() { checkpoint 0.6b && "$WORK/build/gpu_bench" "$PARLEY_CUDA_FILE" "$WORK/0.6b" "$(yes 100 | head -100 | paste -sd,)" 5 | tail -12; }
# Listeners that all stay ahead: for a minute, arriving one after the other, and all at once.
stage_live() { checkpoint 1.7b && for how in staggered burst; do "$WORK/build/live_bench" "$PARLEY_CUDA_FILE" "$WORK/1.7b" 1000 $how 60 || return 1; done; }
stage_products() { "$WORK/build/cuda/product_bench"; }
# A wait inside of a grid for what never comes: an error within seconds.
stage_lost() { "$WORK/build/cuda/lost_wait"; }

failed=0
for stage in $STAGES; do
  [ -e "$WORK/done/$stage" ] && continue
  began=$SECONDS
  if (timeout "$LIMIT" bash -c "$(declare -f capability checkpoint recogniser "stage_$stage"); WORK='$WORK'; PARITY='$PARITY'; stage_$stage") >"$WORK/$stage.txt" 2>&1; then
    touch "$WORK/done/$stage"
  else
    failed=1
  fi
  echo "$stage: $((SECONDS - began)) s"
done
for stage in $STAGES; do
  printf '\n== %s (%s)\n' "$stage" "$([ -e "$WORK/done/$stage" ] && echo passed || echo FAILED)"
  cat "$WORK/$stage.txt"
  if [ -n "${OUT:-}" ]; then cp "$WORK/$stage.txt" "$OUT/"; fi
done
exit "$failed"
