/* Stan's functions of BridgeStan 2.9, and what the tables of a model have. */
#ifndef INLAY_BRIDGESTAN_H
#define INLAY_BRIDGESTAN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BS_PUBLIC __attribute__((visibility("default")))

typedef struct bs_model bs_model;
typedef struct bs_rng bs_rng;

extern BS_PUBLIC int bs_major_version, bs_minor_version, bs_patch_version;

/* Functions that can fail return 0, or -1 and a text in `error` (if that is not NULL), which bs_free_error_msg frees.
 */
BS_PUBLIC bs_model* bs_model_construct(const char* data, unsigned int seed, char** error);
BS_PUBLIC void bs_model_destruct(bs_model* m);
BS_PUBLIC void bs_free_error_msg(char* error);
BS_PUBLIC int bs_set_print_callback(void (*callback)(const char*, size_t), char** error);
BS_PUBLIC const char* bs_name(const bs_model* m);
BS_PUBLIC const char* bs_model_info(const bs_model* m);
BS_PUBLIC const char* bs_param_names(const bs_model* m, bool include_tp, bool include_gq);
BS_PUBLIC const char* bs_param_unc_names(const bs_model* m);
BS_PUBLIC int bs_param_num(const bs_model* m, bool include_tp, bool include_gq);
BS_PUBLIC int bs_param_unc_num(const bs_model* m);
BS_PUBLIC int bs_param_constrain(const bs_model* m, bool include_tp, bool include_gq, const double* theta_unc,
                                 double* theta, bs_rng* rng, char** error);
BS_PUBLIC int bs_param_unconstrain(const bs_model* m, const double* theta, double* theta_unc, char** error);
BS_PUBLIC int bs_param_unconstrain_json(const bs_model* m, const char* json, double* theta_unc, char** error);
BS_PUBLIC int bs_param_initialize(const bs_model* m, const char* json, bs_rng* rng, double radius, int tries,
                                  bool jacobian, double* theta_unc, char** error);
BS_PUBLIC int bs_log_density(const bs_model* m, bool propto, bool jacobian, const double* theta_unc, double* value,
                             char** error);
BS_PUBLIC int bs_log_density_gradient(const bs_model* m, bool propto, bool jacobian, const double* theta_unc,
                                      double* value, double* gradient, char** error);
BS_PUBLIC int bs_log_density_hessian(const bs_model* m, bool propto, bool jacobian, const double* theta_unc,
                                     double* value, double* gradient, double* hessian, char** error);
BS_PUBLIC int bs_log_density_hessian_vector_product(const bs_model* m, bool propto, bool jacobian,
                                                    const double* theta_unc, const double* vector, double* value,
                                                    double* product, char** error);
BS_PUBLIC bs_rng* bs_rng_construct(unsigned int seed, char** error);
BS_PUBLIC void bs_rng_destruct(bs_rng* rng);

/* A function of inlay's. `absent`: why it is not there, and then `entry` is NULL. */
struct InlayCall;
typedef struct {
  int32_t (*entry)(struct InlayCall* call);
  const char* (*message)(int32_t code);
  int32_t first_site;
  size_t arena_bytes;
  const char* absent;
} Function;

/* Where it begins in vectors, and where its dims are in kDims; the same of its unconstrained values, of which only
 * parameters have some. */
typedef struct {
  const char* name;
  int64_t start;
  int dims, rank;
  int64_t unc_start;
  int unc_dims, unc_rank;
} Variable;

#endif
