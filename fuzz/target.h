/* SPDX-License-Identifier: MIT */
#ifndef CKPT_FUZZ_TARGET_H
#define CKPT_FUZZ_TARGET_H

/*
 * The fuzz targets: one function a file, named ckpt_fuzz_NAME in fuzz_NAME.c.
 * The same function runs under AFL++ (main_afl.c) and over stored files
 * (main_files.c). A broken promise ends in abort().
 */

#include <stddef.h>
#include <stdint.h>

void ckpt_fuzz_archive(const uint8_t *data, size_t size);
void ckpt_fuzz_document(const uint8_t *data, size_t size);
void ckpt_fuzz_job(const uint8_t *data, size_t size);
void ckpt_fuzz_llmcp35(const uint8_t *data, size_t size);
void ckpt_fuzz_replay(const uint8_t *data, size_t size);
void ckpt_fuzz_safetensors(const uint8_t *data, size_t size);
void ckpt_fuzz_split(const uint8_t *data, size_t size);
void ckpt_fuzz_viewer(const uint8_t *data, size_t size);

/* Memory that a run may use: small, so that what grows too much shows. */
#define CKPT_FUZZ_MEMORY ((uint64_t)64 << 20)

#endif
