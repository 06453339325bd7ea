# SPDX-License-Identifier: Apache-2.0
"""Scaled dot-product attention with CANN's layouts, masks, shifts, dropout and statistics.

Layouts are BSH, SBH, BSND, BNSD, and TND, whose sequences lie one behind the other and end at the
elements that cumulative lengths name. A mask is true where a key is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from pyaclnn.reference.kernels.functions.basic import softmax

if TYPE_CHECKING:
    from collections.abc import Sequence

Array = Any
_STATISTICS = 8


class Scoring(NamedTuple):
    """The conversion of products of queries and keys into probabilities.

    Attributes:
        scale: The factor of the products.
        shift: A tensor that is added to them, or slopes by which distances count.
        shift_type: 1 adds it before the factor, 0 behind it; 2 and 3 take distances or their roots.
        mask: True, or not 0, where a key is left out.
        sparse: 0 and 1 use the mask as it is, 2 leaves out later keys from the start, 3 from the
            end; 4 keeps a band at the end; 5 and 6 keep a prefix besides.
        band: The keys before and behind a query that count.
        prefix: The number of the first keys that count with ``sparse`` 5 or 6, one a batch.
        keep: The share of probabilities that dropout keeps.
        drop: Its mask, a bit each.
        starts: The places of the first query and key.
    """

    scale: float
    shift: Array = None
    shift_type: int = 1
    mask: Array = None
    sparse: int = 0
    band: tuple[int, int] = (1 << 62, 1 << 62)
    prefix: Sequence[int] | None = None
    keep: float = 1.0
    drop: Array = None
    starts: tuple[int, int] = (0, 0)


def without(**given: Any) -> None:
    """Refuse arguments that are not computed; an empty tensor is none.

    Raises:
        NotImplementedError: One is given.
    """
    found = [name for name, value in given.items() if value is not None and np.size(value)]
    if found:
        raise NotImplementedError(f"{', '.join(found)} must be NULL")


def with_rope(x: Array, rope: Array) -> Array:
    """Elements of heads, with the rotated ones of another tensor behind them, if there is one."""
    return x if rope is None else np.concatenate([x, rope], -1)


def rope_parted(gradients: Sequence[Array], query: Array) -> tuple[Array, ...]:
    """Gradients of queries and keys, each with that of its rotated elements apart."""
    width = query.shape[-1]
    dq, dk, *rest = gradients
    return dq[..., :width], dq[..., width:], dk[..., :width], dk[..., width:], *rest


def _heads(x: Array, layout: str, count: int) -> Array:
    """A tensor as batch, heads, sequence and elements."""
    if layout in ("BSH", "SBH"):
        x = x.reshape(*x.shape[:2], count, -1)
    order = {"SBH": (1, 2, 0, 3), "BNSD": (0, 1, 2, 3)}.get(layout, (0, 2, 1, 3))
    return np.transpose(x, order)


def _joined(x: Array, layout: str) -> Array:
    """The inverse of `_heads`."""
    order = {"SBH": (2, 0, 1, 3), "BNSD": (0, 1, 2, 3)}.get(layout, (0, 2, 1, 3))
    x = np.transpose(x, order)
    return x.reshape(*x.shape[:2], -1) if layout in ("BSH", "SBH") else x


def _left_out(rule: Scoring, size: tuple[int, int], batch: int) -> Array:
    """Where keys are left out by the sparse mode, without the mask itself."""
    (before, behind), (q, k) = rule.band, size
    i, j = np.arange(q)[:, None], np.arange(k)
    last = k - q if rule.sparse in (3, 4, 5, 6) else 0
    if rule.sparse in (2, 3, 5, 6):
        out = j > i + last
        if rule.sparse > 3 and rule.prefix is not None:  # noqa: PLR2004
            out &= j >= np.asarray(rule.prefix)[batch]
        return out
    if rule.sparse == 4 or (rule.sparse == 0 and rule.mask is not None):  # noqa: PLR2004
        return (j > i + last + behind) | (j < i + last - before)
    return np.zeros((q, k), bool)


def _by_heads(x: Array, matrices: Array) -> Array:
    """Products by a matrix for each head, or for each group of heads."""
    (batch, heads, rows, width), few = x.shape, matrices.shape[1]
    if few in (0, heads):
        return x @ matrices
    products = x.reshape(batch, few, heads // few * rows, width) @ matrices
    return products.reshape(batch, heads, rows, matrices.shape[-1])


def _scores(q: Array, k: Array, rule: Scoring) -> Array:
    """Products of queries and keys, shifted and masked; minus infinity where a key is left out."""
    scores = _by_heads(q * rule.scale, np.swapaxes(k, -1, -2))
    shift = rule.shift
    if shift is not None and rule.shift_type in (2, 3):
        at = np.arange(k.shape[2]) + rule.starts[1]
        far = np.abs(np.arange(q.shape[2])[:, None] + rule.starts[0] - at)
        far = np.sqrt(far) if rule.shift_type == 3 else far  # noqa: PLR2004
        shift = -shift.reshape(-1, q.shape[1], 1, 1) * far
    elif shift is not None and shift.shape[-2] not in (1, q.shape[2]):
        shift = shift[..., -q.shape[2] :, :]
    if shift is not None:
        scores += shift * rule.scale if rule.shift_type == 1 else shift
    if rule.mask is None and rule.sparse in (0, 1):
        return scores
    out = np.stack([_left_out(rule, (q.shape[2], k.shape[2]), b) for b in range(len(q))])[:, None]
    if rule.mask is not None and rule.sparse in (0, 1):
        mask = rule.mask != 0
        while mask.ndim > 2 and mask.ndim < 4:  # noqa: PLR2004
            mask = mask[:, None] if len(mask) == len(q) else mask[None]
        out = out | mask[..., : scores.shape[2], : scores.shape[3]]
    np.copyto(scores, -np.inf, where=out)
    return scores


def _dropped(rule: Scoring, x: Array) -> Array:
    """Probabilities, or their gradient, without those that dropout leaves out."""
    if rule.drop is None or rule.keep == 1:
        return x
    bits = np.unpackbits(rule.drop.ravel(), bitorder="little")[: x.size]
    return x * (bits.reshape(x.shape) / np.float32(rule.keep))


def _attend(rule: Scoring, q: Array, k: Array, v: Array) -> tuple[Array, Array, Array]:
    """The result, and each row's largest score and its sum of exponentials."""
    scores = _scores(q, k, rule)
    top = scores.max(-1, keepdims=True, initial=-np.inf)
    scores -= np.where(np.isfinite(top), top, 0)
    np.exp(scores, scores)
    total = scores.sum(-1, keepdims=True)
    products = _by_heads(_dropped(rule, scores), v)
    return products / np.where(total == 0, 1, total), top, total


