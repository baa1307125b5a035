module @jit_all_axes attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x17x6xf32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<f32> {jax.result_info = "result[1]"}, tensor<f32> {jax.result_info = "result[2]"}, tensor<f32> {jax.result_info = "result[3]"}, tensor<17x6xf32> {jax.result_info = "result[4]"}, tensor<17x6xf32> {jax.result_info = "result[5]"}, tensor<17x6xf32> {jax.result_info = "result[6]"}, tensor<17x6xf32> {jax.result_info = "result[7]"}, tensor<5x6xf32> {jax.result_info = "result[8]"}, tensor<5x6xf32> {jax.result_info = "result[9]"}, tensor<5x6xf32> {jax.result_info = "result[10]"}, tensor<5x6xf32> {jax.result_info = "result[11]"}, tensor<17xf32> {jax.result_info = "result[12]"}, tensor<17xf32> {jax.result_info = "result[13]"}, tensor<17xf32> {jax.result_info = "result[14]"}, tensor<17xf32> {jax.result_info = "result[15]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.multiply across dimensions = [0, 1, 2] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %2 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_2 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %3 = stablehlo.reduce(%arg0 init: %cst_2) applies stablehlo.minimum across dimensions = [0, 1, 2] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<f32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%arg0 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<17x6xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%arg0 init: %cst_4) applies stablehlo.multiply across dimensions = [0] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<17x6xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %6 = stablehlo.reduce(%arg0 init: %cst_5) applies stablehlo.maximum across dimensions = [0] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<17x6xf32>
    %cst_6 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %7 = stablehlo.reduce(%arg0 init: %cst_6) applies stablehlo.minimum across dimensions = [0] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<17x6xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.reduce(%arg0 init: %cst_7) applies stablehlo.add across dimensions = [1] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<5x6xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%arg0 init: %cst_8) applies stablehlo.multiply across dimensions = [1] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<5x6xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %10 = stablehlo.reduce(%arg0 init: %cst_9) applies stablehlo.maximum across dimensions = [1] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<5x6xf32>
    %cst_10 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %11 = stablehlo.reduce(%arg0 init: %cst_10) applies stablehlo.minimum across dimensions = [1] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<5x6xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%arg0 init: %cst_11) applies stablehlo.add across dimensions = [0, 2] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<17xf32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.reduce(%arg0 init: %cst_12) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<17xf32>
    %cst_13 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %14 = stablehlo.reduce(%arg0 init: %cst_13) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<17xf32>
    %cst_14 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %15 = stablehlo.reduce(%arg0 init: %cst_14) applies stablehlo.minimum across dimensions = [0, 2] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<17xf32>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<17x6xf32>, tensor<17x6xf32>, tensor<17x6xf32>, tensor<17x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<5x6xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>, tensor<17xf32>
  }
}
