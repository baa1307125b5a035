// Owns the type rules of linear algebra, Fourier transforms and random bits.
#include "hlo/type_rule.h"

// Float or complex, the last two dimensions square.
static tpt_status_t check_square(const tpt_rule_t* r, const tpt_type_t* type) {
  char text[160];
  if (!tpt_dtype_is_float(type->dtype) && !tpt_dtype_is_complex(type->dtype))
    return tpt__rule_fail(r, "the matrix must be float or complex, not %s",
                          tpt_dtype_row(type->dtype)->name);
  if (type->rank < 2 || type->dims[type->rank - 1] != type->dims[type->rank - 2])
    return tpt__rule_fail(r, "the last two dimensions must be square in %s",
                          tpt_type_print(type, text, sizeof(text)));
  return NULL;
}

tpt_status_t tpt__rule_cholesky(tpt_rule_t* r) {
  TPT_TRY(check_square(r, r->types[0]));
  tpt__rule_default_i64(r, 0, 0);
  return tpt__rule_share(r, r->types[0]);
}

tpt_status_t tpt__rule_triangular_solve(tpt_rule_t* r) {
  const tpt_type_t* a = r->types[0];
  const tpt_type_t* b = r->types[1];
  TPT_TRY(check_square(r, a));
  for (int slot = 0; slot < 4; slot++)
    TPT_TRY(tpt__rule_need(r, slot));
  if (r->attrs[3].i == TPT_TRANSPOSE_INVALID)
    return tpt__rule_fail(r, "transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT");
  bool is_legal = a->dtype == b->dtype && a->rank == b->rank;
  for (int i = 0; is_legal && i < a->rank - 2; i++)
    is_legal = a->dims[i] == b->dims[i];
  int side = b->rank - (r->attrs[0].i ? 2 : 1);
  if (is_legal) is_legal = b->dims[side] == a->dims[a->rank - 1];
  if (!is_legal) return tpt__rule_mismatch(r, "the right-hand sides must fit the matrix", a, b);
  return tpt__rule_share(r, b);
}

tpt_status_t tpt__rule_fft(tpt_rule_t* r) {
  tpt_type_t type = *r->types[0];
  TPT_TRY(tpt__rule_need(r, 0));
  TPT_TRY(tpt__rule_need(r, 1));
  int count = tpt__rule_count(r, 1);
  if (count < 1 || count > 3 || count > type.rank)
    return tpt__rule_fail(r, "fft_length has %d numbers for rank %d; 1 to 3 are legal", count,
                          type.rank);
  bool is_real = r->attrs[0].i == TPT_RFFT;
  if (is_real ? type.dtype != TPT_F32 && type.dtype != TPT_F64 : !tpt_dtype_is_complex(type.dtype))
    return tpt__rule_fail(r, "an operand of %s must be %s", tpt_dtype_row(type.dtype)->name,
                          is_real ? "f32 or f64" : "complex");
  for (int i = 0; i < count; i++) {
    int64_t length = tpt__rule_ints(r, 1)[i];
    int64_t size = type.dims[type.rank - count + i];
    bool is_half = i == count - 1 && r->attrs[0].i == TPT_IRFFT;
    if (length < 0 || (is_half ? size != (length == 0 ? 0 : length / 2 + 1) : size != length))
      return tpt__rule_fail(r, "fft_length %lld does not fit dimension %d of size %lld",
                            (long long)length, type.rank - count + i, (long long)size);
  }
  int64_t last = tpt__rule_ints(r, 1)[count - 1];
  if (is_real) {
    type.dtype = type.dtype == TPT_F32 ? TPT_C64 : TPT_C128;
    type.dims[type.rank - 1] = last == 0 ? 0 : last / 2 + 1;
  } else if (r->attrs[0].i == TPT_IRFFT) {
    type.dtype = tpt_dtype_real(type.dtype);
    type.dims[type.rank - 1] = last;
  }
  return tpt__rule_result(r, &type);
}

tpt_status_t tpt__rule_rng_bit_generator(tpt_rule_t* r) {
  const tpt_type_t* state = r->types[0];
  tpt__rule_default_i64(r, 0, TPT_RNG_DEFAULT);
  if (state->rank != 1 || state->dtype != TPT_U64 || state->dims[0] < 2 || state->dims[0] > 3 ||
      (r->attrs[0].i == TPT_RNG_THREE_FRY && state->dims[0] != 2))
    return tpt__rule_fail(r, "the state must be u64[2], or u64[3] for PHILOX");
  if (r->given_count != 2) return tpt__rule_fail(r, "two result types must be given");
  if (!tpt_dtype_is_int(r->given[1].dtype))
    return tpt__rule_fail(r, "random bits must be integers, not %s",
                          tpt_dtype_row(r->given[1].dtype)->name);
  TPT_TRY(tpt__rule_share(r, state));
  return tpt__rule_result(r, &r->given[1]);
}
