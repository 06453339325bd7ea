# SPDX-License-Identifier: Apache-2.0
"""Steps of optimizers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = Any
State = tuple[Array, ...]
Rates = tuple[Any, ...]
Lists = Any
"""Lists of tensors."""


def _moments(first: Array, second: Array, gradient: Array, betas: Rates) -> tuple[Array, Array]:
    """The moments of gradients after another one."""
    return (
        betas[0] * first + (1 - betas[0]) * gradient,
        betas[1] * second + (1 - betas[1]) * gradient * gradient,
    )


def _by_kind(made: Sequence[State]) -> list[list[Array]]:
    """The tensors of all steps, a list for each kind."""
    return [list(each) for each in zip(*made, strict=True)]


def adam_step(
    state: State, gradient: Array, powers: Rates, rates: Rates, maximize: bool = False
) -> State:
    """A step of AdamW on variables, two moments and the largest second one, or None for it.

    Powers are those of the decays at this step; rates are the learning rate, the two decays, the
    decay of the weights, and epsilon.
    """
    variable, first, second, largest = state
    rate, *betas, decay, epsilon = rates
    first, second = _moments(first, second, -gradient if maximize else gradient, tuple(betas))
    largest = None if largest is None else np.maximum(largest, second)
    spread = np.sqrt((second if largest is None else largest) / (1 - powers[1])) + epsilon
    variable = variable * (1 - rate * decay) - rate * first / (1 - powers[0]) / spread
    return variable, first, second, largest


def adamw_steps(
    state: Lists, gradients: Lists, steps: Lists, rates: Rates, flags: Rates, scaled: State
) -> tuple[list[Array] | None, ...]:
    """Steps of AdamW on lists of tensors: `adam_step` of each.

    Flags are those of `adam_step`: amsgrad, maximize. Gradients are divided by a scale, if there
    is one; nothing changes if a number that is found infinite is 1.
    """
    (amsgrad, maximize), (scale, infinite) = flags, scaled
    most: Lists = state[3] if amsgrad else [None] * len(gradients)
    made: list[State] = [*zip(*state[:3], most, strict=True)]
    if infinite is None or infinite.reshape(-1)[0] != 1:
        if scale is not None:
            gradients = [gradient / scale.reshape(()) for gradient in gradients]
        counts = [step.reshape(()) for step in steps]
        made = [
            adam_step(own, gradient, (rates[1] ** count, rates[2] ** count), rates, maximize)
            for own, gradient, count in zip(made, gradients, counts, strict=True)
        ]
    found = _by_kind(made)
    return found[0], found[1], found[2], found[3] if amsgrad else None


def sgd_steps(
    state: Lists, scale: Array, rates: Rates, flags: Rates
) -> tuple[list[Array] | None, ...]:
    """Steps of stochastic gradient descent on variables, gradients and buffers of the momentum.

    Rates are the decay of the weights, the momentum, the learning rate and the dampening; flags
    are those of Nesterov, of maximizing, and of the first step. Unscaled gradients are written.
    """
    decay, momentum, rate, dampening = rates
    nesterov, maximize, is_first = flags
    variables, gradients, buffers = state
    made: list[State] = []
    for place, (variable, raw) in enumerate(zip(variables or [], gradients or [], strict=True)):
        unscaled = raw if scale is None else raw / scale.reshape(())
        step = (-unscaled if maximize else unscaled) + decay * variable
        buffer = None
        if momentum and buffers:
            old = buffers[place]
            buffer = step if is_first else momentum * old + (1 - dampening) * step
            step = step + momentum * buffer if nesterov else buffer
        made.append((variable - rate * step, unscaled, buffer))
    found = _by_kind(made)
    return found[0], found[1], found[2] if momentum and buffers else None


def averaged_adam(state: State, gradient: Array, step: Array, rates: Rates, flags: Rates) -> State:
    """A step of Adam on variables, two moments and an exponential average of the variables.

    Rates are the learning rate, the decays of the average and the moments, epsilon and the decay
    of the weights. Flags are whether (1) the weights decay apart from the gradient, and whether
    the bias of the moments is corrected.
    """
    variable, first, second, average = state
    rate, average_decay, *betas, epsilon, decay = rates
    apart, corrected = flags
    gradient = gradient if apart == 1 else gradient + decay * variable
    first, second = _moments(first, second, gradient, tuple(betas))
    powers = [1 - beta ** step.reshape(()) if corrected else 1 for beta in betas]
    update = first / powers[0] / (np.sqrt(second / powers[1]) + epsilon)
    variable = variable - rate * (update + (decay * variable if apart == 1 else 0))
    return variable, first, second, average_decay * average + (1 - average_decay) * variable
