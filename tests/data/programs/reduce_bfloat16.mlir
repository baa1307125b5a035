module @jit_all_axes attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<5x17x6xbf16>) -> (tensor<bf16> {jax.result_info = "result[0]"}, tensor<bf16> {jax.result_info = "result[1]"}, tensor<bf16> {jax.result_info = "result[2]"}, tensor<bf16> {jax.result_info = "result[3]"}, tensor<17x6xbf16> {jax.result_info = "result[4]"}, tensor<17x6xbf16> {jax.result_info = "result[5]"}, tensor<17x6xbf16> {jax.result_info = "result[6]"}, tensor<17x6xbf16> {jax.result_info = "result[7]"}, tensor<5x6xbf16> {jax.result_info = "result[8]"}, tensor<5x6xbf16> {jax.result_info = "result[9]"}, tensor<5x6xbf16> {jax.result_info = "result[10]"}, tensor<5x6xbf16> {jax.result_info = "result[11]"}, tensor<17xbf16> {jax.result_info = "result[12]"}, tensor<17xbf16> {jax.result_info = "result[13]"}, tensor<17xbf16> {jax.result_info = "result[14]"}, tensor<17xbf16> {jax.result_info = "result[15]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<5x17x6xbf16>) -> tensor<5x17x6xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<f32>
    %2 = stablehlo.convert %1 : (tensor<f32>) -> tensor<bf16>
    %3 = stablehlo.convert %arg0 : (tensor<5x17x6xbf16>) -> tensor<5x17x6xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.multiply across dimensions = [0, 1, 2] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<f32>
    %5 = stablehlo.convert %4 : (tensor<f32>) -> tensor<bf16>
    %cst_1 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %6 = stablehlo.reduce(%arg0 init: %cst_1) applies stablehlo.maximum across dimensions = [0, 1, 2] : (tensor<5x17x6xbf16>, tensor<bf16>) -> tensor<bf16>
    %cst_2 = stablehlo.constant dense<0x7F80> : tensor<bf16>
    %7 = stablehlo.reduce(%arg0 init: %cst_2) applies stablehlo.minimum across dimensions = [0, 1, 2] : (tensor<5x17x6xbf16>, tensor<bf16>) -> tensor<bf16>
    %8 = stablehlo.convert %arg0 : (tensor<5x17x6xbf16>) -> tensor<5x17x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.reduce(%8 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<17x6xf32>
    %10 = stablehlo.convert %9 : (tensor<17x6xf32>) -> tensor<17x6xbf16>
    %11 = stablehlo.convert %arg0 : (tensor<5x17x6xbf16>) -> tensor<5x17x6xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_4) applies stablehlo.multiply across dimensions = [0] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<17x6xf32>
    %13 = stablehlo.convert %12 : (tensor<17x6xf32>) -> tensor<17x6xbf16>
    %cst_5 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %14 = stablehlo.reduce(%arg0 init: %cst_5) applies stablehlo.maximum across dimensions = [0] : (tensor<5x17x6xbf16>, tensor<bf16>) -> tensor<17x6xbf16>
    %cst_6 = stablehlo.constant dense<0x7F80> : tensor<bf16>
    %15 = stablehlo.reduce(%arg0 init: %cst_6) applies stablehlo.minimum across dimensions = [0] : (tensor<5x17x6xbf16>, tensor<bf16>) -> tensor<17x6xbf16>
    %16 = stablehlo.convert %arg0 : (tensor<5x17x6xbf16>) -> tensor<5x17x6xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_7) applies stablehlo.add across dimensions = [1] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<5x6xf32>
    %18 = stablehlo.convert %17 : (tensor<5x6xf32>) -> tensor<5x6xbf16>
    %19 = stablehlo.convert %arg0 : (tensor<5x17x6xbf16>) -> tensor<5x17x6xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_8) applies stablehlo.multiply across dimensions = [1] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<5x6xf32>
    %21 = stablehlo.convert %20 : (tensor<5x6xf32>) -> tensor<5x6xbf16>
    %cst_9 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %22 = stablehlo.reduce(%arg0 init: %cst_9) applies stablehlo.maximum across dimensions = [1] : (tensor<5x17x6xbf16>, tensor<bf16>) -> tensor<5x6xbf16>
    %cst_10 = stablehlo.constant dense<0x7F80> : tensor<bf16>
    %23 = stablehlo.reduce(%arg0 init: %cst_10) applies stablehlo.minimum across dimensions = [1] : (tensor<5x17x6xbf16>, tensor<bf16>) -> tensor<5x6xbf16>
    %24 = stablehlo.convert %arg0 : (tensor<5x17x6xbf16>) -> tensor<5x17x6xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_11) applies stablehlo.add across dimensions = [0, 2] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<17xf32>
    %26 = stablehlo.convert %25 : (tensor<17xf32>) -> tensor<17xbf16>
    %27 = stablehlo.convert %arg0 : (tensor<5x17x6xbf16>) -> tensor<5x17x6xf32>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %28 = stablehlo.reduce(%27 init: %cst_12) applies stablehlo.multiply across dimensions = [0, 2] : (tensor<5x17x6xf32>, tensor<f32>) -> tensor<17xf32>
    %29 = stablehlo.convert %28 : (tensor<17xf32>) -> tensor<17xbf16>
    %cst_13 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %30 = stablehlo.reduce(%arg0 init: %cst_13) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<5x17x6xbf16>, tensor<bf16>) -> tensor<17xbf16>
    %cst_14 = stablehlo.constant dense<0x7F80> : tensor<bf16>
    %31 = stablehlo.reduce(%arg0 init: %cst_14) applies stablehlo.minimum across dimensions = [0, 2] : (tensor<5x17x6xbf16>, tensor<bf16>) -> tensor<17xbf16>
    return %2, %5, %6, %7, %10, %13, %14, %15, %18, %21, %22, %23, %26, %29, %30, %31 : tensor<bf16>, tensor<bf16>, tensor<bf16>, tensor<bf16>, tensor<17x6xbf16>, tensor<17x6xbf16>, tensor<17x6xbf16>, tensor<17x6xbf16>, tensor<5x6xbf16>, tensor<5x6xbf16>, tensor<5x6xbf16>, tensor<5x6xbf16>, tensor<17xbf16>, tensor<17xbf16>, tensor<17xbf16>, tensor<17xbf16>
  }
}
