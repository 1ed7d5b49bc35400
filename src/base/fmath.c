/* SPDX-License-Identifier: MIT */
/*
 * Calls into libm. The flags under which the bits of this project hold are
 * checked here, where they matter.
 */
#include "base/fmath.h"

#include <float.h>
#include <math.h>

#ifdef __FAST_MATH__
#error "the arithmetic of this project is exact: build without -ffast-math"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "doubles must be evaluated as doubles");
_Static_assert(DBL_MANT_DIG == 53, "doubles must be binary64");

double
ckpt_exp(double x)
{
	return exp(x);
}

double
ckpt_log(double x)
{
	return log(x);
}

double
ckpt_log1p(double x)
{
	return log1p(x);
}

double
ckpt_pow(double base, double exponent)
{
	return pow(base, exponent);
}

double
ckpt_sin(double x)
{
	return sin(x);
}

double
ckpt_cos(double x)
{
	return cos(x);
}
