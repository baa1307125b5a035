// Storages as PyTorch sees them: the allocator of device memory, pinned host memory, and the map from
// a torch storage to the core's. A storage's address is a name in a protected range, never memory.
#include <map>
#include <mutex>

#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/StorageImpl.h>
#include <c10/util/Exception.h>

#include "adapter/adapter.h"
#include "adapter/pinned.h"

namespace tputorch {
namespace {

void release_storage(void* context) {
  tpt_storage_release(static_cast<tpt_storage_t*>(context));
}

struct TpuAllocator final : c10::DeviceAllocator {
  c10::DataPtr allocate(size_t size) override {
    c10::DeviceIndex device = current_device();
    tpt_storage_t* storage = nullptr;
    check(tpt_storage_create(device, size, &storage));
    return own_storage(storage, device);
  }
  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void*, const void*, std::size_t) const override {
    TORCH_CHECK(false, "raw copies between tpu storages are not possible; copy tensors");
  }
  bool initialized() override { return tpt_runtime_is_open(); }
  void emptyCache(c10::MempoolId_t) override {
    for (int i = 0; tpt_runtime_is_open() && i < tpt_runtime_device_count(); i++)
      tpt_device_empty_cache(i);
  }
  void recordStream(const c10::DataPtr&, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex device) override {
    tpt_device_memory_t memory;
    check(tpt_device_memory(resolve_device(device), &memory));
    c10::CachingDeviceAllocator::DeviceStats stats;
    for (auto* array : {&stats.allocated_bytes, &stats.active_bytes, &stats.requested_bytes,
                        &stats.reserved_bytes}) {
      (*array)[0].current = memory.allocated;
      (*array)[0].peak = memory.peak_allocated;
    }
    stats.allocation[0].current = memory.storage_count;
    stats.allocation[0].allocated = memory.allocation_count;
    return stats;
  }
  void resetAccumulatedStats(c10::DeviceIndex) override {}
  void resetPeakStats(c10::DeviceIndex device) override {
    tpt_device_memory_reset_peak(resolve_device(device));
  }
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex device) override {
    tpt_device_memory_t memory;
    check(tpt_device_memory(resolve_device(device), &memory));
    TORCH_CHECK_NOT_IMPLEMENTED(memory.limit > 0,
                                "the plugin does not tell how much memory its devices have");
    size_t limit = static_cast<size_t>(memory.limit), used = static_cast<size_t>(memory.in_use);
    return {limit > used ? limit - used : 0, limit};
  }
};

TpuAllocator the_allocator;
C10_UNUSED const bool registered = [] {
  c10::SetAllocator(kTpu, &the_allocator);
  return true;
}();

// Pinned memory is ordinary host memory of ours whose ranges are remembered.
struct PinnedRanges {
  std::mutex mutex;
  std::map<uintptr_t, size_t> ranges;
};
PinnedRanges& pinned() {
  static PinnedRanges* ranges = new PinnedRanges;  // outlives every tensor
  return *ranges;
}

void release_pinned(void* data) {
  {
    std::lock_guard<std::mutex> lock(pinned().mutex);
    pinned().ranges.erase(reinterpret_cast<uintptr_t>(data));
  }
  c10::GetDefaultCPUAllocator()->raw_deallocate(data);
}

struct PinnedAllocator final : c10::Allocator {
  c10::DataPtr allocate(size_t size) override {
    if (size == 0) return {nullptr, c10::Device(c10::kCPU)};
    void* data = c10::GetDefaultCPUAllocator()->raw_allocate(size);
    std::lock_guard<std::mutex> lock(pinned().mutex);
    pinned().ranges.emplace(reinterpret_cast<uintptr_t>(data), size);
    return {data, data, &release_pinned, c10::Device(c10::kCPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release_pinned; }
  void copy_data(void* dst, const void* src, std::size_t size) const override {
    default_copy_data(dst, src, size);
  }
};
PinnedAllocator the_pinned_allocator;

}  // namespace

c10::Allocator* allocator() {
  return &the_allocator;
}
c10::Allocator* pinned_allocator() {
  return &the_pinned_allocator;
}

bool is_pinned(const void* data) {
  std::lock_guard<std::mutex> lock(pinned().mutex);
  auto address = reinterpret_cast<uintptr_t>(data);
  auto next = pinned().ranges.upper_bound(address);
  if (next == pinned().ranges.begin()) return false;
  --next;
  return address - next->first < next->second;
}

namespace {

// Says once, at the first storage, that there is no chip and vtpu stands in.
bool announce() {
  char plugin[1024] = "", quiet[8] = "0";
  tpt_status_release(tpt_runtime_get_option("plugin", plugin, sizeof(plugin)));
  tpt_status_release(tpt_runtime_get_option("quiet", quiet, sizeof(quiet)));
  tpt_device_info_t info;
  tpt_status_t status = tpt_device_info(0, &info);
  if (!status && strcmp(plugin, "auto") == 0 && quiet[0] != '1' &&
      strcmp(info.platform, "vtpu") == 0)
    fprintf(stderr, "tputorch: no TPU found, running on the virtual TPU (%s, %.1f GiB HBM).\n",
            info.kind, static_cast<double>(info.memory_size) / (1 << 30));
  tpt_status_release(status);
  return true;
}

}  // namespace

c10::DataPtr own_storage(tpt_storage_t* take_storage, c10::DeviceIndex device) {
  static const bool announced = announce();
  (void)announced;
  return {tpt_storage_address(take_storage), take_storage, &release_storage,
          c10::Device(kTpu, device)};
}

tpt_storage_t* storage_of(const c10::StorageImpl* impl, size_t* out_offset) {
  const c10::DataPtr& data = impl->data_ptr();
  *out_offset = 0;
  if (__builtin_expect(data.get_deleter() == &release_storage, 1))
    return static_cast<tpt_storage_t*>(data.get_context());
  // Core made this storage over an address of ours (from_blob): the context is not the core's.
  tpt_storage_t* storage = tpt_storage_find(data.get(), out_offset);
  TORCH_CHECK(storage != nullptr,
              "a tensor on device tpu has a storage that tputorch did not make");
  return storage;
}

void resize_storage(c10::StorageImpl* impl, size_t size) {
  size_t offset = 0;
  tpt_storage_t* storage = storage_of(impl, &offset);
  TORCH_CHECK(impl->data_ptr().get_deleter() == &release_storage,
              "resize_: the storage borrows its memory and cannot be resized");
  check(tpt_storage_resize(storage, size));
  c10::DeviceIndex device = impl->device().index();
  // The address may have changed: hand the same storage to a new DataPtr.
  c10::DataPtr old = impl->set_data_ptr(c10::DataPtr());
  old.release_context();
  impl->set_data_ptr_noswap(own_storage(storage, device));
  impl->set_nbytes(size);
}

}  // namespace tputorch
