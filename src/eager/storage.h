// Storage: bytes on a device, as PyTorch knows them; here a home type and a cell. Everything behind
// the public functions (tputorch/runtime.h) happens under the device's lock.
#ifndef TPUTORCH_EAGER_STORAGE_H_
#define TPUTORCH_EAGER_STORAGE_H_

#include "eager/cell.h"
#include "eager/home.h"
#include "eager/window.h"

struct tpt_storage {
  tpt_device_t* device;
  size_t size;
  void* address;
  const tpt_home_t* home;
  const tpt_window_t* window;   // (optional) the last window asked for: the fast way to the next
  tpt_cell_t* cell;             // NULL: `bytes`, or zeros
  void* bytes;                  // (optional) host bytes whose type no window has fixed yet; owned
  uint64_t call;                // number of the call that `group` belongs to
  uint32_t group;               // place among that call's storages
  tpt_storage_t** placeholder;  // (optional) who forgets this storage when it goes
  tpt_storage_t* previous;      // the device's live storages
  tpt_storage_t* next;
};

// A storage with no value yet; device locked.
TPT_MUST_USE tpt_status_t tpt_storage_make(tpt_device_t* device, size_t size,
                                           const tpt_home_t* home, tpt_storage_t** out_storage);
void tpt_storage_destroy(tpt_storage_t* take_storage);  // device locked; NULL is legal
// Puts a value in; the cell's reference is consumed (NULL: zeros).
void tpt_storage_set(tpt_storage_t* storage, const tpt_home_t* home, tpt_cell_t* take_cell);
// All of a storage of typed home as a tensor; sizes and strides are the interned window's.
TPT_MUST_USE tpt_status_t tpt_storage_whole(tpt_storage_t* storage, tpt_tensor_t* out_tensor);
// Makes storage->window that of the tensor over the present home.
TPT_MUST_USE tpt_status_t tpt_storage_look_up(tpt_storage_t* storage, const tpt_tensor_t* window);
// Uploads `bytes`, if any, in the home that `window` gives them; fixes the home of a storage without
// value when the window is only a part of it. Afterwards storage->window is that window's.
TPT_MUST_USE tpt_status_t tpt_storage_settle(tpt_storage_t* storage, const tpt_tensor_t* window);
// Uploads dense data of the home's type as the storage's new value.
TPT_MUST_USE tpt_status_t tpt_storage_upload(tpt_storage_t* storage, const tpt_home_t* home,
                                             const void* data);

#endif  // TPUTORCH_EAGER_STORAGE_H_
