module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x16xf32>) -> (tensor<4x16xf32> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<4x16xf32>) -> tensor<4x9xcomplex<f32>>
    %1 = call @fft_0(%0) : (tensor<4x9xcomplex<f32>>) -> tensor<4x16xf32>
    %2 = call @fft(%arg0) : (tensor<4x16xf32>) -> tensor<4x9xcomplex<f32>>
    %3 = stablehlo.real %2 : (tensor<4x9xcomplex<f32>>) -> tensor<4x9xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x9xf32>, tensor<f32>) -> tensor<f32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
    %6 = stablehlo.add %1, %5 : tensor<4x16xf32>
    return %6 : tensor<4x16xf32>
  }
  func.func private @fft(%arg0: tensor<4x16xf32>) -> tensor<4x9xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [16] : (tensor<4x16xf32>) -> tensor<4x9xcomplex<f32>>
    return %0 : tensor<4x9xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<4x9xcomplex<f32>>) -> tensor<4x16xf32> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [16] : (tensor<4x9xcomplex<f32>>) -> tensor<4x16xf32>
    return %0 : tensor<4x16xf32>
  }
}
