module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x2xf32>, %arg1: tensor<3x5xf32>, %arg2: tensor<3x1xf32>) -> (tensor<3x8xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.concatenate %arg0, %arg1, %arg2, dim = 1 : (tensor<3x2xf32>, tensor<3x5xf32>, tensor<3x1xf32>) -> tensor<3x8xf32>
    return %0 : tensor<3x8xf32>
  }
}
