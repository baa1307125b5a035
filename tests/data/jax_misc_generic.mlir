"builtin.module"() <{sym_name = "jit_misc"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4x6xf32>, tensor<3xi32>, tensor<2xcomplex<f32>>) -> (tensor<7x6xf32>, tensor<4x3xf32>, tensor<4x6xf32>, tensor<4x12xf32>, tensor<4x6xi32>, tensor<4x6xf32>, tensor<3xi32>, tensor<3xi32>, tensor<2xf32>, tensor<4x4xcomplex<f32>>, tensor<4x6xi1>, tensor<4x6xbf16>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<3xi32>, tensor<2x2xi1>, tensor<2xcomplex<f32>>, tensor<3xui32>, tensor<4x6xf32>, tensor<3x3xf32>, tensor<20xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}, {jax.result_info = "result[3]"}, {jax.result_info = "result[4]"}, {jax.result_info = "result[5]"}, {jax.result_info = "result[6]"}, {jax.result_info = "result[7]"}, {jax.result_info = "result[8]"}, {jax.result_info = "result[9]"}, {jax.result_info = "result[10]"}, {jax.result_info = "result[11]"}, {jax.result_info = "result[12]"}, {jax.result_info = "result[13]"}, {jax.result_info = "result[14]"}, {jax.result_info = "result[15]"}, {jax.result_info = "result[16]"}, {jax.result_info = "result[17]"}, {jax.result_info = "result[18]"}, {jax.result_info = "result[19]"}, {jax.result_info = "result[20]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg8: tensor<4x6xf32>, %arg9: tensor<3xi32>, %arg10: tensor<2xcomplex<f32>>):
    %30 = "stablehlo.constant"() <{value = dense<[[true, false], [false, true]]> : tensor<2x2xi1>}> : () -> tensor<2x2xi1>
    %31 = "stablehlo.constant"() <{value = dense<[(1.500000e+00,2.000000e+00), (3.000000e+00,0.000000e+00)]> : tensor<2xcomplex<f32>>}> : () -> tensor<2xcomplex<f32>>
    %32 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %33 = "func.call"(%arg8, %32) <{callee = @_pad}> : (tensor<4x6xf32>, tensor<i32>) -> tensor<7x6xf32>
    %34 = "stablehlo.slice"(%arg8) <{limit_indices = array<i64: 4, 6>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 2>}> : (tensor<4x6xf32>) -> tensor<4x3xf32>
    %35 = "func.call"(%arg8) <{callee = @_flip}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %36 = "stablehlo.concatenate"(%arg8, %arg8) <{dimension = 1 : i64}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>
    %37 = "stablehlo.bitcast_convert"(%arg8) : (tensor<4x6xf32>) -> tensor<4x6xi32>
    %38 = "stablehlo.reduce_precision"(%arg8) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %39 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
    %41 = "stablehlo.shift_left"(%arg9, %40) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
    %42 = "stablehlo.popcnt"(%arg9) : (tensor<3xi32>) -> tensor<3xi32>
    %43 = "stablehlo.real"(%arg10) : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
    %44 = "func.call"(%arg8) <{callee = @fft}> : (tensor<4x6xf32>) -> tensor<4x4xcomplex<f32>>
    %45 = "stablehlo.is_finite"(%arg8) : (tensor<4x6xf32>) -> tensor<4x6xi1>
    %46 = "stablehlo.convert"(%arg8) : (tensor<4x6xf32>) -> tensor<4x6xbf16>
    %47 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %48 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
    %49 = "stablehlo.compare"(%arg8, %48) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xi1>
    %50 = "stablehlo.constant"() <{value = dense<0x7F800000> : tensor<f32>}> : () -> tensor<f32>
    %51 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %52 = "func.call"(%49, %50, %51) <{callee = @_where}> : (tensor<4x6xi1>, tensor<f32>, tensor<f32>) -> tensor<4x6xf32>
    %53 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %54 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %55 = "stablehlo.broadcast_in_dim"(%53) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
    %56 = "stablehlo.broadcast_in_dim"(%54) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
    %57 = "stablehlo.clamp"(%55, %arg8, %56) : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %58 = "stablehlo.constant"() <{value = dense<-2147483648> : tensor<i32>}> : () -> tensor<i32>
    %59 = "stablehlo.broadcast_in_dim"(%58) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
    %60 = "stablehlo.add"(%59, %arg9) : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi32>
    %61 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %62 = "stablehlo.constant"() <{value = dense<32> : tensor<i32>}> : () -> tensor<i32>
    %63 = "stablehlo.shift_right_logical"(%61, %62) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %64 = "stablehlo.convert"(%63) : (tensor<i32>) -> tensor<ui32>
    %65 = "stablehlo.broadcast_in_dim"(%64) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1xui32>
    %66 = "stablehlo.constant"() <{value = dense<-1> : tensor<i32>}> : () -> tensor<i32>
    %67 = "stablehlo.and"(%61, %66) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %68 = "stablehlo.convert"(%67) : (tensor<i32>) -> tensor<ui32>
    %69 = "stablehlo.broadcast_in_dim"(%68) <{broadcast_dimensions = array<i64>}> : (tensor<ui32>) -> tensor<1xui32>
    %70 = "stablehlo.concatenate"(%65, %69) <{dimension = 0 : i64}> : (tensor<1xui32>, tensor<1xui32>) -> tensor<2xui32>
    %71 = "stablehlo.concatenate"(%70, %70) <{dimension = 0 : i64}> : (tensor<2xui32>, tensor<2xui32>) -> tensor<4xui32>
    %72 = "stablehlo.reshape"(%71) : (tensor<4xui32>) -> tensor<2x2xui32>
    %73 = "stablehlo.bitcast_convert"(%72) : (tensor<2x2xui32>) -> tensor<2xui64>
    %74:2 = "stablehlo.rng_bit_generator"(%73) <{rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)
    %75 = "stablehlo.bitcast_convert"(%74#0) : (tensor<2xui64>) -> tensor<2x2xui32>
    %76 = "stablehlo.reshape"(%75) : (tensor<2x2xui32>) -> tensor<4xui32>
    %77 = "stablehlo.slice"(%arg8) <{limit_indices = array<i64: 2, 2>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<4x6xf32>) -> tensor<2x2xf32>
    %78 = "stablehlo.slice"(%arg9) <{limit_indices = array<i64: 1>, start_indices = array<i64: 0>, strides = array<i64: 1>}> : (tensor<3xi32>) -> tensor<1xi32>
    %79 = "stablehlo.reshape"(%78) : (tensor<1xi32>) -> tensor<i32>
    %80 = "stablehlo.slice"(%arg9) <{limit_indices = array<i64: 2>, start_indices = array<i64: 1>, strides = array<i64: 1>}> : (tensor<3xi32>) -> tensor<1xi32>
    %81 = "stablehlo.reshape"(%80) : (tensor<1xi32>) -> tensor<i32>
    %82 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %83 = "stablehlo.compare"(%79, %82) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %84 = "stablehlo.constant"() <{value = dense<4> : tensor<i32>}> : () -> tensor<i32>
    %85 = "stablehlo.add"(%79, %84) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %86 = "stablehlo.select"(%83, %85, %79) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %87 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %88 = "stablehlo.compare"(%81, %87) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %89 = "stablehlo.constant"() <{value = dense<6> : tensor<i32>}> : () -> tensor<i32>
    %90 = "stablehlo.add"(%81, %89) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %91 = "stablehlo.select"(%88, %90, %81) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %92 = "stablehlo.dynamic_update_slice"(%arg8, %77, %86, %91) : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
    %93 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3x3xi32>
    %94 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<3x3xi32>
    %95 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %96 = "stablehlo.broadcast_in_dim"(%95) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3x3xi32>
    %97 = "stablehlo.add"(%93, %96) : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi32>
    %98 = "stablehlo.compare"(%97, %94) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %99 = "stablehlo.convert"(%98) : (tensor<3x3xi1>) -> tensor<3x3xf32>
    %100 = "func.call"(%99) <{callee = @cholesky}> : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %101 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<20xi32>
    %102 = "stablehlo.convert"(%101) : (tensor<20xi32>) -> tensor<20xf32>
    %103 = "stablehlo.constant"() <{value = dense<1.100000e+00> : tensor<f32>}> : () -> tensor<f32>
    %104 = "stablehlo.broadcast_in_dim"(%103) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<20xf32>
    %105 = "stablehlo.multiply"(%102, %104) : (tensor<20xf32>, tensor<20xf32>) -> tensor<20xf32>
    "func.return"(%33, %34, %35, %36, %37, %38, %41, %42, %43, %44, %45, %46, %52, %57, %60, %30, %31, %74#1, %92, %100, %105) : (tensor<7x6xf32>, tensor<4x3xf32>, tensor<4x6xf32>, tensor<4x12xf32>, tensor<4x6xi32>, tensor<4x6xf32>, tensor<3xi32>, tensor<3xi32>, tensor<2xf32>, tensor<4x4xcomplex<f32>>, tensor<4x6xi1>, tensor<4x6xbf16>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<3xi32>, tensor<2x2xi1>, tensor<2xcomplex<f32>>, tensor<3xui32>, tensor<4x6xf32>, tensor<3x3xf32>, tensor<20xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<4x6xf32>, tensor<i32>) -> tensor<7x6xf32>, res_attrs = [{}], sym_name = "_pad", sym_visibility = "private"}> ({
  ^bb0(%arg6: tensor<4x6xf32>, %arg7: tensor<i32>):
    %28 = "stablehlo.convert"(%arg7) : (tensor<i32>) -> tensor<f32>
    %29 = "stablehlo.pad"(%arg6, %28) <{edge_padding_high = array<i64: 2, 0>, edge_padding_low = array<i64: 1, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<4x6xf32>, tensor<f32>) -> tensor<7x6xf32>
    "func.return"(%29) : (tensor<7x6xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4x6xf32>) -> tensor<4x6xf32>, res_attrs = [{}], sym_name = "_flip", sym_visibility = "private"}> ({
  ^bb0(%arg5: tensor<4x6xf32>):
    %27 = "stablehlo.reverse"(%arg5) <{dimensions = array<i64: 1>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"(%27) : (tensor<4x6xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<4x6xf32>) -> tensor<4x4xcomplex<f32>>, res_attrs = [{}], sym_name = "fft", sym_visibility = "private"}> ({
  ^bb0(%arg4: tensor<4x6xf32>):
    %26 = "stablehlo.fft"(%arg4) <{fft_length = array<i64: 6>, fft_type = #stablehlo<fft_type RFFT>}> : (tensor<4x6xf32>) -> tensor<4x4xcomplex<f32>>
    "func.return"(%26) : (tensor<4x4xcomplex<f32>>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4x6xi1>, tensor<f32>, tensor<f32>) -> tensor<4x6xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<4x6xi1>, %arg2: tensor<f32>, %arg3: tensor<f32>):
    %23 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
    %24 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
    %25 = "stablehlo.select"(%arg1, %23, %24) : (tensor<4x6xi1>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    "func.return"(%25) : (tensor<4x6xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x3xf32>) -> tensor<3x3xf32>, res_attrs = [{}], sym_name = "cholesky", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<3x3xf32>):
    %0 = "stablehlo.transpose"(%arg0) <{permutation = array<i64: 1, 0>}> : (tensor<3x3xf32>) -> tensor<3x3xf32>
    %1 = "stablehlo.add"(%arg0, %0) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %2 = "stablehlo.constant"() <{value = dense<2.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3xf32>
    %4 = "stablehlo.divide"(%1, %3) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %5:2 = "stablehlo.custom_call"(%4) <{api_version = 1 : i32, backend_config = "", call_target_name = "lapack_spotrf_ffi", called_computations = [], has_side_effect = false, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}> {mhlo.backend_config = {uplo = 76 : ui8}, mhlo.frontend_attributes = {num_batch_dims = "0"}, sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([k, l], []) {i=3, j=3, k=3, l=3}, custom>} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<i32>)
    %6 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<i32>
    %8 = "stablehlo.compare"(%5#1, %7) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<1x1xi1>
    %10 = "stablehlo.constant"() <{value = dense<0x7FC00000> : tensor<f32>}> : () -> tensor<f32>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3xf32>
    %12 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x1xi1>) -> tensor<3x3xi1>
    %13 = "stablehlo.select"(%12, %5#0, %11) : (tensor<3x3xi1>, tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    %14 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3x3xi32>
    %15 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3x3xi32>
    %17 = "stablehlo.add"(%14, %16) : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi32>
    %18 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<3x3xi32>
    %19 = "stablehlo.compare"(%17, %18) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<3x3xi32>, tensor<3x3xi32>) -> tensor<3x3xi1>
    %20 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %21 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<3x3xf32>
    %22 = "stablehlo.select"(%19, %13, %21) : (tensor<3x3xi1>, tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
    "func.return"(%22) : (tensor<3x3xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
