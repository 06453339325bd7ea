# SPDX-License-Identifier: Apache-2.0
"""Programs for pyACL on its stand-in, whose functions follow from their C declarations."""

from __future__ import annotations

import subprocess
import sys

import pytest

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

COPIES = """
import acl
import numpy as np
assert acl.init() == acl.rt.set_device(0) == 0
x = np.arange(12, dtype=np.float32).reshape(3, 4)
device, status = acl.rt.malloc(x.nbytes, 0)
assert acl.rt.memcpy(device, x.nbytes, acl.util.bytes_to_ptr(x.tobytes()), x.nbytes, 1) == 0
host, status = acl.rt.malloc_host(x.nbytes)
assert acl.rt.memcpy(host, x.nbytes, device, x.nbytes, 2) == 0
assert acl.util.ptr_to_bytes(host, x.nbytes) == x.tobytes()
view = acl.util.ptr_to_numpy(host, x.shape, x.dtype.num)
assert view.dtype == x.dtype and (view == x).all()
assert acl.util.numpy_to_ptr(view) == host
for wrong in (lambda: acl.util.ptr_to_numpy(host, (1,), 99), lambda: acl.rt.malloc(16)):
    try:
        wrong()
    except (TypeError, ValueError) as error:
        print(error)
"""

CALLBACKS = """
import threading
import acl
assert acl.init() == acl.rt.set_device(0) == 0
context, status = acl.rt.get_context()
stream, status = acl.rt.create_stream()
called, ended = [], []
def process(arguments):
    own, timeout = arguments
    assert acl.rt.set_context(own) == 0
    while not ended:
        acl.rt.process_report(timeout)
thread, status = acl.util.start_thread(process, [context, 50])
assert status == 0 and acl.rt.subscribe_report(thread, stream) == 0
def function(data):
    called.append((data, threading.get_ident() == thread))
assert acl.rt.launch_callback(function, [1, 2], 1, stream) == 0
assert acl.rt.synchronize_stream(stream) == 0 and called == [([1, 2], True)]
assert acl.rt.launch_callback(function, [3], 1, 64) != 0
assert acl.rt.unsubscribe_report(thread, stream) == 0
ended.append(True)
assert acl.util.stop_thread(thread) == 0 and acl.util.stop_thread(thread) == 100000
assert acl.rt.destroy_stream(stream) == 0
"""

OPERATORS = """
import acl
import numpy as np
assert acl.init() == acl.rt.set_device(0) == 0
stream, status = acl.rt.create_stream()
x, y = np.array([[-1.5, 2.0, -3.0]], np.float32), np.zeros((1, 3), np.float32)
def tensor(array):
    address, status = acl.rt.malloc(array.nbytes, 0)
    source = acl.util.numpy_to_ptr(array)
    assert acl.rt.memcpy(address, array.nbytes, source, array.nbytes, 1) == 0
    description = acl.create_tensor_desc(0, list(array.shape), 2)
    return description, acl.create_data_buffer(address, array.nbytes)
(x_desc, x_buffer), (y_desc, y_buffer) = tensor(x), tensor(y)
assert acl.get_tensor_desc_num_dims(x_desc) == 2 and acl.get_tensor_desc_dim_v2(x_desc, 1) == (3, 0)
attributes = acl.op.create_attr()
assert acl.op.set_attr_list_int(attributes, "axes", [-1]) == 0
def run():
    ins, buffers, outs, results = [x_desc], [x_buffer], [y_desc], [y_buffer]
    return acl.op.execute_v2("SoftmaxV2", ins, buffers, outs, results, attributes, stream)
assert run() == 100024 and "aclopCompile" in acl.get_recent_err_msg()
assert acl.op.compile("SoftmaxV2", [x_desc], [y_desc], attributes, 0, 0, "") == 0
assert run() == acl.rt.synchronize_stream(stream) == 0
address = acl.get_data_buffer_addr(y_buffer)
assert acl.rt.memcpy(acl.util.numpy_to_ptr(y), y.nbytes, address, y.nbytes, 2) == 0
np.testing.assert_allclose(y, np.exp(x) / np.exp(x).sum(), rtol=1e-5)
dataset = acl.mdl.create_dataset()
assert acl.mdl.add_dataset_buffer(dataset, x_buffer) == (dataset, 0)
assert acl.blas.gemm_ex and acl.fv.init
"""


@pytest.mark.parametrize("program", [PROGRAM, CALLBACKS, OPERATORS])
def test_a_program_for_pyacl_runs(program: str) -> None:
    done = run(program)
    assert done.returncode == 0, done.stderr


def test_host_memory_becomes_an_array_and_mistakes_are_named() -> None:
    done = run(COPIES)
    assert done.stdout.splitlines() == [
        "np_type is 99; it must be the num of a dtype of NumPy, such as 11",
        "malloc() takes 2 arguments for aclrtMalloc, not 1",
    ], done.stderr


def run(program: str) -> subprocess.CompletedProcess[str]:
    path = f"import sys; sys.path.insert(0, {str(acldir())!r})\n"
    command = [sys.executable, "-c", path + program]
    return subprocess.run(command, capture_output=True, text=True, check=False)
