module @jit_dots attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<33x20xbf16>, %arg1: tensor<20x17xbf16>, %arg2: tensor<9x31xbf16>, %arg3: tensor<3x5x6xbf16>, %arg4: tensor<3x6x7xbf16>) -> (tensor<33x17xbf16> {jax.result_info = "result[0]"}, tensor<17x33xbf16> {jax.result_info = "result[1]"}, tensor<9x9xbf16> {jax.result_info = "result[2]"}, tensor<3x5x7xbf16> {jax.result_info = "result[3]"}, tensor<33xbf16> {jax.result_info = "result[4]"}, tensor<17xbf16> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<33x20xbf16>, tensor<20x17xbf16>) -> tensor<33x17xbf16>
    %1 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<20x17xbf16>) -> tensor<17x20xbf16>
    %2 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<33x20xbf16>) -> tensor<20x33xbf16>
    %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<17x20xbf16>, tensor<20x33xbf16>) -> tensor<17x33xbf16>
    %4 = stablehlo.transpose %arg2, dims = [1, 0] : (tensor<9x31xbf16>) -> tensor<31x9xbf16>
    %5 = stablehlo.dot_general %arg2, %4, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<9x31xbf16>, tensor<31x9xbf16>) -> tensor<9x9xbf16>
    %6 = stablehlo.dot_general %arg3, %arg4, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [HIGHEST, HIGHEST] : (tensor<3x5x6xbf16>, tensor<3x6x7xbf16>) -> tensor<3x5x7xbf16>
    %7 = stablehlo.slice %arg1 [0:20, 0:1] : (tensor<20x17xbf16>) -> tensor<20x1xbf16>
    %8 = stablehlo.reshape %7 : (tensor<20x1xbf16>) -> tensor<20xbf16>
    %9 = stablehlo.dot_general %arg0, %8, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] : (tensor<33x20xbf16>, tensor<20xbf16>) -> tensor<33xbf16>
    %10 = stablehlo.slice %arg1 [0:20, 0:1] : (tensor<20x17xbf16>) -> tensor<20x1xbf16>
    %11 = stablehlo.reshape %10 : (tensor<20x1xbf16>) -> tensor<20xbf16>
    %12 = stablehlo.dot_general %11, %arg1, contracting_dims = [0] x [0], precision = [HIGHEST, HIGHEST] : (tensor<20xbf16>, tensor<20x17xbf16>) -> tensor<17xbf16>
    return %0, %3, %5, %6, %9, %12 : tensor<33x17xbf16>, tensor<17x33xbf16>, tensor<9x9xbf16>, tensor<3x5x7xbf16>, tensor<33xbf16>, tensor<17xbf16>
  }
}
