module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<40xcomplex<f32>>) -> (tensor<40xcomplex<f32>> {jax.result_info = "result[0]"}, tensor<40xcomplex<f32>> {jax.result_info = "result[1]"}, tensor<40xcomplex<f32>> {jax.result_info = "result[2]"}, tensor<40xcomplex<f32>> {jax.result_info = "result[3]"}, tensor<40xcomplex<f32>> {jax.result_info = "result[4]"}, tensor<40xcomplex<f32>> {jax.result_info = "result[5]"}, tensor<40xcomplex<f32>> {jax.result_info = "result[6]"}, tensor<40xcomplex<f32>> {jax.result_info = "result[7]"}, tensor<40xcomplex<f32>> {jax.result_info = "result[8]"}, tensor<40xf32> {jax.result_info = "result[9]"}, tensor<40xf32> {jax.result_info = "result[10]"}, tensor<40xf32> {jax.result_info = "result[11]"}, tensor<40xcomplex<f32>> {jax.result_info = "result[12]"}, tensor<40xcomplex<f32>> {jax.result_info = "result[13]"}) {
    %0 = stablehlo.exponential %arg0 : tensor<40xcomplex<f32>>
    %1 = stablehlo.log %arg0 : tensor<40xcomplex<f32>>
    %2 = stablehlo.real %arg0 : (tensor<40xcomplex<f32>>) -> tensor<40xf32>
    %3 = stablehlo.imag %arg0 : (tensor<40xcomplex<f32>>) -> tensor<40xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<40xf32>
    %5 = stablehlo.compare EQ, %2, %4, FLOAT : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xi1>
    %6 = stablehlo.sine %2 : tensor<40xf32>
    %7 = stablehlo.cosine %2 : tensor<40xf32>
    %8 = stablehlo.exponential_minus_one %3 : tensor<40xf32>
    %9 = stablehlo.negate %3 : tensor<40xf32>
    %10 = stablehlo.exponential_minus_one %9 : tensor<40xf32>
    %11 = stablehlo.subtract %8, %10 : tensor<40xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<40xf32>
    %13 = stablehlo.divide %11, %12 : tensor<40xf32>
    %14 = stablehlo.add %8, %10 : tensor<40xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<40xf32>
    %16 = stablehlo.add %14, %15 : tensor<40xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<40xf32>
    %18 = stablehlo.divide %16, %17 : tensor<40xf32>
    %19 = stablehlo.multiply %6, %18 : tensor<40xf32>
    %20 = stablehlo.multiply %7, %13 : tensor<40xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<40xf32>
    %22 = stablehlo.complex %21, %20 : tensor<40xcomplex<f32>>
    %23 = stablehlo.complex %19, %20 : tensor<40xcomplex<f32>>
    %24 = stablehlo.select %5, %22, %23 : tensor<40xi1>, tensor<40xcomplex<f32>>
    %25 = stablehlo.real %arg0 : (tensor<40xcomplex<f32>>) -> tensor<40xf32>
    %26 = stablehlo.imag %arg0 : (tensor<40xcomplex<f32>>) -> tensor<40xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<40xf32>
    %28 = stablehlo.compare EQ, %25, %27, FLOAT : (tensor<40xf32>, tensor<40xf32>) -> tensor<40xi1>
    %29 = stablehlo.sine %25 : tensor<40xf32>
    %30 = stablehlo.cosine %25 : tensor<40xf32>
    %31 = stablehlo.exponential_minus_one %26 : tensor<40xf32>
    %32 = stablehlo.negate %26 : tensor<40xf32>
    %33 = stablehlo.exponential_minus_one %32 : tensor<40xf32>
    %34 = stablehlo.subtract %31, %33 : tensor<40xf32>
    %cst_5 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<40xf32>
    %36 = stablehlo.divide %34, %35 : tensor<40xf32>
    %37 = stablehlo.add %31, %33 : tensor<40xf32>
    %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<40xf32>
    %39 = stablehlo.add %37, %38 : tensor<40xf32>
    %cst_7 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<40xf32>
    %41 = stablehlo.divide %39, %40 : tensor<40xf32>
    %42 = stablehlo.multiply %30, %41 : tensor<40xf32>
    %43 = stablehlo.negate %29 : tensor<40xf32>
    %44 = stablehlo.multiply %43, %36 : tensor<40xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %45 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<40xf32>
    %46 = stablehlo.complex %42, %45 : tensor<40xcomplex<f32>>
    %47 = stablehlo.complex %42, %44 : tensor<40xcomplex<f32>>
    %48 = stablehlo.select %28, %46, %47 : tensor<40xi1>, tensor<40xcomplex<f32>>
    %49 = stablehlo.sqrt %arg0 : tensor<40xcomplex<f32>>
    %50 = stablehlo.tanh %arg0 : tensor<40xcomplex<f32>>
    %51 = stablehlo.rsqrt %arg0 : tensor<40xcomplex<f32>>
    %52 = stablehlo.log_plus_one %arg0 : tensor<40xcomplex<f32>>
    %53 = stablehlo.exponential_minus_one %arg0 : tensor<40xcomplex<f32>>
    %54 = stablehlo.abs %arg0 : (tensor<40xcomplex<f32>>) -> tensor<40xf32>
    %55 = stablehlo.real %arg0 : (tensor<40xcomplex<f32>>) -> tensor<40xf32>
    %56 = stablehlo.imag %arg0 : (tensor<40xcomplex<f32>>) -> tensor<40xf32>
    %57 = stablehlo.real %arg0 : (tensor<40xcomplex<f32>>) -> tensor<40xf32>
    %58 = stablehlo.imag %arg0 : (tensor<40xcomplex<f32>>) -> tensor<40xf32>
    %59 = stablehlo.negate %58 : tensor<40xf32>
    %60 = stablehlo.complex %57, %59 : tensor<40xcomplex<f32>>
    %61 = stablehlo.negate %arg0 : tensor<40xcomplex<f32>>
    return %0, %1, %24, %48, %49, %50, %51, %52, %53, %54, %55, %56, %60, %61 : tensor<40xcomplex<f32>>, tensor<40xcomplex<f32>>, tensor<40xcomplex<f32>>, tensor<40xcomplex<f32>>, tensor<40xcomplex<f32>>, tensor<40xcomplex<f32>>, tensor<40xcomplex<f32>>, tensor<40xcomplex<f32>>, tensor<40xcomplex<f32>>, tensor<40xf32>, tensor<40xf32>, tensor<40xf32>, tensor<40xcomplex<f32>>, tensor<40xcomplex<f32>>
  }
}
