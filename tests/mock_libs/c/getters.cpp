// SPDX-License-Identifier: Apache-2.0
// The arrays that getters of tensors allocate, deleted as those of CANN have to be.
#include <initializer_list>

#include "aclnn/acl_meta.h"
#include "expect.h"

int main()
{
    const int64_t dims[] = {2, 3};
    aclTensor *tensor = aclCreateTensor(dims, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 2, nullptr);
    for (auto get : {aclGetViewShape, aclGetViewStrides, aclGetStorageShape}) {
        int64_t *found = nullptr;
        uint64_t count = 0;
        OK(get(tensor, &found, &count));
        EXPECT(2, count);
        EXPECT(3, found[get == aclGetViewStrides ? 0 : 1]);
        delete[] found;
    }
    return aclDestroyTensor(tensor);
}
