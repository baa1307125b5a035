module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x5xi32>) -> (tensor<4x5xi32> {jax.result_info = "result"}) {
    %0 = stablehlo.iota dim = 1 : tensor<4x5xi32>
    %1 = stablehlo.add %0, %arg0 : tensor<4x5xi32>
    return %1 : tensor<4x5xi32>
  }
}
