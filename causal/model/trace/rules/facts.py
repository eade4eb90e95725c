"""What is known of PyTorch's operations that have no rule.

Of every other operation without a rule, the cautious defaults of `Facts` hold.
"""

from __future__ import annotations

from ..registry import names, without_rule

# numbers for Python
without_rule("aten._local_scalar_dense", reads=True)
without_rule("aten.equal", "aten.allclose", "aten.is_nonzero", reads=True, sees_sign=False)
without_rule(
    *names(
        """
        _fused_sdp_choice _efficient_attention_forward _cudnn_attention_forward _has_compatible_shallow_copy_type
        """
    ),
    numbers_by_shape=True,
)
without_rule(
    "aten.is_same_size", "aten._has_same_storage_numel",
    fails="never", sees_sign=False, numbers_by_shape=True,
)  # fmt: skip

# nothing that could have a shadow
without_rule(
    "aten.set_", "aten._assert_tensor_metadata", "prim.device", "prim.layout",
    fails="never", sees_sign=False, silent=True,
)  # fmt: skip
without_rule("aten._linalg_check_errors", "aten._assert_async", silent=True)

without_rule("aten._pad_packed_sequence", shaped_by="batch_sizes")

# views: of the same elements, and of the same bits read as another type
without_rule("aten._reshape_alias", sees_sign=False, carries=True)
without_rule("aten.view.dtype", sees_sign=True, carries=True)
