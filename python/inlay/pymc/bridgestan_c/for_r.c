/* The same functions for R, which passes the address of everything. `place` is the error once more, as R copies texts.
 */
#include "bridgestan.h"

BS_PUBLIC void bs_version_R(int* major, int* minor, int* patch) {
  *major = bs_major_version;
  *minor = bs_minor_version;
  *patch = bs_patch_version;
}

BS_PUBLIC void bs_model_construct_R(char** data, int* seed, bs_model** model, char** error, void** place) {
  *model = bs_model_construct(*data, (unsigned int)*seed, error);
  *place = *error;
}

BS_PUBLIC void bs_model_destruct_R(bs_model** model) { bs_model_destruct(*model); }

BS_PUBLIC void bs_free_error_msg_R(void** error) { bs_free_error_msg((char*)*error); }

BS_PUBLIC void bs_name_R(bs_model** model, const char** name) { *name = bs_name(*model); }

BS_PUBLIC void bs_model_info_R(bs_model** model, const char** info) { *info = bs_model_info(*model); }

BS_PUBLIC void bs_param_names_R(bs_model** model, int* include_tp, int* include_gq, const char** names) {
  *names = bs_param_names(*model, *include_tp, *include_gq);
}

BS_PUBLIC void bs_param_unc_names_R(bs_model** model, const char** names) { *names = bs_param_unc_names(*model); }

BS_PUBLIC void bs_param_num_R(bs_model** model, int* include_tp, int* include_gq, int* number) {
  *number = bs_param_num(*model, *include_tp, *include_gq);
}

BS_PUBLIC void bs_param_unc_num_R(bs_model** model, int* number) { *number = bs_param_unc_num(*model); }

BS_PUBLIC void bs_param_constrain_R(bs_model** model, int* include_tp, int* include_gq, const double* theta_unc,
                                    double* theta, bs_rng** rng, int* code, char** error, void** place) {
  *code = bs_param_constrain(*model, *include_tp, *include_gq, theta_unc, theta, *rng, error);
  *place = *error;
}

BS_PUBLIC void bs_param_unconstrain_R(bs_model** model, const double* theta, double* theta_unc, int* code, char** error,
                                      void** place) {
  *code = bs_param_unconstrain(*model, theta, theta_unc, error);
  *place = *error;
}

BS_PUBLIC void bs_param_unconstrain_json_R(bs_model** model, const char** json, double* theta_unc, int* code,
                                           char** error, void** place) {
  *code = bs_param_unconstrain_json(*model, *json, theta_unc, error);
  *place = *error;
}

BS_PUBLIC void bs_log_density_R(bs_model** model, int* propto, int* jacobian, const double* theta_unc, double* value,
                                int* code, char** error, void** place) {
  *code = bs_log_density(*model, *propto, *jacobian, theta_unc, value, error);
  *place = *error;
}

BS_PUBLIC void bs_log_density_gradient_R(bs_model** model, int* propto, int* jacobian, const double* theta_unc,
                                         double* value, double* gradient, int* code, char** error, void** place) {
  *code = bs_log_density_gradient(*model, *propto, *jacobian, theta_unc, value, gradient, error);
  *place = *error;
}

BS_PUBLIC void bs_log_density_hessian_R(bs_model** model, int* propto, int* jacobian, const double* theta_unc,
                                        double* value, double* gradient, double* hessian, int* code, char** error,
                                        void** place) {
  *code = bs_log_density_hessian(*model, *propto, *jacobian, theta_unc, value, gradient, hessian, error);
  *place = *error;
}

BS_PUBLIC void bs_log_density_hessian_vector_product_R(bs_model** model, int* propto, int* jacobian,
                                                       const double* theta_unc, const double* vector, double* value,
                                                       double* product, int* code, char** error, void** place) {
  *code = bs_log_density_hessian_vector_product(*model, *propto, *jacobian, theta_unc, vector, value, product, error);
  *place = *error;
}

BS_PUBLIC void bs_rng_construct_R(int* seed, bs_rng** rng, char** error, void** place) {
  *rng = bs_rng_construct((unsigned int)*seed, error);
  *place = *error;
}

BS_PUBLIC void bs_rng_destruct_R(bs_rng** rng) { bs_rng_destruct(*rng); }
