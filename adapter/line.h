// The Python line that issues a call: found without the GIL, for errors that show late and for reports.
#ifndef TPUTORCH_ADAPTER_LINE_H_
#define TPUTORCH_ADAPTER_LINE_H_

#include <string>

namespace tputorch {

struct Line {
  const char* file = nullptr;  // kept for the process; null: not known
  int number = 0;              // 0: `file` is a phrase, "the backward of MulBackward0"
};

// Innermost line of the calling thread outside the folders told below (the innermost of all if there is
// none); on autograd's own threads the node that is running. Needs no GIL, holds no lock.
Line current_line();
// Files under this folder are PyTorch's or ours: lines in them are passed over.
void pass_over_folder(const std::string& folder);
// Makes the line of this thread that of the core's next uploads and copies.
void tell_line();

}  // namespace tputorch

#endif  // TPUTORCH_ADAPTER_LINE_H_
