module @jit_mlp attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x8xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<8xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<8x3xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<5x4xf32>, %arg4: tensor<5x3xf32>) -> (tensor<4x8xf32> {jax.result_info = "result[0]"}, tensor<8xf32> {jax.result_info = "result[1]"}, tensor<8x3xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x4xf32>, tensor<4x8xf32>) -> tensor<5x8xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<8xf32>) -> tensor<1x8xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x8xf32>) -> tensor<5x8xf32>
    %3 = stablehlo.add %0, %2 : tensor<5x8xf32>
    %4 = stablehlo.tanh %3 : tensor<5x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<5x8xf32>
    %6 = stablehlo.subtract %5, %4 : tensor<5x8xf32>
    %7 = stablehlo.dot_general %4, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x8xf32>, tensor<8x3xf32>) -> tensor<5x3xf32>
    %8:2 = call @log_softmax(%7) : (tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<5x1xf32>)
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %9 = stablehlo.negate %cst_0 : tensor<f32>
    %cst_1 = stablehlo.constant dense<5.000000e+00> : tensor<f32>
    %10 = stablehlo.divide %9, %cst_1 : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0] : (tensor<5xf32>) -> tensor<5x3xf32>
    %13 = stablehlo.multiply %12, %arg4 : tensor<5x3xf32>
    %14 = call @log_softmax_0(%8#0, %8#1, %13) : (tensor<5x3xf32>, tensor<5x1xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
    %15 = stablehlo.dot_general %14, %4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x3xf32>, tensor<5x8xf32>) -> tensor<3x8xf32>
    %16 = stablehlo.transpose %15, dims = [1, 0] : (tensor<3x8xf32>) -> tensor<8x3xf32>
    %17 = stablehlo.dot_general %14, %arg2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<5x3xf32>, tensor<8x3xf32>) -> tensor<5x8xf32>
    %18 = stablehlo.multiply %17, %6 : tensor<5x8xf32>
    %19 = stablehlo.multiply %18, %4 : tensor<5x8xf32>
    %20 = stablehlo.add %18, %19 : tensor<5x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.reduce(%20 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<5x8xf32>, tensor<f32>) -> tensor<8xf32>
    %22 = stablehlo.reshape %21 : (tensor<8xf32>) -> tensor<1x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.reduce(%22 init: %cst_3) applies stablehlo.add across dimensions = [0] : (tensor<1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %24 = stablehlo.dot_general %20, %arg3, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<5x8xf32>, tensor<5x4xf32>) -> tensor<8x4xf32>
    %25 = stablehlo.transpose %24, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %cst_4 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %27 = stablehlo.multiply %26, %25 : tensor<4x8xf32>
    %28 = stablehlo.subtract %arg0, %27 : tensor<4x8xf32>
    %cst_5 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %30 = stablehlo.multiply %29, %23 : tensor<8xf32>
    %31 = stablehlo.subtract %arg1, %30 : tensor<8xf32>
    %cst_6 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<8x3xf32>
    %33 = stablehlo.multiply %32, %16 : tensor<8x3xf32>
    %34 = stablehlo.subtract %arg2, %33 : tensor<8x3xf32>
    return %28, %31, %34 : tensor<4x8xf32>, tensor<8xf32>, tensor<8x3xf32>
  }
  func.func private @log_softmax(%arg0: tensor<5x3xf32>) -> (tensor<5x3xf32>, tensor<5x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<5x3xf32>, tensor<f32>) -> tensor<5xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<5xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<5xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<5xf32>) -> tensor<5x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<5x1xf32>) -> tensor<5x3xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<5x3xf32>
    %6 = stablehlo.exponential %5 : tensor<5x3xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<5x3xf32>, tensor<f32>) -> tensor<5xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<5xf32>) -> tensor<5x1xf32>
    return %6, %8 : tensor<5x3xf32>, tensor<5x1xf32>
  }
  func.func private @log_softmax_0(%arg0: tensor<5x3xf32>, %arg1: tensor<5x1xf32>, %arg2: tensor<5x3xf32>) -> tensor<5x3xf32> {
    %0 = stablehlo.negate %arg2 : tensor<5x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<5x3xf32>, tensor<f32>) -> tensor<5xf32>
    %2 = stablehlo.reshape %1 : (tensor<5xf32>) -> tensor<5x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<5x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<5x1xf32>, tensor<f32>) -> tensor<5xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<5xf32>) -> tensor<5x3xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<5x3xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<5x3xf32>
    return %7 : tensor<5x3xf32>
  }
}