def _grouped(gradient: Array, kv: Array) -> Array:
    """The sums of gradients over the heads of a group."""
    shape = (kv.shape[0], kv.shape[1], -1, *gradient.shape[2:])
    return gradient.reshape(shape).sum(2)


def _gradient(rule: Scoring, q: Array, k: Array, v: Array, dy: Array) -> list[Array]:
    probabilities = softmax(_scores(q, k, rule))
    inner = _dropped(rule, _by_heads(dy, np.swapaxes(v, -1, -2)))
    slope = probabilities * (inner - (inner * probabilities).sum(-1, keepdims=True))
    dk = np.swapaxes(slope, -1, -2) @ q * rule.scale
    dv = np.swapaxes(_dropped(rule, probabilities), -1, -2) @ dy
    shift = slope * (rule.scale if rule.shift_type == 1 else 1)
    if rule.shift is not None and rule.shift.ndim == slope.ndim:
        thin = tuple(a for a in range(4) if rule.shift.shape[a] == 1 != slope.shape[a])
        shift = shift.sum(thin, keepdims=True)
    return [_by_heads(slope, k) * rule.scale, _grouped(dk, k), _grouped(dv, v), shift]


def _sequences(ends: Sequence[int] | None, length: int) -> list[slice]:
    """The sequences that end where cumulative lengths say, all elements in a trial."""
    ends = list(ends or (length,))
    return [slice(a, b) for a, b in zip([0, *ends], ends)]  # noqa: B905  # one fewer


