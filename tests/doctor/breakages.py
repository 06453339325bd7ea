# SPDX-License-Identifier: Apache-2.0
"""Faults of an installation, one function each."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING

from pyaclnn.cann.simulator import simulator
from pyaclnn.mock import libdir

from .installations import ARCH, Fabricated, install, source, write
from .parts import patched, place

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Break"]

Break = Callable[[Fabricated], object]

VARIABLES = ("ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH", "LD_LIBRARY_PATH")
OTHER_VERSION = {"8.1": "8.0.0", "8.5": "8.3.RC1", "9.1": "9.0.0"}


def setting(**variables: str) -> Break:
    """Set variables."""
    return lambda made: made.environment.update(variables)


def fault(name: str) -> Break:
    """Choose a fault of the vendor's libraries."""
    return setting(KIT_FAULT=name)


# ---- environment --------------------------------------------------------------------------------


def not_sourced(made: Fabricated) -> None:
    made.unset(*VARIABLES)


def half_sourced(made: Fabricated) -> None:
    made.unset("ASCEND_OPP_PATH", "ASCEND_TOOLKIT_HOME")


def stale_home(made: Fabricated) -> None:
    gone = str(made.cann.parent / "8.0.RC3")
    made.environment.update(ASCEND_HOME_PATH=gone, ASCEND_TOOLKIT_HOME=gone)


def second_toolkit(made: Fabricated) -> Path:
    """Install another version beside the first; returns the name of its folder."""
    link = made.cann.parent / "other"
    install(made, link, OTHER_VERSION[made.layout])
    return link


def two_homes(made: Fabricated) -> None:
    made.environment["ASCEND_TOOLKIT_HOME"] = str(second_toolkit(made))


def foreign_operators(made: Fabricated) -> None:
    made.environment["ASCEND_OPP_PATH"] = str(second_toolkit(made).resolve() / "opp")


def sourced_twice(made: Fabricated) -> None:
    source(made, second_toolkit(made))
    source(made, made.cann)


def other_toolkit_in_front(made: Fabricated) -> None:
    other = second_toolkit(made)
    path = made.environment["LD_LIBRARY_PATH"]
    made.environment["LD_LIBRARY_PATH"] = f"{other / 'lib64'}:{path}"


def library_in_front(made: Fabricated) -> None:
    front = made.write("/opt/copies/libnnopbase.so")
    patched(made.lib64 / front.name, front)
    made.environment["LD_LIBRARY_PATH"] = f"{front.parent};{made.environment['LD_LIBRARY_PATH']}"


def preloaded_runtime(made: Fabricated) -> None:
    made.environment["LD_PRELOAD"] = str(made.runtime.resolve())


def damaged_for_processor(made: Fabricated) -> None:
    """Put a damaged library where the loader looks for those of newer processors first."""
    better = made.lib64 / "glibc-hwcaps/x86-64-v2" / made.operators.name
    better.parent.mkdir(parents=True)
    better.write_bytes(b"no library")


def quoted_path(made: Fabricated) -> None:
    folder = str(made.lib64)
    path = made.environment["LD_LIBRARY_PATH"]
    made.environment["LD_LIBRARY_PATH"] = path.replace(folder, f'"{folder}"', 1)


def line_break_in_a_path(made: Fabricated) -> None:
    made.environment["ASCEND_OPP_PATH"] += "\n"


def library_path_overwritten(made: Fabricated) -> None:
    made.environment["LD_LIBRARY_PATH"] = str(made.root / "usr/local/cuda/lib64")


def log_not_writable(made: Fabricated) -> None:
    folder = made.root / "var/log/ascend"
    folder.mkdir(parents=True)
    folder.chmod(0o700)
    made.gids = made.gids  # the folder is of its owner alone, who is somebody else
    made.environment["ASCEND_PROCESS_LOG_PATH"] = str(folder)


# ---- what is installed --------------------------------------------------------------------------


def no_cann(made: Fabricated) -> None:
    shutil.rmtree(made.cann.parent)
    made.unset(*VARIABLES)


def nothing_at_all(made: Fabricated) -> None:
    shutil.rmtree(made.root / "usr")
    shutil.rmtree(made.root / "dev")
    made.unset(*VARIABLES)


def unlinked(made: Fabricated) -> None:
    """Take away the link by which an installation is found, and the variables."""
    made.cann.unlink()
    made.unset(*VARIABLES)


