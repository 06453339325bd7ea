/* SPDX-License-Identifier: Apache-2.0 */
/* A program of C++ asks a tensor, a scalar and an array through the members of their classes. */
#include <complex>
#include <cstdio>
#include <memory>
#include <string>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"

namespace ge {
class AscendString {
public:
    const char *GetString() const;

private:
    std::shared_ptr<std::string> name_;
};
}  // namespace ge
struct aclTensor {
    void *GetData() const;
};
template <typename T> struct aclArray {
    const T *GetData() const;
};
struct aclScalar {
    const void *GetData() const;
    aclDataType GetDataType() const;
    float ToFloat() const;
    std::complex<float> ToComplex64() const;
    std::complex<double> ToComplex128() const;
    ge::AscendString ToString() const;
};

template <typename T> static void tell(T value, aclDataType type)
{
    const aclScalar *scalar = aclCreateScalar(&value, type);
    const std::complex<float> narrow = scalar->ToComplex64();
    const std::complex<double> wide = scalar->ToComplex128();
    const T *held = static_cast<const T *>(scalar->GetData());
    std::printf("%d %d %g %g%+g %g%+g\n", scalar->GetDataType(), *held == value,
                static_cast<double>(scalar->ToFloat()), static_cast<double>(narrow.real()),
                static_cast<double>(narrow.imag()), wide.real(), wide.imag());
    aclDestroyScalar(scalar);
}

int main()
{
    const int64_t dims[] = {2, 3};
    char memory[64];
    const aclIntArray *array = aclCreateIntArray(dims, 2);
    const int64_t *items = reinterpret_cast<const aclArray<int64_t> *>(array)->GetData();
    aclTensor *tensor =
        aclCreateTensor(dims, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 2, memory);
    std::printf("%ld %ld %d\n", static_cast<long>(items[0]), static_cast<long>(items[1]),
                tensor->GetData() == memory);
    aclDestroyTensor(tensor);
    aclDestroyIntArray(array);
    tell(true, ACL_BOOL);
    tell<int8_t>(-3, ACL_INT8);
    tell<uint16_t>(65535, ACL_UINT16);
    tell<int64_t>(-5, ACL_INT64);
    tell<uint16_t>(0x3E00, ACL_FLOAT16);
    tell<uint16_t>(0x3FC0, ACL_BF16);
    tell(2.5F, ACL_FLOAT);
    tell(-2.25, ACL_DOUBLE);
    tell(std::complex<float>(1, -2), ACL_COMPLEX64);
    tell(std::complex<double>(3, 4), ACL_COMPLEX128);
#ifdef __x86_64__
    float number = 1;
    const aclScalar *scalar = aclCreateScalar(&number, ACL_FLOAT);
    const ge::AscendString text = scalar->ToString();
    std::printf("'%s' %s\n", text.GetString(), aclGetRecentErrMsg());
    aclDestroyScalar(scalar);
#endif
    return 0;
}
