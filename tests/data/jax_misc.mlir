module @jit_misc attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xf32>, %arg1: tensor<3xi32>, %arg2: tensor<2xcomplex<f32>>) -> (tensor<7x6xf32> {jax.result_info = "result[0]"}, tensor<4x3xf32> {jax.result_info = "result[1]"}, tensor<4x6xf32> {jax.result_info = "result[2]"}, tensor<4x12xf32> {jax.result_info = "result[3]"}, tensor<4x6xi32> {jax.result_info = "result[4]"}, tensor<4x6xf32> {jax.result_info = "result[5]"}, tensor<3xi32> {jax.result_info = "result[6]"}, tensor<3xi32> {jax.result_info = "result[7]"}, tensor<2xf32> {jax.result_info = "result[8]"}, tensor<4x4xcomplex<f32>> {jax.result_info = "result[9]"}, tensor<4x6xi1> {jax.result_info = "result[10]"}, tensor<4x6xbf16> {jax.result_info = "result[11]"}, tensor<4x6xf32> {jax.result_info = "result[12]"}, tensor<4x6xf32> {jax.result_info = "result[13]"}, tensor<3xi32> {jax.result_info = "result[14]"}, tensor<2x2xi1> {jax.result_info = "result[15]"}, tensor<2xcomplex<f32>> {jax.result_info = "result[16]"}, tensor<3xui32> {jax.result_info = "result[17]"}, tensor<4x6xf32> {jax.result_info = "result[18]"}, tensor<3x3xf32> {jax.result_info = "result[19]"}, tensor<20xf32> {jax.result_info = "result[20]"}) {
    %c = stablehlo.constant dense<[[true, false], [false, true]]> : tensor<2x2xi1>
    %cst = stablehlo.constant dense<[(1.500000e+00,2.000000e+00), (3.000000e+00,0.000000e+00)]> : tensor<2xcomplex<f32>>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = call @_pad(%arg0, %c_0) : (tensor<4x6xf32>, tensor<i32>) -> tensor<7x6xf32>
    %1 = stablehlo.slice %arg0 [0:4, 1:6:2] : (tensor<4x6xf32>) -> tensor<4x3xf32>
    %2 = call @_flip(%arg0) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %3 = stablehlo.concatenate %arg0, %arg0, dim = 1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>
    %4 = stablehlo.bitcast_convert %arg0 : (tensor<4x6xf32>) -> tensor<4x6xi32>
    %5 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<4x6xf32>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %7 = stablehlo.shift_left %arg1, %6 : tensor<3xi32>
    %8 = stablehlo.popcnt %arg1 : tensor<3xi32>
    %9 = stablehlo.real %arg2 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    %10 = call @fft(%arg0) : (tensor<4x6xf32>) -> tensor<4x4xcomplex<f32>>
    %11 = stablehlo.is_finite %arg0 : (tensor<4x6xf32>) -> tensor<4x6xi1>
    %12 = stablehlo.convert %arg0 : (tensor<4x6xf32>) -> tensor<4x6xbf16>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %14 = stablehlo.compare GT, %arg0, %13, FLOAT : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    %cst_3 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %cst_4 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %15 = call @_where(%14, %cst_3, %cst_4) : (tensor<4x6xi1>, tensor<f32>, tensor<f32>) -> tensor<4x6xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %17 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %18 = stablehlo.clamp %16, %arg0, %17 : tensor<4x6xf32>
    %c_7 = stablehlo.constant dense<-2147483648> : tensor<i32>
    %19 = stablehlo.broadcast_in_dim %c_7, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %20 = stablehlo.add %19, %arg1 : tensor<3xi32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %c_9 = stablehlo.constant dense<32> : tensor<i32>
    %21 = stablehlo.shift_right_logical %c_8, %c_9 : tensor<i32>
    %22 = stablehlo.convert %21 : (tensor<i32>) -> tensor<ui32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<ui32>) -> tensor<1xui32>
    %c_10 = stablehlo.constant dense<-1> : tensor<i32>
    %24 = stablehlo.and %c_8, %c_10 : tensor<i32>
    %25 = stablehlo.convert %24 : (tensor<i32>) -> tensor<ui32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [] : (tensor<ui32>) -> tensor<1xui32>
    %27 = stablehlo.concatenate %23, %26, dim = 0 : (tensor<1xui32>, tensor<1xui32>) -> tensor<2xui32>
    %28 = stablehlo.concatenate %27, %27, dim = 0 : (tensor<2xui32>, tensor<2xui32>) -> tensor<4xui32>
    %29 = stablehlo.reshape %28 : (tensor<4xui32>) -> tensor<2x2xui32>
    %30 = stablehlo.bitcast_convert %29 : (tensor<2x2xui32>) -> tensor<2xui64>
    %output_state, %output = stablehlo.rng_bit_generator %30, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)
    %31 = stablehlo.bitcast_convert %output_state : (tensor<2xui64>) -> tensor<2x2xui32>
    %32 = stablehlo.reshape %31 : (tensor<2x2xui32>) -> tensor<4xui32>
    %33 = stablehlo.slice %arg0 [0:2, 0:2] : (tensor<4x6xf32>) -> tensor<2x2xf32>
    %34 = stablehlo.slice %arg1 [0:1] : (tensor<3xi32>) -> tensor<1xi32>
    %35 = stablehlo.reshape %34 : (tensor<1xi32>) -> tensor<i32>
    %36 = stablehlo.slice %arg1 [1:2] : (tensor<3xi32>) -> tensor<1xi32>
    %37 = stablehlo.reshape %36 : (tensor<1xi32>) -> tensor<i32>
    %c_11 = stablehlo.constant dense<0> : tensor<i32>
    %38 = stablehlo.compare LT, %35, %c_11, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_12 = stablehlo.constant dense<4> : tensor<i32>
    %39 = stablehlo.add %35, %c_12 : tensor<i32>
    %40 = stablehlo.select %38, %39, %35 : tensor<i1>, tensor<i32>
    %c_13 = stablehlo.constant dense<0> : tensor<i32>
    %41 = stablehlo.compare LT, %37, %c_13, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_14 = stablehlo.constant dense<6> : tensor<i32>
    %42 = stablehlo.add %37, %c_14 : tensor<i32>
    %43 = stablehlo.select %41, %42, %37 : tensor<i1>, tensor<i32>
    %44 = stablehlo.dynamic_update_slice %arg0, %33, %40, %43 : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
    %45 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %46 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %c_15 = stablehlo.constant dense<0> : tensor<i32>
    %47 = stablehlo.broadcast_in_dim %c_15, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %48 = stablehlo.add %45, %47 : tensor<3x3xi32>
    %49 = stablehlo.compare EQ, %48, %46, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %50 = stablehlo.convert %49 : (tensor<3x3xi1>) -> tensor<3x3xf32>
    %51 = call @cholesky(%50) : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %52 = stablehlo.iota dim = 0 : tensor<20xi32>
    %53 = stablehlo.convert %52 : (tensor<20xi32>) -> tensor<20xf32>
    %cst_16 = stablehlo.constant dense<1.100000e+00> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<20xf32>
    %55 = stablehlo.multiply %53, %54 : tensor<20xf32>
    return %0, %1, %2, %3, %4, %5, %7, %8, %9, %10, %11, %12, %15, %18, %20, %c, %cst, %output, %44, %51, %55 : tensor<7x6xf32>, tensor<4x3xf32>, tensor<4x6xf32>, tensor<4x12xf32>, tensor<4x6xi32>, tensor<4x6xf32>, tensor<3xi32>, tensor<3xi32>, tensor<2xf32>, tensor<4x4xcomplex<f32>>, tensor<4x6xi1>, tensor<4x6xbf16>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<3xi32>, tensor<2x2xi1>, tensor<2xcomplex<f32>>, tensor<3xui32>, tensor<4x6xf32>, tensor<3x3xf32>, tensor<20xf32>
  }
  func.func private @_pad(%arg0: tensor<4x6xf32>, %arg1: tensor<i32>) -> tensor<7x6xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [1, 0], high = [2, 0], interior = [0, 0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<7x6xf32>
    return %1 : tensor<7x6xf32>
  }
  func.func private @_flip(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {
    %0 = stablehlo.reverse %arg0, dims = [1] : tensor<4x6xf32>
    return %0 : tensor<4x6xf32>
  }
  func.func private @fft(%arg0: tensor<4x6xf32>) -> tensor<4x4xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [6] : (tensor<4x6xf32>) -> tensor<4x4xcomplex<f32>>
    return %0 : tensor<4x4xcomplex<f32>>
  }
  func.func private @_where(%arg0: tensor<4x6xi1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<4x6xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %1 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %2 = stablehlo.select %arg0, %0, %1 : tensor<4x6xi1>, tensor<4x6xf32>
    return %2 : tensor<4x6xf32>
  }
  func.func private @cholesky(%arg0: tensor<3x3xf32>) -> tensor<3x3xf32> {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %1 = stablehlo.add %arg0, %0 : tensor<3x3xf32>
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
    %3 = stablehlo.divide %1, %2 : tensor<3x3xf32>
    %4:2 = stablehlo.custom_call @lapack_spotrf_ffi(%3) {backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>], sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], []) {i=3, j=3, k=3, l=3}, custom>} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<i32>)
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<i32>
    %6 = stablehlo.compare EQ, %4#1, %5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<i1>) -> tensor<1x1xi1>
    %cst_0 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
    %9 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %10 = stablehlo.select %9, %4#0, %8 : tensor<3x3xi1>, tensor<3x3xf32>
    %11 = stablehlo.iota dim = 0 : tensor<3x3xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<3x3xi32>
    %13 = stablehlo.add %11, %12 : tensor<3x3xi32>
    %14 = stablehlo.iota dim = 1 : tensor<3x3xi32>
    %15 = stablehlo.compare GE, %13, %14, SIGNED : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<3x3xf32>
    %17 = stablehlo.select %15, %10, %16 : tensor<3x3xi1>, tensor<3x3xf32>
    return %17 : tensor<3x3xf32>
  }
}
