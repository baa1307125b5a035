module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x4xf32>) -> (tensor<6x12xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.reshape %arg0 : (tensor<3x4xf32>) -> tensor<1x3x1x4xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2, 3] : (tensor<1x3x1x4xf32>) -> tensor<2x3x3x4xf32>
    %2 = stablehlo.reshape %1 : (tensor<2x3x3x4xf32>) -> tensor<6x12xf32>
    %3 = call @_roll_static(%2) : (tensor<6x12xf32>) -> tensor<6x12xf32>
    return %3 : tensor<6x12xf32>
  }
  func.func private @_roll_static(%arg0: tensor<6x12xf32>) -> tensor<6x12xf32> {
    %0 = stablehlo.slice %arg0 [0:6, 10:12] : (tensor<6x12xf32>) -> tensor<6x2xf32>
    %1 = stablehlo.slice %arg0 [0:6, 0:10] : (tensor<6x12xf32>) -> tensor<6x10xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<6x2xf32>, tensor<6x10xf32>) -> tensor<6x12xf32>
    return %2 : tensor<6x12xf32>
  }
}
