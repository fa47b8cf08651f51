"""Whole programs as text, and the shapes of their float32 arguments."""

from __future__ import annotations

# Each is a program and the shapes of its float32 arguments.
PROGRAMS: dict[str, tuple[str, list[tuple[int, ...]]]] = {
    "scalars": (
        "{ lambda ; a:f32[] b:f32[]. let c:f32[] = add a b in (c,) }",
        [(), ()],
    ),
    "broadcast": (
        "{ lambda ; a:f32[3,1] b:f32[1,5]. let c:f32[3,5] = mul a b in (c,) }",
        [(3, 1), (1, 5)],
    ),
    "transposed sum": (
        """{ lambda ; a:f32[30,20] b:f32[20,30]. let
             c:f32[20,30] = transpose[permutation=(1,0)] a
             d:f32[20,30] = add c b
             e:f32[20] = reduce_sum[axes=(1,) out_sharding=None] d
             f:f32[30] = reduce_sum[axes=(0,) out_sharding=None] d
             g:f32[] = reduce_sum[axes=(0,1) out_sharding=None] d
           in (d, e, f, g) }""",
        [(30, 20), (20, 30)],
    ),
    "middle axis": (
        """{ lambda ; a:f32[4,50,300]. let
             b:f32[4,300] = reduce_sum[axes=(1,) out_sharding=None] a
             c:f32[50] = reduce_max[axes=(0,2)] a
           in (b, c) }""",
        [(4, 50, 300)],
    ),
    "stencil": (
        """{ lambda ; a:f32[100]. let
             b:f32[98] = slice[start_indices=(0,) limit_indices=(98,) strides=None] a
             c:f32[98] = slice[start_indices=(2,) limit_indices=(100,) strides=None] a
             d:f32[98] = sub c b
             e:f32[49] = slice[start_indices=(1,) limit_indices=(98,) strides=(2,)] d
           in (d, e) }""",
        [(100,)],
    ),
    "parts": (
        """{ lambda ; a:f32[2,3] b:f32[2,4]. let
             c:f32[2,3] = neg a
             d:f32[2,7] = concatenate[dimension=1] c b
             e:f32[2,2,3] = stack[axis=1] a c
           in (d, e) }""",
        [(2, 3), (2, 4)],
    ),
    "mean and variance": (
        """{ lambda ; a:f32[64]. let
             b:f32[] = reduce_sum[axes=(0,) out_sharding=None] a
             c:f32[] = div b 64.0:f32[]
             d:f32[64] = sub a c
             e:f32[64] = mul d d
             f:f32[] = reduce_sum[axes=(0,) out_sharding=None] e
             g:f32[] = div f 64.0:f32[]
           in (c, g) }""",
        [(64,)],
    ),
    "library call": (
        """{ lambda ; a:f32[3,4] b:f32[5,4]. let
             c:f32[3,5] = dot_general[
               dimension_numbers=(([1], [1]), ([], []))] a b
             d:f32[3,5] = max c 0.0:f32[]
             e:f32[15] = reshape[dimensions=None new_sizes=(15,) sharding=None] d
           in (e, c) }""",
        [(3, 4), (5, 4)],
    ),
    "reshaped": (
        """{ lambda ; a:f32[4,6]. let
             b:f32[24] = reshape[dimensions=None new_sizes=(24,) sharding=None] a
             c:f32[24] = mul b 2.0:f32[]
             d:f32[2,12] = reshape[dimensions=None new_sizes=(2,12) sharding=None] c
             e:f32[2] = reduce_sum[axes=(1,) out_sharding=None] d
           in (b, d, e) }""",
        [(4, 6)],
    ),
    "nothing": (
        """{ lambda ; a:f32[0,3]. let
             b:f32[3] = reduce_sum[axes=(0,) out_sharding=None] a
             c:f32[0] = reduce_max[axes=(1,)] a
             d:f32[] = reduce_min[axes=(0,1)] a
             e:f32[0,3] = neg a
           in (b, c, d, e) }""",
        [(0, 3)],
    ),
    "searches": (
        """{ lambda ; a:f32[40,300]. let
             b:i32[40] = argmax[axes=(1,) index_dtype=int32] a
             c:i32[300] = argmin[axes=(0,) index_dtype=int32] a
             d:f32[12000] = reshape[dimensions=None new_sizes=(12000,) sharding=None] a
             e:i64[] = argmax[axes=(0,) index_dtype=int64] d
           in (b, c, e) }""",
        [(40, 300)],
    ),
    "unused and returned inputs": (
        "{ lambda ; a:f32[3] b:f32[3]. let  in (b, b, 2.0:f32[]) }",
        [(3,), (3,)],
    ),
}

