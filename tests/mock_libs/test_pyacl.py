# SPDX-License-Identifier: Apache-2.0
"""Functions of the stand-in for pyACL that follow from their C declarations."""

from __future__ import annotations

import subprocess
import sys

from pyaclnn.cann.simulator import acldir

PROGRAM = """
import acl
assert acl.init() == 0 and acl.rt.set_device(0) == 0
event, status = acl.rt.create_event()
assert status == 0 and event
stream, status = acl.rt.create_stream()
assert [acl.rt.record_event(event, stream), acl.rt.synchronize_event(event)] == [0, 0]
assert acl.rt.query_event_status(event) == (1, 0)
assert acl.rt.get_version() == (1, 13, 0, 0)
made = acl.mdl.create_dataset()
assert made and acl.mdl.get_dataset_num_buffers(made) == 0
assert acl.mdl.get_dataset_buffer(made, 3) == 0
assert acl.mdl.destroy_dataset(made) == 0
assert acl.mdl.load_from_file("model.om") == (0, 999001)
assert "offline models" in acl.get_recent_err_msg()
assert acl.mdl.get_desc(acl.mdl.create_desc(), 1) == 100000
assert acl.mdl.get_input_name_by_index(acl.mdl.create_desc(), 0) == ""
assert acl.prof.init("out", 3) == 0 and acl.prof.finalize() == 0
assert acl.rt.destroy_event(event) == acl.rt.destroy_stream(stream) == 0
for area, name in ((acl, "nothing"), (acl.rt, "createEvent"), (acl.mdl, "load")):
    try:
        getattr(area, name)
    except AttributeError as error:
        assert name in str(error)
    else:
        raise AssertionError(name)
"""


def test_functions_follow_from_their_declarations() -> None:
    path = f"import sys; sys.path.insert(0, {str(acldir())!r})\n"
    done = subprocess.run(
        [sys.executable, "-c", path + PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
