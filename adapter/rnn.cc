// nn.LSTM over whole sequences: each direction of each layer is one row of the op table, so that its
// products with the input are one, and forward and backward one program each. PyTorch knows the
// derivative of that op. What is no plain LSTM layer (projections, packed sequences) stays composed of cells.
#include <ATen/ops/cat.h>
#include <ATen/ops/dropout.h>
#include <ATen/ops/lstm_native.h>
#include <ATen/ops/mkldnn_rnn_layer.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

namespace {

using at::Tensor;
using States = std::tuple<Tensor, Tensor, Tensor>;

constexpr int64_t kLstm = 2;

// Whether the row takes it; everything else, errors included, is PyTorch's own way.
bool is_plain(const Tensor& input, at::TensorList hx, at::TensorList params, int64_t parts,
              int64_t layers) {
  if (input.dim() != 3 || !input.is_floating_point() || hx.size() != 2) return false;
  if (static_cast<int64_t>(params.size()) != parts * layers) return false;
  if (input.sym_size(0) == 0 || input.sym_size(1) == 0) return false;
  for (const Tensor& state : hx) {
    if (state.dim() != 3 || state.device() != input.device()) return false;
    if (state.scalar_type() != input.scalar_type() || state.sym_size(0) != layers) return false;
  }
  for (const Tensor& param : params) {
    if (param.device() != input.device() || param.scalar_type() != input.scalar_type())
      return false;
  }
  return hx[0].sym_sizes().equals(hx[1].sym_sizes());
}

struct Layer {
  at::TensorList params, hx;
  bool has_biases, bidirectional, train;
  int64_t parts, hidden, layers;
};

// One direction: output, hy, cy.
States run_direction(const Layer& layer, const Tensor& input, int64_t number, bool reverse) {
  const Tensor* weight = layer.params.data() + number * layer.parts;
  Tensor zero;
  if (!layer.has_biases) zero = at::zeros({4 * layer.hidden}, weight[0].options());
  const Tensor& bias_ih = layer.has_biases ? weight[2] : zero;
  const Tensor& bias_hh = layer.has_biases ? weight[3] : zero;
  auto [output, hy, cy, workspace] = at::mkldnn_rnn_layer(
      input, weight[0], weight[1], bias_ih, bias_hh, layer.hx[0][number], layer.hx[1][number],
      reverse, {}, kLstm, layer.hidden, layer.layers, layer.has_biases, layer.bidirectional,
      /*batch_first=*/false, layer.train);
  return {output, hy, cy};
}

States lstm(const Tensor& input, at::TensorList hx, at::TensorList params, bool has_biases,
            int64_t num_layers, double dropout, bool train, bool bidirectional, bool batch_first) {
  const int64_t directions = bidirectional ? 2 : 1, parts = has_biases ? 4 : 2;
  if (!is_plain(input, hx, params, parts, directions * num_layers))
    return at::native::lstm(input, hx, params, has_biases, num_layers, dropout, train,
                            bidirectional, batch_first);
  const Layer layer{params, hx,    has_biases,        bidirectional,
                    train,  parts, params[1].size(1), num_layers};
  std::vector<Tensor> hidden, cells;
  Tensor x = batch_first ? input.transpose(0, 1) : input;
  for (int64_t i = 0; i < num_layers; i++) {
    std::vector<Tensor> outputs;
    for (int64_t d = 0; d < directions; d++) {
      auto [output, hy, cy] = run_direction(layer, x, i * directions + d, d == 1);
      outputs.push_back(output);
      hidden.push_back(hy);
      cells.push_back(cy);
    }
    x = bidirectional ? at::cat(outputs, 2) : outputs[0];
    if (dropout != 0 && train && i + 1 < num_layers) x = at::dropout(x, dropout, train);
  }
  if (batch_first) x = x.transpose(0, 1);
  return {x, at::stack(hidden), at::stack(cells)};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, AutogradPrivateUse1, m) {
  m.impl("lstm.input", TORCH_FN(lstm));
}
TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("lstm.input", TORCH_FN(lstm));
}