# Which nests are made of these is what the backend's tests say.
NESTS: dict[str, str] = {
    "outputs of one nest": """{ lambda ; a:f32[6,5]. let
        b:f32[6,5] = exp a
        c:f32[6] = reduce_sum[axes=(1,) out_sharding=None] b
        d:f32[6] = reduce_max[axes=(1,)] b
        e:f32[6,5] = neg b
      in (b, c, d, e) }""",
    "a cheap value twice": """{ lambda ; a:f32[6,5]. let
        b:f32[6,5] = add a 1.0:f32[]
        c:f32[6] = reduce_sum[axes=(1,) out_sharding=None] b
        d:f32[5] = reduce_sum[axes=(0,) out_sharding=None] b
      in (c, d) }""",
    "an expensive row": """{ lambda ; a:f32[90,5] b:f32[5]. let
        c:f32[5] = exp b
        d:f32[1,5] = broadcast_in_dim[broadcast_dimensions=(1,) shape=(1,5)] c
        e:f32[90,5] = mul a d
      in (e,) }""",
    "an expensive column": """{ lambda ; a:f32[90,5] b:f32[90]. let
        c:f32[90] = exp b
        d:f32[90,1] = broadcast_in_dim[broadcast_dimensions=(0,) shape=(90,1)] c
        e:f32[90,5] = mul a d
      in (e,) }""",
    "around a product": """{ lambda ; a:f32[48,48]. let
        b:f32[48,48] = exp a
        c:f32[48,48] = dot_general[dimension_numbers=(([1],[0]),([],[]))] b b
        d:f32[48,48] = add b c
      in (d,) }""",
    "reshaped memory": """{ lambda ; a:f32[4,6]. let
        b:f32[24] = reshape[dimensions=None new_sizes=(24,) sharding=None] a
        c:f32[24] = mul b 2.0:f32[]
      in (c,) }""",
    "reshaped between": """{ lambda ; a:f32[4,6] b:f32[4,6]. let
        c:f32[4,6] = exp a
        d:f32[4,6] = mul c b
        e:f32[24] = reshape[dimensions=None new_sizes=(24,) sharding=None] d
        f:f32[24] = add e 1.0:f32[]
        g:f32[3,8] = reshape[dimensions=None new_sizes=(3,8) sharding=None] f
        h:f32[3] = reduce_sum[axes=(1,) out_sharding=None] g
      in (h,) }""",
    "parts": """{ lambda ; a:f32[2] b:f32[3] c:f32[4]. let
        d:f32[9] = concatenate[dimension=0] a b c in (d,) }""",
}

# Programs of one nest, and the loops that are left once what can be merged is.
LAYOUTS: list[tuple[str, int]] = [
    ("{ lambda ; a:f32[2,3,4]. let b:f32[2,3,4] = neg a in (b,) }", 1),
    ("{ lambda ; a:f32[2,3] b:f32[]. let c:f32[2,3] = mul a b in (c,) }", 1),
    ("{ lambda ; a:f32[2,3] b:f32[1,3]. let c:f32[2,3] = mul a b in (c,) }", 2),
    (
        """{ lambda ; a:f32[2,3,4] b:f32[2,1,1]. let
           c:f32[2,3,4] = mul a b in (c,) }""",
        2,
    ),
    (
        "{ lambda ; a:f32[2,3]. let b:f32[3,2] = transpose[permutation=(1,0)] a "
        "in (b,) }",
        2,
    ),
    ("{ lambda ; . let b:i32[5,6] = iota[dimension=0 dtype=int32 shape=(5,6) "
     "sharding=None] in (b,) }", 2),
    ("{ lambda ; a:f32[2,3,4]. let b:f32[2] = reduce_sum[axes=(1,2) "
     "out_sharding=None] a in (b,) }", 2),
]  # fmt: skip