def _one(x: Array, part: slice) -> Array:
    """A sequence of a tensor in the layout TND, as a batch of one."""
    return np.moveaxis(x[part], 0, 1)[None]


def _parts(tensors: Sequence[Array], heads: int, layout: str, ends: Any) -> list[list[Array]]:
    """Queries, keys, values, and what is as queries: of each sequence, or of all batches."""
    q, k = tensors[:2]
    if layout == "TND":
        pairs = zip(_sequences(ends[0], len(q)), _sequences(ends[1], len(k)), strict=True)
        return [[_one(x, (a, b)[i in (1, 2)]) for i, x in enumerate(tensors)] for a, b in pairs]
    few = k.shape[-1] * heads // max(q.shape[-1], 1) if layout in ("BSH", "SBH") else heads
    return [[_heads(x, layout, (heads, few)[i in (1, 2)]) for i, x in enumerate(tensors)]]


def _whole(parts: Sequence[Array], layout: str) -> Array:
    """The inverse of `_parts` for one of its tensors."""
    if layout == "TND":
        return np.concatenate([np.moveaxis(part[0], 0, 1) for part in parts])
    return _joined(parts[0], layout)


def attention(
    tensors: Sequence[Array], heads: int, layout: str, rule: Scoring, ends: Any = (None, None)
) -> tuple[Array, ...]:
    """Attention of queries, keys and values.

    Returns:
        The largest score of each row and its sum of exponentials, eight times each; nothing for
        the probabilities, which are not kept; and the result.
    """
    found = [_attend(rule, *part) for part in _parts(tensors, heads, layout, ends)]
    y, *scores = zip(*found, strict=True)
    each = (_whole(x, layout) if layout == "TND" else x[0] for x in scores)
    return *(np.repeat(x, _STATISTICS, -1) for x in each), None, _whole(y, layout)


def attention_gradient(
    tensors: Sequence[Array], heads: int, layout: str, rule: Scoring, ends: Any = (None, None)
) -> tuple[Array, ...]:
    """The gradients of `attention` by queries, keys, values and the shift, if there is one."""
    found = [_gradient(rule, *part) for part in _parts(tensors, heads, layout, ends)]
    *made, shift = zip(*found, strict=True)
    is_shifted = rule.shift is not None and layout != "TND"
    return *(_whole(x, layout) for x in made), shift[0] if is_shifted else None