def dangling_root(made: Fabricated) -> None:
    unlinked(made)
    made.cann.symlink_to("8.9.9")
    for path in made.cann.parent.iterdir():
        if path.is_dir():
            shutil.rmtree(path)


def looping_root(made: Fabricated) -> None:
    dangling_root(made)
    made.cann.unlink()
    made.cann.symlink_to(made.cann.name)


def emptied(made: Fabricated) -> None:
    for path in made.lib64.iterdir():
        path.unlink()
    made.unset(*VARIABLES)


def runtime_package_alone(name: str) -> Break:
    def broken(made: Fabricated) -> None:
        real = made.cann.resolve()
        folder = made.cann.parent.parent / name
        unlinked(made)
        folder.mkdir()
        (made.cann.parent / "set_env.sh").rename(folder / "set_env.sh")
        real.rename(folder / real.name)
        (folder / "latest").symlink_to(real.name)

    return broken


def library_path_alone(made: Fabricated) -> None:
    real = made.cann.resolve()
    made.unset(*VARIABLES)
    elsewhere = made.root / "srv/npu"
    elsewhere.parent.mkdir()
    real.rename(elsewhere)
    shutil.rmtree(made.cann.parent)
    write(elsewhere / "set_env.sh", "")
    made.environment["LD_LIBRARY_PATH"] = str(elsewhere / "lib64")


def home_gone(made: Fabricated) -> None:
    home = made.environment["ASCEND_HOME_PATH"]
    no_cann(made)
    made.environment["ASCEND_HOME_PATH"] = home


def operators_gone(made: Fabricated) -> None:
    shutil.rmtree(made.opp)


def the_mock_instead(made: Fabricated) -> None:
    shutil.rmtree(made.lib64)
    place(libdir(), made.lib64)
    shutil.copy(simulator(), made.lib64)


def no_built_in_operators(made: Fabricated) -> None:
    shutil.rmtree(made.opp / "built-in")


def private_libraries(made: Fabricated) -> None:
    for path in made.lib64.iterdir():
        path.chmod(0o440)
    made.gids = {61000}
    for path in (made.root / "dev").iterdir():
        path.chmod(0o666)


def private_operators(made: Fabricated) -> None:
    (made.opp / "built-in").chmod(0o700)


def old_kernels(made: Fabricated) -> None:
    if made.layout == "8.1":
        before, after = "opp_kernel_running_version=[7.7.0.1.238:8.1.RC1]", "[7.6.0.1.1:8.0.0]"
        made.edit(made.cann / "version.cfg", before, f"opp_kernel_running_version={after}")
    else:
        write(made.cann / "share/info/ops_nn/version.info", "Version=8.3.RC1\n")


def slightly_old_kernels(made: Fabricated) -> None:
    write(made.cann / "share/info/ops_nn/version.info", "Version=9.1.0-beta.3\n")


def no_versions(made: Fabricated) -> None:
    shutil.rmtree(made.cann / "share")


# ---- libraries ----------------------------------------------------------------------------------


def remove_runtime(made: Fabricated) -> None:
    made.runtime.unlink()


def remove_base(made: Fabricated) -> None:
    (made.lib64 / "libnnopbase.so").unlink()


def remove_operators(made: Fabricated) -> None:
    made.operators.unlink()


def cut_inner_library(made: Fabricated) -> None:
    library = made.lib64 / "libvendorrt.so"
    library.write_bytes(library.read_bytes()[:20000])


def needs_nnal(made: Fabricated) -> None:
    """Let the runtime need a library of another package."""
    patched(made.runtime, made.runtime, (b"libvendorrt.so", b"libatb.so"))


def libraries_of_another_release(made: Fabricated) -> None:
    shutil.rmtree(made.lib64)
    place(made.parts.new, made.lib64)


def _of_another_user(made: Fabricated, name: str) -> None:
    (made.root / "home/user" / name).mkdir()


def logs_of_another_user(made: Fabricated) -> None:
    _of_another_user(made, "ascend")


def cache_of_another_user(made: Fabricated) -> None:
    _of_another_user(made, "atc_data")


def atb_without_libraries(made: Fabricated) -> None:
    (made.root / "usr/local/Ascend/nnal/atb/latest/atb/cxx_abi_0/lib").mkdir(parents=True)


def mindie_cut_short(made: Fabricated) -> None:
    folder = made.root / "opt/mindie-llm"
    place(made.parts.driver, folder / "lib")
    library = (folder / "lib/libascend_hal.so").rename(folder / "lib/libmindie.so")
    library.write_bytes(library.read_bytes()[:5000])
    made.environment["MINDIE_LLM_HOME_PATH"] = str(folder)


