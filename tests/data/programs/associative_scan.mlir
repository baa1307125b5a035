module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x33xf32>) -> (tensor<4x33xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:4, 0:32:2] : (tensor<4x33xf32>) -> tensor<4x16xf32>
    %1 = stablehlo.slice %arg0 [0:4, 1:33:2] : (tensor<4x33xf32>) -> tensor<4x16xf32>
    %2 = stablehlo.maximum %0, %1 : tensor<4x16xf32>
    %3 = stablehlo.slice %2 [0:4, 0:15:2] : (tensor<4x16xf32>) -> tensor<4x8xf32>
    %4 = stablehlo.slice %2 [0:4, 1:16:2] : (tensor<4x16xf32>) -> tensor<4x8xf32>
    %5 = stablehlo.maximum %3, %4 : tensor<4x8xf32>
    %6 = stablehlo.slice %5 [0:4, 0:7:2] : (tensor<4x8xf32>) -> tensor<4x4xf32>
    %7 = stablehlo.slice %5 [0:4, 1:8:2] : (tensor<4x8xf32>) -> tensor<4x4xf32>
    %8 = stablehlo.maximum %6, %7 : tensor<4x4xf32>
    %9 = stablehlo.slice %8 [0:4, 0:3:2] : (tensor<4x4xf32>) -> tensor<4x2xf32>
    %10 = stablehlo.slice %8 [0:4, 1:4:2] : (tensor<4x4xf32>) -> tensor<4x2xf32>
    %11 = stablehlo.maximum %9, %10 : tensor<4x2xf32>
    %12 = stablehlo.slice %11 [0:4, 0:1:2] : (tensor<4x2xf32>) -> tensor<4x1xf32>
    %13 = stablehlo.slice %11 [0:4, 1:2:2] : (tensor<4x2xf32>) -> tensor<4x1xf32>
    %14 = stablehlo.maximum %12, %13 : tensor<4x1xf32>
    %15 = stablehlo.slice %14 [0:4, 0:0] : (tensor<4x1xf32>) -> tensor<4x0xf32>
    %16 = stablehlo.slice %11 [0:4, 2:2:2] : (tensor<4x2xf32>) -> tensor<4x0xf32>
    %17 = stablehlo.maximum %15, %16 : tensor<4x0xf32>
    %18 = stablehlo.slice %11 [0:4, 0:1] : (tensor<4x2xf32>) -> tensor<4x1xf32>
    %19 = stablehlo.concatenate %18, %17, dim = 1 : (tensor<4x1xf32>, tensor<4x0xf32>) -> tensor<4x1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %20 = stablehlo.pad %19, %cst, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x2xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.pad %14, %cst_0, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4x2xf32>
    %22 = stablehlo.add %20, %21 : tensor<4x2xf32>
    %23 = stablehlo.slice %22 [0:4, 0:1] : (tensor<4x2xf32>) -> tensor<4x1xf32>
    %24 = stablehlo.slice %8 [0:4, 2:4:2] : (tensor<4x4xf32>) -> tensor<4x1xf32>
    %25 = stablehlo.maximum %23, %24 : tensor<4x1xf32>
    %26 = stablehlo.slice %8 [0:4, 0:1] : (tensor<4x4xf32>) -> tensor<4x1xf32>
    %27 = stablehlo.concatenate %26, %25, dim = 1 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %28 = stablehlo.pad %27, %cst_1, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x4xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %29 = stablehlo.pad %22, %cst_2, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<4x2xf32>, tensor<f32>) -> tensor<4x4xf32>
    %30 = stablehlo.add %28, %29 : tensor<4x4xf32>
    %31 = stablehlo.slice %30 [0:4, 0:3] : (tensor<4x4xf32>) -> tensor<4x3xf32>
    %32 = stablehlo.slice %5 [0:4, 2:8:2] : (tensor<4x8xf32>) -> tensor<4x3xf32>
    %33 = stablehlo.maximum %31, %32 : tensor<4x3xf32>
    %34 = stablehlo.slice %5 [0:4, 0:1] : (tensor<4x8xf32>) -> tensor<4x1xf32>
    %35 = stablehlo.concatenate %34, %33, dim = 1 : (tensor<4x1xf32>, tensor<4x3xf32>) -> tensor<4x4xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %36 = stablehlo.pad %35, %cst_3, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %37 = stablehlo.pad %30, %cst_4, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x8xf32>
    %38 = stablehlo.add %36, %37 : tensor<4x8xf32>
    %39 = stablehlo.slice %38 [0:4, 0:7] : (tensor<4x8xf32>) -> tensor<4x7xf32>
    %40 = stablehlo.slice %2 [0:4, 2:16:2] : (tensor<4x16xf32>) -> tensor<4x7xf32>
    %41 = stablehlo.maximum %39, %40 : tensor<4x7xf32>
    %42 = stablehlo.slice %2 [0:4, 0:1] : (tensor<4x16xf32>) -> tensor<4x1xf32>
    %43 = stablehlo.concatenate %42, %41, dim = 1 : (tensor<4x1xf32>, tensor<4x7xf32>) -> tensor<4x8xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.pad %43, %cst_5, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x16xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %45 = stablehlo.pad %38, %cst_6, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x16xf32>
    %46 = stablehlo.add %44, %45 : tensor<4x16xf32>
    %47 = stablehlo.slice %arg0 [0:4, 2:33:2] : (tensor<4x33xf32>) -> tensor<4x16xf32>
    %48 = stablehlo.maximum %46, %47 : tensor<4x16xf32>
    %49 = stablehlo.slice %arg0 [0:4, 0:1] : (tensor<4x33xf32>) -> tensor<4x1xf32>
    %50 = stablehlo.concatenate %49, %48, dim = 1 : (tensor<4x1xf32>, tensor<4x16xf32>) -> tensor<4x17xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %51 = stablehlo.pad %50, %cst_7, low = [0, 0], high = [0, 0], interior = [0, 1] : (tensor<4x17xf32>, tensor<f32>) -> tensor<4x33xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %52 = stablehlo.pad %46, %cst_8, low = [0, 1], high = [0, 1], interior = [0, 1] : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x33xf32>
    %53 = stablehlo.add %51, %52 : tensor<4x33xf32>
    return %53 : tensor<4x33xf32>
  }
}
