// Device side of PyTorch's interfaces: status to exception, current device, guard (one stream a device,
// events), hooks, generators.
#include <chrono>
#include <memory>
#include <random>
#include <vector>

#include <ATen/core/Generator.h>
#include <ATen/core/GeneratorForPrivateuseone.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <ATen/ops/empty.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include "adapter/adapter.h"
#include "adapter/interrupt.h"
#include "adapter/pinned.h"

namespace tputorch {

void throw_status(tpt_status_t take_status) {
  tpt_code_t code = tpt_status_code(take_status);
  std::string message = tpt_status_message(take_status);
  tpt_status_release(take_status);
  switch (code) {
  case TPT_CANCELLED:
    throw_if_raised();
    TORCH_CHECK(false, message);
  case TPT_OUT_OF_RANGE:
    TORCH_CHECK_INDEX(false, message);
  case TPT_UNIMPLEMENTED:
    TORCH_CHECK_NOT_IMPLEMENTED(false, message);
  case TPT_RESOURCE_EXHAUSTED:
    TORCH_CHECK_WITH(OutOfMemoryError, false, message);
  default:
    TORCH_CHECK(false, message);
  }
  throw std::runtime_error(message);  // not reached: each case throws
}

namespace {
thread_local c10::DeviceIndex thread_device = 0;
}

c10::DeviceIndex current_device() {
  return thread_device;
}

c10::DeviceIndex resolve_device(c10::DeviceIndex device) {
  if (device < 0) return thread_device;
  int count = tpt_runtime_device_count();
  TORCH_CHECK(device < count, "tpu:", static_cast<int>(device), " does not exist: there ",
              count == 1 ? "is 1 tpu device" : "are " + std::to_string(count) + " tpu devices",
              " (TPUTORCH_OPTIONS=\"devices=N\" sets the number that the virtual TPU shows)");
  return device;
}

void set_current_device(c10::DeviceIndex device) {
  TORCH_CHECK(device >= 0, "device index must not be negative, got ", static_cast<int>(device));
  thread_device = resolve_device(device);
}

namespace {

struct Event {
  c10::DeviceIndex device;
  std::chrono::steady_clock::time_point time;
};

// One in-order stream a device: id 0.
struct TpuGuard final : c10::impl::DeviceGuardImplInterface {
  c10::DeviceType type() const override { return kTpu; }
  c10::Device exchangeDevice(c10::Device device) const override {
    c10::Device old(kTpu, thread_device);
    if (device.index() >= 0 && device.index() != thread_device) set_current_device(device.index());
    return old;
  }
  c10::Device getDevice() const override { return {kTpu, thread_device}; }
  void setDevice(c10::Device device) const override { set_current_device(device.index()); }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    if (device.index() >= 0) thread_device = device.index();
  }
  c10::Stream getStream(c10::Device device) const override {
    return c10::Stream(c10::Stream::DEFAULT, device);
  }
  c10::Stream getDefaultStream(c10::Device device) const override { return getStream(device); }
  c10::Stream getNewStream(c10::Device device, int) const override { return getStream(device); }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    return getStream(device);
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    return getStream(stream.device());
  }
  c10::DeviceIndex deviceCount() const noexcept override {
    return static_cast<c10::DeviceIndex>(tpt_runtime_device_count());
  }
  bool queryStream(const c10::Stream& stream) const override {
    synchronizeStream(stream);
    return true;
  }
  void synchronizeStream(const c10::Stream& stream) const override {
    synchronizeDevice(stream.device_index());
  }
  void synchronizeDevice(const c10::DeviceIndex device) const override {
    if (tpt_runtime_is_open()) check(tpt_device_synchronize(resolve_device(device)));
  }
  // All work before a record has finished when the record returns: times are true, order is program order.
  void record(void** event, const c10::Stream& stream, const c10::DeviceIndex,
              const c10::EventFlag) const override {
    synchronizeStream(stream);
    if (!*event) *event = new Event;
    *static_cast<Event*>(*event) = {stream.device_index(), std::chrono::steady_clock::now()};
  }
  void block(void*, const c10::Stream&) const override {}
  bool queryEvent(void*) const override { return true; }
  void synchronizeEvent(void*) const override {}
  void destroyEvent(void* event, const c10::DeviceIndex) const noexcept override {
    delete static_cast<Event*>(event);
  }
  double elapsedTime(void* start, void* end, const c10::DeviceIndex) const override {
    TORCH_CHECK(start && end, "both events must be recorded before their elapsed time is read");
    auto span = static_cast<Event*>(end)->time - static_cast<Event*>(start)->time;
    return std::chrono::duration<double, std::milli>(span).count();
  }
};
C10_REGISTER_GUARD_IMPL(PrivateUse1, TpuGuard);

