#include "media/ready.h"

#include <algorithm>

namespace parley {

ReadySink::~ReadySink() {
  ReadyNode* node = head_.load();
  while (node != nullptr) {
    std::unique_ptr<ReadyNode> owned(node);
    node = owned->next;
  }
}

void ReadySink::Push(std::unique_ptr<ReadyNode> owned) {
  // The node lets go of the sink before it is listed: a listed node that held
  // its own sink would keep an ended environment's sink alive for ever.
  std::shared_ptr<ReadySink> sink = std::move(owned->sink);
  ReadyNode* node = owned.release();
  ReadyNode* head = sink->head_.load();
  do {
    node->next = head;
  } while (!sink->head_.compare_exchange_weak(head, node));
  if (head == nullptr) sink->Wake();
}

std::vector<uint64_t> ReadySink::Take() {
  std::vector<uint64_t> handles;
  ReadyNode* node = head_.exchange(nullptr);
  while (node != nullptr) {
    std::unique_ptr<ReadyNode> owned(node);
    handles.push_back(owned->handle);
    node = owned->next;
  }
  std::reverse(handles.begin(), handles.end());
  // Both watches of one object may fire in one batch; batches are short.
  auto end = handles.begin();
  for (uint64_t handle : handles) {
    if (std::find(handles.begin(), end, handle) == end) *end++ = handle;
  }
  handles.erase(end, handles.end());
  return handles;
}

void ReadyWatch::Arm(std::shared_ptr<ReadySink> sink, uint64_t handle) {
  auto node = std::make_unique<ReadyNode>();
  node->sink = std::move(sink);
  node->handle = handle;
  std::unique_ptr<ReadyNode> former(armed_.exchange(node.release()));
}

void ReadyWatch::Disarm() { std::unique_ptr<ReadyNode> former(armed_.exchange(nullptr)); }

void ReadyWatch::Fire() {
  if (armed_.load() == nullptr) return;
  std::unique_ptr<ReadyNode> node(armed_.exchange(nullptr));
  if (node) ReadySink::Push(std::move(node));
}

}  // namespace parley
