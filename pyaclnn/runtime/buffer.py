# SPDX-License-Identifier: Apache-2.0
"""Device memory as bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from pyaclnn.base.errors import InvalidArgumentError, OutOfMemoryError, repr_of
from pyaclnn.cann import raw
from pyaclnn.cann.gate import call, give_back
from pyaclnn.runtime.context import is_gone
from pyaclnn.runtime.device import Device, require_device
from pyaclnn.runtime.handle import Handle
from pyaclnn.runtime.memory import Memory
from pyaclnn.runtime.shapes import count_of
from pyaclnn.runtime.timelines import release_idle

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyaclnn.cann.raw import Pointer

__all__ = ["Buffer", "allocate", "made_memory"]

_LAST_ADDRESS: Final = 2**64 - 1


def allocate(nbytes: int, device: Device, kind: str = "device memory") -> Memory:
    """Allocate device memory; its content is undefined. Drives ``aclrtMalloc``.

    Args:
        nbytes: Number of bytes, more than 0.
        device: Where.
        kind: Under what it is counted.

    Returns:
        The memory, which gives itself back with ``aclrtFree``.

    Raises:
        OutOfMemoryError: There is not so much free memory.
    """
    return made_memory(kind, device, nbytes, "aclrtFree", _malloc)


def _malloc(slot: Pointer, device: Device, nbytes: int) -> None:
    try:
        call("aclrtMalloc", slot, nbytes, raw.ACL_MEM_MALLOC_HUGE_FIRST)
    except OutOfMemoryError:
        if not release_idle(device._context):
            raise
        call("aclrtMalloc", slot, nbytes, raw.ACL_MEM_MALLOC_HUGE_FIRST)


def made_memory(
    kind: str,
    device: Device,
    nbytes: int,
    release: str,
    make: Callable[[Pointer, Device, int], None],
) -> Memory:
    """Allocate memory in such a way that an exception of a signal handler loses none.

    Args:
        kind: Under what it is counted.
        device: Where.
        nbytes: Number of bytes.
        release: The C function that gives it back.
        make: Allocates it, with the device current, and stores its address in a slot.

    Returns:
        The memory, which gives itself back.
    """
    slot = raw.ffi.new("void **")

    owner = device._held

    def free(_: Pointer) -> None:
        # With a device that its owner has reset its memory went; that of the host did not.
        if release != "aclrtFree" or not is_gone(owner):
            give_back(release, slot)

    memory = Memory(kind, None, nbytes, free, dependencies=(owner,))
    try:
        with device._active():
            make(slot, device, nbytes)
        memory.adopt(slot[0])
    except BaseException:
        memory.let_go()
        raise
    return memory


class Buffer(Handle):
    """A block of device memory.

    Like a NumPy array's memory it needs no ``close``: it is given back when nothing refers to it
    and every stream has passed the work that uses it. ``close`` gives it back earlier.

    Examples:
        >>> memory = pyaclnn.Buffer(4 * 8)
        >>> array = pyaclnn.DeviceArray(memory, (2, 4), np.float32)
        >>> array.copy_from(np.ones((2, 4), np.float32))
        >>> array.numpy().sum().item()
        8.0
    """

    _kind: ClassVar[str] = "device memory"
    _expects_close: ClassVar[bool] = False

    def __init__(
        self,
        nbytes: int,
        device: Device | None = None,
        *,
        address: int | None = None,
        owner: object = None,
    ) -> None:
        """Allocate device memory, or use memory of another owner, like ``Buffer.borrow``.

        Args:
            nbytes: Number of bytes; 0 allocates nothing. The content of new memory is undefined.
            device: Where; the default device if None.
            address: The device address of memory to borrow; memory is allocated if None.
            owner: Kept alive as long as this buffer, and work queued with it, needs the memory.

        Raises:
            InvalidArgumentError: An argument is not acceptable.
            OutOfMemoryError: There is not so much free memory.
        """
        size = count_of(nbytes)
        if size is None:
            raise InvalidArgumentError.of(
                "Buffer", "nbytes", repr_of(nbytes), "a number of bytes, 0 or more, below 2**63"
            )
        start = None if address is None else count_of(address, _LAST_ADDRESS)
        if address is not None and (start is None or (size and not start)):
            raise InvalidArgumentError.of(
                "Buffer", "address", repr_of(address), f"the device address of {size} bytes"
            )
        self._device = require_device("Buffer", device)
        self._nbytes = size
        if start is not None:
            memory = Memory(self._kind, raw.pointer_to(start), size, dependencies=(owner,))
        elif size:
            memory = allocate(size, self._device)
        else:
            memory = Memory(self._kind, raw.NULL, 0)
        self._memory = memory
        super().__init__(memory)

    @classmethod
    def borrow(
        cls, address: int, nbytes: int, device: Device | None = None, owner: object = None
    ) -> Buffer:
        """Use device memory of another owner; it is never freed here.

        Args:
            address: The device address of the first byte.
            nbytes: Number of bytes that belong to it.
            device: Where it lies; the default device if None.
            owner: Kept alive as long as this buffer, and work queued with it, needs the memory.

        Returns:
            A buffer whose ``close`` only closes this object.

        Raises:
            InvalidArgumentError: ``address`` is no address, or another argument is not acceptable.
        """
        if address is None:  # the constructor would allocate
            raise InvalidArgumentError.of(
                "Buffer.borrow", "address", "None", "a device address", "Buffer(nbytes) allocates."
            )
        return cls(nbytes, device, address=address, owner=owner)

    @property
    def device(self) -> Device:
        """The device on which the memory lies."""
        return self._device

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self._nbytes

    @property
    def address(self) -> int:
        """The device address of the first byte; 0 if there are no bytes."""
        return raw.address_of(self.pointer)

    def __repr__(self) -> str:
        if self.closed:
            return f"<Buffer of {self._nbytes} bytes on device {self._device.id}, closed>"
        state = "owned" if self.owned else "borrowed"
        return f"<Buffer of {self._nbytes} bytes at 0x{self.address:x}, {state}>"