// State on the host: 16 bytes, seed then offset (counts Philox counters).
struct TpuGenerator final : c10::GeneratorImpl {
  explicit TpuGenerator(c10::DeviceIndex device)
      : c10::GeneratorImpl(c10::Device(kTpu, device),
                           c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)) {
    check(tpt_generator_create(device, &state_));
    owned_ = true;
  }
  TpuGenerator(c10::DeviceIndex device, tpt_generator_t* borrowed)
      : c10::GeneratorImpl(c10::Device(kTpu, device),
                           c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
        state_(borrowed) {}
  ~TpuGenerator() override {
    if (owned_) tpt_generator_release(state_);
  }
  void set_current_seed(uint64_t seed) override { tpt_generator_set(state_, seed, 0); }
  void set_offset(uint64_t offset) override { tpt_generator_set(state_, current_seed(), offset); }
  uint64_t get_offset() const override {
    uint64_t seed, offset;
    tpt_generator_get(state_, &seed, &offset);
    return offset;
  }
  uint64_t current_seed() const override {
    uint64_t seed, offset;
    tpt_generator_get(state_, &seed, &offset);
    return seed;
  }
  uint64_t seed() override {
    std::random_device device;
    uint64_t seed = (static_cast<uint64_t>(device()) << 32 | device()) & 0x1FFFFFFFFFFFFF;
    set_current_seed(seed);
    return seed;
  }
  void set_state(const c10::TensorImpl& state) override {
    TORCH_CHECK(state.device_type() == c10::kCPU &&
                    state.dtype() == caffe2::TypeMeta::Make<uint8_t>() && state.numel() == 16 &&
                    state.is_contiguous(),
                "the RNG state of tpu is a contiguous CPU tensor of 16 uint8 (seed, offset)");
    uint64_t words[2];
    memcpy(words, state.data(), sizeof(words));
    tpt_generator_set(state_, words[0], words[1]);
  }
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override {
    uint64_t words[2];
    tpt_generator_get(state_, &words[0], &words[1]);
    at::Tensor state = at::empty({16}, at::TensorOptions().dtype(at::kByte).device(at::kCPU));
    memcpy(state.mutable_data_ptr(), words, sizeof(words));
    return state.getIntrusivePtr();
  }
  tpt_generator_t* state() const { return state_; }

private:
  TpuGenerator* clone_impl() const override {
    auto* copy = new TpuGenerator(device().index());
    uint64_t seed, offset;
    tpt_generator_get(state_, &seed, &offset);
    tpt_generator_set(copy->state_, seed, offset);
    return copy;
  }
  tpt_generator_t* state_ = nullptr;
  bool owned_ = false;
};

struct TpuHooks final : at::PrivateUse1HooksInterface {
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return tpt_runtime_device_count() > 0; }
  void init() const override { check(tpt_runtime_open()); }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return tpt_runtime_is_open(); }
  c10::DeviceIndex deviceCount() const override {
    return static_cast<c10::DeviceIndex>(tpt_runtime_device_count());
  }
  void setCurrentDevice(c10::DeviceIndex device) const override { set_current_device(device); }
  c10::DeviceIndex getCurrentDevice() const override { return current_device(); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    c10::DeviceIndex old = thread_device;
    if (device >= 0) set_current_device(device);
    return old;
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    c10::DeviceIndex old = thread_device;
    if (device >= 0) thread_device = device;
    return old;
  }
  bool isPinnedPtr(const void* data) const override { return is_pinned(data); }
  at::Allocator* getPinnedMemoryAllocator() const override { return pinned_allocator(); }
  at::Device getDeviceFromPtr(void* data) const override {
    size_t offset = 0;
    tpt_storage_t* storage = tpt_storage_find(data, &offset);
    TORCH_CHECK(storage, "the address does not belong to a tpu storage");
    return {kTpu, static_cast<c10::DeviceIndex>(tpt_storage_device(storage))};
  }
  const at::Generator& getDefaultGenerator(c10::DeviceIndex device) const override {
    return default_generator(device);
  }
  at::Generator getNewGenerator(c10::DeviceIndex device) const override {
    return at::make_generator<TpuGenerator>(resolve_device(device));
  }
  void resizePrivateUse1Bytes(const c10::Storage& storage, size_t size) const override {
    resize_storage(storage.unsafeGetStorageImpl(), size);
  }
};

TpuHooks the_hooks;
C10_UNUSED const bool registered = [] {
  at::RegisterPrivateUse1HooksInterface(&the_hooks);
  return true;
}();

}  // namespace

const at::Generator& default_generator(c10::DeviceIndex device) {
  static std::vector<at::Generator>* generators = [] {
    auto* made = new std::vector<at::Generator>;
    for (int i = 0; i < tpt_runtime_device_count(); i++)
      made->push_back(at::make_generator<TpuGenerator>(static_cast<c10::DeviceIndex>(i),
                                                       tpt_generator_default(i)));
    return made;
  }();
  return generators->at(static_cast<size_t>(resolve_device(device)));
}

tpt_generator_t* generator_of(const c10::IValue& value) {
  if (value.isNone()) return nullptr;
  at::Generator generator = value.toGenerator();
  if (!generator.defined()) return nullptr;
  TORCH_CHECK(generator.device().type() == kTpu,
              "Expected a 'tpu' device type for generator but found '", generator.device().type(),
              "'");
  return static_cast<TpuGenerator*>(generator.unsafeGetGeneratorImpl())->state();
}

}  // namespace tputorch
