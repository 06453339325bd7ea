/* SPDX-License-Identifier: Apache-2.0 */
/* Library that describes graph operators: it registers creators while it is loaded. */
#include <cstdio>
#include <functional>
#include <memory>

#include "acl/acl.h"

namespace ge {
class AscendString;
class Operator {
  public:
    Operator(const char *name, const char *type);
    virtual ~Operator() = default;

  private:
    std::shared_ptr<void> implementation;
};
class OperatorCreatorRegister {
  public:
    OperatorCreatorRegister(const char *type,
                            const std::function<Operator(const AscendString &)> &creator);
};
} // namespace ge

struct Concat : ge::Operator {
    Concat() : ge::Operator("one", "Concat")
    {
    }
};

static const ge::OperatorCreatorRegister registered("Concat", [](const ge::AscendString &) {
    return ge::Operator(Concat());
});

int main()
{
    if (aclInit(nullptr) != ACL_SUCCESS || aclGetRecentErrMsg() != nullptr) {
        return 1;
    }
    {
        const Concat described;
    }
    std::puts(aclGetRecentErrMsg());
    return aclFinalize();
}
