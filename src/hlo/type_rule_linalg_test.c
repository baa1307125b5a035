// Tests of the type rules of linear algebra, Fourier transforms and random bits.
#include "hlo/graph_check.h"

static void test_matrices_are_square(void) {
  tpt_graph_t* g = check_graph();
  CHECK_TYPE(g, tpt_hlo_cholesky(g, P(g, C64, 2, 3, 3), true), "tensor<2x3x3xcomplex<f32>>");
  CHECK_REFUSED(g, tpt_hlo_cholesky(g, P(g, F32, 2, 3), true), "must be square");
  CHECK_REFUSED(g, tpt_hlo_cholesky(g, P(g, F32, 3), true), "must be square");
  CHECK_REFUSED(g, tpt_hlo_cholesky(g, P(g, S32, 3, 3), true), "float or complex, not s32");
  tpt_graph_release(g);
}

static void test_right_hand_sides_fit(void) {
  tpt_graph_t* g = check_graph();
  tpt_triangular_t how = {.left = true, .transpose = TPT_NO_TRANSPOSE};
  CHECK_TYPE(g, tpt_hlo_triangular_solve(g, P(g, F32, 3, 3), P(g, F32, 3, 2), &how),
             "tensor<3x2xf32>");
  CHECK_REFUSED(g, tpt_hlo_triangular_solve(g, P(g, F32, 3, 3), P(g, F32, 2, 3), &how),
                "must fit the matrix");
  how.left = false;
  CHECK_TYPE(g, tpt_hlo_triangular_solve(g, P(g, F32, 3, 3), P(g, F32, 2, 3), &how),
             "tensor<2x3xf32>");
  CHECK_REFUSED(g, tpt_hlo_triangular_solve(g, P(g, F32, 5, 3, 3), P(g, F32, 4, 2, 3), &how),
                "must fit");
  how.transpose = TPT_TRANSPOSE_INVALID;
  CHECK_REFUSED(g, tpt_hlo_triangular_solve(g, P(g, F32, 3, 3), P(g, F32, 2, 3), &how),
                "transpose_a must be");
  tpt_graph_release(g);
}

static void test_transforms_change_the_last_dimension(void) {
  tpt_graph_t* g = check_graph();
  CHECK_TYPE(g, tpt_hlo_fft(g, P(g, F64, 2, 7), TPT_RFFT, I64S(7), 1), "tensor<2x4xcomplex<f64>>");
  CHECK_TYPE(g, tpt_hlo_fft(g, P(g, C64, 2, 4), TPT_IRFFT, I64S(7), 1), "tensor<2x7xf32>");
  CHECK_TYPE(g, tpt_hlo_fft(g, P(g, C64, 2, 4), TPT_FFT, I64S(2, 4), 2),
             "tensor<2x4xcomplex<f32>>");
  CHECK_REFUSED(g, tpt_hlo_fft(g, P(g, F32, 4), TPT_FFT, I64S(4), 1), "must be complex");
  CHECK_REFUSED(g, tpt_hlo_fft(g, P(g, BF16, 4), TPT_RFFT, I64S(4), 1), "must be f32 or f64");
  CHECK_REFUSED(g, tpt_hlo_fft(g, P(g, C64, 4), TPT_FFT, I64S(5), 1), "fft_length 5 does not fit");
  CHECK_REFUSED(g, tpt_hlo_fft(g, P(g, C64, 4), TPT_IRFFT, I64S(8), 1), "does not fit");
  CHECK_REFUSED(g, tpt_hlo_fft(g, P(g, C64, 4), TPT_FFT, I64S(1, 4), 2), "1 to 3 are legal");
  tpt_graph_release(g);
}

static void test_random_bits_advance_the_state(void) {
  tpt_graph_t* g = check_graph();
  tpt_type_t bits = tpt_type_make(TPT_U8, 1, I64S(5));
  tpt_value_t state = tpt_hlo_rng_bit_generator(g, P(g, U64, 3), TPT_RNG_PHILOX, &bits);
  CHECK_TYPE(g, state, "tensor<3xui64>");
  CHECK_TYPE(g, ((tpt_value_t){state.index + 1}), "tensor<5xui8>");
  CHECK_REFUSED(g, tpt_hlo_rng_bit_generator(g, P(g, U64, 3), TPT_RNG_THREE_FRY, &bits), "u64[2]");
  CHECK_REFUSED(g, tpt_hlo_rng_bit_generator(g, P(g, U32, 2), TPT_RNG_DEFAULT, &bits), "u64[2]");
  bits.dtype = TPT_F32;
  CHECK_REFUSED(g, tpt_hlo_rng_bit_generator(g, P(g, U64, 2), TPT_RNG_DEFAULT, &bits),
                "must be integers, not f32");
  tpt_graph_release(g);
}

int main(void) {
  RUN(test_matrices_are_square);
  RUN(test_right_hand_sides_fit);
  RUN(test_transforms_change_the_last_dimension);
  RUN(test_random_bits_advance_the_state);
  return TEST_RESULT;
}
