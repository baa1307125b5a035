module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<40xcomplex<f32>>, %arg1: tensor<40xcomplex<f32>>) -> (tensor<40xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<40xcomplex<f32>> {jax.result_info = "result[1]"}, tensor<40xcomplex<f32>> {jax.result_info = "result[2]"}, tensor<40xcomplex<f32>> {jax.result_info = "result[3]"}) {
    %0 = stablehlo.add %arg0, %arg1 : tensor<40xcomplex<f32>>
    %1 = stablehlo.subtract %arg0, %arg1 : tensor<40xcomplex<f32>>
    %2 = stablehlo.multiply %arg0, %arg1 : tensor<40xcomplex<f32>>
    %3 = stablehlo.divide %arg0, %arg1 : tensor<40xcomplex<f32>>
    return %0, %1, %2, %3 : tensor<40xcomplex<f32>>, tensor<40xcomplex<f32>>, tensor<40xcomplex<f32>>, tensor<40xcomplex<f32>>
  }
}