def vendor_gone(made: Fabricated) -> None:
    (made.opp / "vendors").mkdir()
    (made.opp / "vendors/config.ini").write_text("load_priority=gone\n")


def base_of_another_release(made: Fabricated) -> None:
    place = made.cann.parent / "7.0.0/lib64/libnnopbase.so"
    place.parent.mkdir(parents=True)
    base = made.cann.resolve() / "lib64/libnnopbase.so"
    base.rename(place)
    base.symlink_to(place)


def broken_custom_operators(made: Fabricated) -> None:
    vendors = made.opp / "vendors"
    library = vendors / "mine/op_api/lib/libcust_opapi.so"
    library.parent.mkdir(parents=True)
    patched(made.runtime, library, (b"libvendorrt.so", b"libgone.so"))
    write(vendors / "config.ini", "load_priority=mine\n")


def other_compiler(made: Fabricated) -> None:
    (made.root / "old/python/tbe").mkdir(parents=True)
    made.environment["PYTHONPATH"] = str(made.root / "old/python")


def remove_inner_library(made: Fabricated) -> None:
    (made.lib64 / "libvendorrt.so").unlink()


def truncated(made: Fabricated) -> None:
    image = made.operators.read_bytes()
    made.operators.write_bytes(image[: len(image) // 3])


def for_a_newer_system(made: Fabricated) -> None:
    patched(made.operators, made.operators, (b"GLIBC_2.2.5", b"GLIBC_9.9.9"))


def empty(made: Fabricated) -> None:
    made.runtime.write_bytes(b"")


def no_library(made: Fabricated) -> None:
    made.runtime.write_text("<html>404 Not Found</html>")


def other_processor(made: Fabricated) -> None:
    image = bytearray(made.runtime.read_bytes())
    image[18:20] = (8).to_bytes(2, "little")
    made.runtime.write_bytes(image)


def dangling(made: Fabricated) -> None:
    target = made.lib64 / "libnnopbase.so"
    target.unlink()
    target.symlink_to(made.root / "gone/libnnopbase.so")


def stubs_in_front(made: Fabricated) -> None:
    stubs = made.cann / ARCH / "devlib"
    made.environment["LD_LIBRARY_PATH"] = f"{stubs}:{made.environment['LD_LIBRARY_PATH']}"


def stubs_for_each_processor(made: Fabricated) -> None:
    stubs = made.cann / ARCH / "devlib/linux/x86_64"
    place(made.parts.stub, stubs)
    made.environment["LD_LIBRARY_PATH"] = f"{stubs}:{made.environment['LD_LIBRARY_PATH']}"


def stubs_for_want_of_a_driver(made: Fabricated) -> None:
    shutil.rmtree(made.driver / "lib64")
    stubs = made.cann / ARCH / "devlib"
    made.environment["LD_LIBRARY_PATH"] = f"{made.environment['LD_LIBRARY_PATH']}:{stubs}"


def driver_library_gone(made: Fabricated) -> None:
    (made.driver / "lib64/driver/libascend_hal.so").unlink()


def driver_not_on_path(made: Fabricated) -> None:
    made.environment["LD_LIBRARY_PATH"] = str(made.lib64)


def missing_operator(made: Fabricated) -> None:
    library = made.lib64 / "libvendr.so"
    patched(library, library, (b"aclnnRmsNormGrad", b"aclnnRmsNormGrab"))


def missing_runtime_function(made: Fabricated) -> None:
    library = made.lib64 / "libvendorrt.so"
    patched(library, library, (b"aclrtCreateEventExWithFlag", b"aclrtCreateEventExWithFlog"))


def changed_signature(made: Fabricated) -> None:
    path = made.cann / "include/aclnnop/aclnn_rms_norm.h"
    made.edit(path, "double epsilon,", "double epsilon, bool gemmaMode,")


def changed_type(made: Fabricated) -> None:
    path = made.cann / "include/aclnnop/aclnn_rms_norm_grad.h"
    made.edit(path, "const aclTensor *rstd", "const aclTensorList *rstd")


def pipe_for_library(made: Fabricated) -> None:
    made.operators.unlink()
    os.mkfifo(made.operators)


def pipe_for_header(made: Fabricated) -> None:
    os.mkfifo(made.cann / "include/aclnnop/aclnn_strange.h")
