module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x4x5xf32>, %arg1: tensor<4x3x6xf32>) -> (tensor<2x6x5xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1, 0] x [1, 2], precision = [HIGHEST, HIGHEST] : (tensor<4x3x6xf32>, tensor<2x3x4x5xf32>) -> tensor<6x2x5xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0, 2] : (tensor<6x2x5xf32>) -> tensor<2x6x5xf32>
    return %1 : tensor<2x6x5xf32>
  }
}
