/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_FMATH_H
#define CKPT_BASE_FMATH_H

/*
 * The only door to the math library: the last bit of these functions depends
 * on which library and which processor it runs on, so whoever calls them does
 * so here and can be found.
 */

double ckpt_exp(double x);
double ckpt_log(double x);
double ckpt_log1p(double x);
double ckpt_pow(double base, double exponent);
double ckpt_sin(double x);
double ckpt_cos(double x);

#endif