def page_rows(cache: Array, table: Array, heads: int) -> Array:
    """The rows of a cache in pages, ``(pages, rows, heads * elements)``, that a table names.

    A cache of four axes has the heads before the rows.
    """
    pages = cache[np.maximum(table, 0)]
    if len(cache.shape[1:-1]) > 1:
        return np.moveaxis(pages, 2, 3).reshape(len(table), -1, heads, cache.shape[-1])
    return pages.reshape(len(table), -1, heads, cache.shape[-1] // heads)


def inferred_attention(
    tensors: Any, heads: Any, layout: str, rule: Scoring, lengths: Any, table: Array = None
) -> tuple[Array, Array]:
    """Attention of inference, and the logarithm of each row's sum of exponentials.

    Heads are those of queries, and of keys and values or 0 for as many.
    Lengths are those of each batch, one for all, or cumulative with the layout TND. Keys and values
    are tensors, or lists of one tensor, or of one a batch; with a table they are pages.
    """
    q, k, v = (x[0] if isinstance(x, list) and len(x) == 1 else x for x in tensors)
    heads, kv_heads = heads[0], heads[1] or heads[0]
    if layout == "TND" and table is None:
        top, total, _, y = attention((q, k, v), heads, layout, rule, lengths)
        return y, (top + np.log(total))[..., :1]
    if layout == "TND":
        raise NotImplementedError("inputLayout TND with a block table is not computed")
    if layout not in ("BSH", "BSND", "BNSD"):
        raise NotImplementedError(f"inputLayout {layout} is not computed")
    queries = _heads(q, layout, heads)
    made, lses = [], []
    for b in range(len(queries)):
        one = queries[b : b + 1]
        if table is not None:
            pair = [np.moveaxis(page_rows(x, table[b : b + 1], kv_heads), 1, 2) for x in (k, v)]
        else:
            pair = [
                _heads(x[b] if isinstance(x, list) else x[b : b + 1], layout, kv_heads)
                for x in (k, v)
            ]
        used = [_length(each, b) for each in lengths]
        part = [one[:, :, : used[0]], *(x[:, :, : used[1]] for x in pair)]
        mine = rule._replace(shift=_batch(rule.shift, b), mask=_batch(rule.mask, b))
        y, top, total = _attend(mine, *part)
        rest = one.shape[2] - y.shape[2]
        made.append(np.pad(y, [(0, 0), (0, 0), (0, rest), (0, 0)]))
        lse = np.where(total > 0, top + np.log(total), np.inf)
        lses.append(np.pad(lse, [(0, 0), (0, 0), (0, rest), (0, 0)], constant_values=np.inf))
    return _joined(np.concatenate(made), layout), np.concatenate(lses)


def _length(lengths: Any, batch: int) -> int | None:
    if lengths is None or len(lengths) == 0:
        return None
    return int(lengths[batch if len(lengths) > 1 else 0]) or None


def _batch(x: Array, batch: int) -> Array:
    """The part of a shift or mask for a batch, if it has one for each."""
    if x is None or x.ndim < 3 or len(x) == 1:  # noqa: PLR2004
        return x
    return x[batch : batch + 1]


def _masked(x: Array, mask: Array, triangle: bool) -> Array:
    """Report which scores are masked: those above the diagonal, or those of a mask."""
    return np.triu(np.ones(x.shape[-2:], bool), 1) if triangle else mask is not None and mask != 0


def masked_softmax(x: Array, mask: Array, scale: float, triangle: bool) -> Array:
    """Probabilities of scaled scores without the masked ones."""
    return softmax(np.where(_masked(x, mask, triangle), -10000.0, x * np.float32(scale)))


def masked_softmax_back(
    gradient: Array, y: Array, mask: Array, scale: float, triangle: bool
) -> Array:
    """The gradient of `masked_softmax` by its scores, of its probabilities."""
    slope = scale * y * (gradient - (gradient * y).sum(-1, keepdims=True))
    return np.where(_masked(y, mask, triangle), 0, slope)


def merged_attention(
    old: tuple[Array, Array, Array], new: tuple[Array, Array, Array], layout: str | None
) -> tuple[Array, Array, Array]:
    """Attention over two parts of the keys: results, and each row's largest score and sum.

    Results have the layout SBH or TND, scores (B, N, S, 8) or (T, N, 8).
    """
    without(inputLayout=None if layout in ("SBH", "TND") else layout)
    top = np.maximum(old[1], new[1])
    shares = [each[2] * np.exp(each[1] - top) for each in (old, new)]
    total = shares[0] + shares[1]

    def weights(share: Array) -> Array:
        one = (share / total)[..., :1]
        return one if layout == "TND" else np.transpose(one, (2, 0, 1, 3))

    shape = old[0].shape
    heads = shape if layout == "TND" else (*shape[:2], top.shape[1], -1)
    pairs = zip((old, new), shares, strict=True)
    made = sum(each[0].reshape(heads) * weights(share) for each, share in pairs)
    return np.reshape(made, shape), top, total
