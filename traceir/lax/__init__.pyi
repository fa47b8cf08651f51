"""The names of `traceir.lax`: type checkers read them here, and so does the import.

A line is one name; its module is imported when the name is first asked for.
"""

from traceir.lax import linalg as linalg
from traceir.lax.checks.precision import DotAlgorithmPreset as DotAlgorithmPreset
from traceir.lax.checks.precision import Precision as Precision
from traceir.lax.checks.precision import PrecisionLike as PrecisionLike
from traceir.lax.composites import approx_max_k as approx_max_k
from traceir.lax.composites import approx_min_k as approx_min_k
from traceir.lax.composites import (
    conv_general_dilated_patches as conv_general_dilated_patches,
)
from traceir.lax.composites import index_take as index_take
from traceir.lax.composites import mulhi as mulhi
from traceir.lax.composites import optimization_barrier as optimization_barrier
from traceir.lax.composites import ragged_dot as ragged_dot
from traceir.lax.composites import tile as tile
from traceir.lax.control.associative import associative_scan as associative_scan
from traceir.lax.control.choice import cond as cond
from traceir.lax.control.choice import switch as switch
from traceir.lax.control.loops import fori_loop as fori_loop
from traceir.lax.control.loops import while_loop as while_loop
from traceir.lax.control.scans import map as map
from traceir.lax.control.scans import scan as scan
from traceir.lax.derived import batch_matmul as batch_matmul
from traceir.lax.derived import broadcast_shapes as broadcast_shapes
from traceir.lax.derived import broadcast_to_rank as broadcast_to_rank
from traceir.lax.derived import collapse as collapse
from traceir.lax.derived import full_like as full_like
from traceir.lax.derived import unstack as unstack
from traceir.lax.elementwise.arithmetic import abs as abs
from traceir.lax.elementwise.arithmetic import add as add
from traceir.lax.elementwise.arithmetic import bitwise_and as bitwise_and
from traceir.lax.elementwise.arithmetic import bitwise_not as bitwise_not
from traceir.lax.elementwise.arithmetic import bitwise_or as bitwise_or
from traceir.lax.elementwise.arithmetic import cos as cos
from traceir.lax.elementwise.arithmetic import div as div
from traceir.lax.elementwise.arithmetic import eq as eq
from traceir.lax.elementwise.arithmetic import exp as exp
from traceir.lax.elementwise.arithmetic import floor as floor
from traceir.lax.elementwise.arithmetic import ge as ge
from traceir.lax.elementwise.arithmetic import gt as gt
from traceir.lax.elementwise.arithmetic import le as le
from traceir.lax.elementwise.arithmetic import log as log
from traceir.lax.elementwise.arithmetic import log1p as log1p
from traceir.lax.elementwise.arithmetic import lt as lt
from traceir.lax.elementwise.arithmetic import max as max
from traceir.lax.elementwise.arithmetic import min as min
from traceir.lax.elementwise.arithmetic import mul as mul
from traceir.lax.elementwise.arithmetic import ne as ne
from traceir.lax.elementwise.arithmetic import neg as neg
from traceir.lax.elementwise.arithmetic import pow as pow
from traceir.lax.elementwise.arithmetic import rem as rem
from traceir.lax.elementwise.arithmetic import rsqrt as rsqrt
from traceir.lax.elementwise.arithmetic import sign as sign
from traceir.lax.elementwise.arithmetic import sin as sin
from traceir.lax.elementwise.arithmetic import sqrt as sqrt
from traceir.lax.elementwise.arithmetic import square as square
from traceir.lax.elementwise.arithmetic import sub as sub
from traceir.lax.elementwise.arithmetic import tanh as tanh
from traceir.lax.elementwise.bits import bitwise_xor as bitwise_xor
from traceir.lax.elementwise.bits import ceil as ceil
from traceir.lax.elementwise.bits import clz as clz
from traceir.lax.elementwise.bits import is_finite as is_finite
from traceir.lax.elementwise.bits import nextafter as nextafter
from traceir.lax.elementwise.bits import population_count as population_count
from traceir.lax.elementwise.bits import shift_left as shift_left
from traceir.lax.elementwise.bits import (
    shift_right_arithmetic as shift_right_arithmetic,
)
from traceir.lax.elementwise.bits import shift_right_logical as shift_right_logical
from traceir.lax.elementwise.complexes import complex as complex
from traceir.lax.elementwise.complexes import conj as conj
from traceir.lax.elementwise.complexes import imag as imag
from traceir.lax.elementwise.complexes import real as real
from traceir.lax.elementwise.exponential import acosh as acosh
from traceir.lax.elementwise.exponential import asinh as asinh
from traceir.lax.elementwise.exponential import atanh as atanh
from traceir.lax.elementwise.exponential import cbrt as cbrt
from traceir.lax.elementwise.exponential import cosh as cosh
from traceir.lax.elementwise.exponential import exp2 as exp2
from traceir.lax.elementwise.exponential import expm1 as expm1
from traceir.lax.elementwise.exponential import logistic as logistic
from traceir.lax.elementwise.exponential import sinh as sinh
from traceir.lax.elementwise.formats import bitcast_convert_type as bitcast_convert_type
from traceir.lax.elementwise.formats import reduce_precision as reduce_precision
from traceir.lax.elementwise.selection import RoundingMethod as RoundingMethod
from traceir.lax.elementwise.selection import clamp as clamp
from traceir.lax.elementwise.selection import (
    convert_element_type as convert_element_type,
)
from traceir.lax.elementwise.selection import integer_pow as integer_pow
from traceir.lax.elementwise.selection import reciprocal as reciprocal
from traceir.lax.elementwise.selection import round as round
from traceir.lax.elementwise.selection import select as select
from traceir.lax.elementwise.selection import select_n as select_n
from traceir.lax.elementwise.special import bessel_i0e as bessel_i0e
from traceir.lax.elementwise.special import bessel_i1e as bessel_i1e
from traceir.lax.elementwise.special import betainc as betainc
from traceir.lax.elementwise.special import digamma as digamma
from traceir.lax.elementwise.special import igamma as igamma
from traceir.lax.elementwise.special import igamma_grad_a as igamma_grad_a
from traceir.lax.elementwise.special import igammac as igammac
from traceir.lax.elementwise.special import lgamma as lgamma
from traceir.lax.elementwise.special import polygamma as polygamma
from traceir.lax.elementwise.special import random_gamma_grad as random_gamma_grad
from traceir.lax.elementwise.special import zeta as zeta
from traceir.lax.elementwise.trigonometric import acos as acos
from traceir.lax.elementwise.trigonometric import asin as asin
from traceir.lax.elementwise.trigonometric import atan as atan
from traceir.lax.elementwise.trigonometric import atan2 as atan2
from traceir.lax.elementwise.trigonometric import erf as erf
from traceir.lax.elementwise.trigonometric import erf_inv as erf_inv
from traceir.lax.elementwise.trigonometric import erfc as erfc
from traceir.lax.elementwise.trigonometric import tan as tan
from traceir.lax.reductions.collectives import all_gather as all_gather
from traceir.lax.reductions.collectives import all_to_all as all_to_all
from traceir.lax.reductions.collectives import axis_index as axis_index
from traceir.lax.reductions.collectives import axis_size as axis_size
from traceir.lax.reductions.collectives import pmax as pmax
from traceir.lax.reductions.collectives import pmean as pmean
from traceir.lax.reductions.collectives import pmin as pmin
from traceir.lax.reductions.collectives import ppermute as ppermute
from traceir.lax.reductions.collectives import psum as psum
from traceir.lax.reductions.collectives import psum_scatter as psum_scatter
from traceir.lax.reductions.convolution import (
    ConvDimensionNumbers as ConvDimensionNumbers,
)
from traceir.lax.reductions.convolution import (
    ConvGeneralDilatedDimensionNumbers as ConvGeneralDilatedDimensionNumbers,
)
from traceir.lax.reductions.convolution import conv as conv
from traceir.lax.reductions.convolution import (
    conv_dimension_numbers as conv_dimension_numbers,
)
from traceir.lax.reductions.convolution import (
    conv_general_dilated as conv_general_dilated,
)
from traceir.lax.reductions.convolution import conv_transpose as conv_transpose
from traceir.lax.reductions.convolution import (
    conv_with_general_padding as conv_with_general_padding,
)
from traceir.lax.reductions.cumulative import cumlogsumexp as cumlogsumexp
from traceir.lax.reductions.cumulative import cummax as cummax
from traceir.lax.reductions.cumulative import cummin as cummin
from traceir.lax.reductions.cumulative import cumprod as cumprod
from traceir.lax.reductions.cumulative import cumsum as cumsum
from traceir.lax.reductions.generic_reduce import reduce as reduce
from traceir.lax.reductions.reductions import DotDimensionNumbers as DotDimensionNumbers
from traceir.lax.reductions.reductions import argmax as argmax
from traceir.lax.reductions.reductions import argmin as argmin
from traceir.lax.reductions.reductions import dot as dot
from traceir.lax.reductions.reductions import dot_general as dot_general
from traceir.lax.reductions.reductions import reduce_and as reduce_and
from traceir.lax.reductions.reductions import reduce_max as reduce_max
from traceir.lax.reductions.reductions import reduce_min as reduce_min
from traceir.lax.reductions.reductions import reduce_or as reduce_or
from traceir.lax.reductions.reductions import reduce_prod as reduce_prod
from traceir.lax.reductions.reductions import reduce_sum as reduce_sum
from traceir.lax.reductions.reductions import reduce_xor as reduce_xor
from traceir.lax.reductions.windows import padtype_to_pads as padtype_to_pads
from traceir.lax.reductions.windows import reduce_window as reduce_window
from traceir.lax.structural.dynamic_slices import (
    dynamic_index_in_dim as dynamic_index_in_dim,
)
from traceir.lax.structural.dynamic_slices import dynamic_slice as dynamic_slice
from traceir.lax.structural.dynamic_slices import (
    dynamic_slice_in_dim as dynamic_slice_in_dim,
)
from traceir.lax.structural.dynamic_slices import (
    dynamic_update_index_in_dim as dynamic_update_index_in_dim,
)
from traceir.lax.structural.dynamic_slices import (
    dynamic_update_slice as dynamic_update_slice,
)
from traceir.lax.structural.dynamic_slices import (
    dynamic_update_slice_in_dim as dynamic_update_slice_in_dim,
)
from traceir.lax.structural.fourier import FftType as FftType
from traceir.lax.structural.fourier import fft as fft
from traceir.lax.structural.gather_scatter import (
    GatherDimensionNumbers as GatherDimensionNumbers,
)
from traceir.lax.structural.gather_scatter import GatherScatterMode as GatherScatterMode
from traceir.lax.structural.gather_scatter import (
    ScatterDimensionNumbers as ScatterDimensionNumbers,
)
from traceir.lax.structural.gather_scatter import gather as gather
from traceir.lax.structural.gather_scatter import scatter as scatter
from traceir.lax.structural.gather_scatter import scatter_add as scatter_add
from traceir.lax.structural.gather_scatter import scatter_max as scatter_max
from traceir.lax.structural.gather_scatter import scatter_min as scatter_min
from traceir.lax.structural.gather_scatter import scatter_mul as scatter_mul
from traceir.lax.structural.gather_scatter import scatter_sub as scatter_sub
from traceir.lax.structural.shapes import broadcast as broadcast
from traceir.lax.structural.shapes import broadcast_in_dim as broadcast_in_dim
from traceir.lax.structural.shapes import broadcasted_iota as broadcasted_iota
from traceir.lax.structural.shapes import concatenate as concatenate
from traceir.lax.structural.shapes import expand_dims as expand_dims
from traceir.lax.structural.shapes import full as full
from traceir.lax.structural.shapes import index_in_dim as index_in_dim
from traceir.lax.structural.shapes import iota as iota
from traceir.lax.structural.shapes import pad as pad
from traceir.lax.structural.shapes import reshape as reshape
from traceir.lax.structural.shapes import rev as rev
from traceir.lax.structural.shapes import slice as slice
from traceir.lax.structural.shapes import slice_in_dim as slice_in_dim
from traceir.lax.structural.shapes import split as split
from traceir.lax.structural.shapes import squeeze as squeeze
from traceir.lax.structural.shapes import stack as stack
from traceir.lax.structural.shapes import transpose as transpose
from traceir.lax.structural.sharding_constraints import (
    with_sharding_constraint as with_sharding_constraint,
)
from traceir.lax.structural.sorting import sort as sort
from traceir.lax.structural.sorting import sort_key_val as sort_key_val
from traceir.lax.structural.sorting import top_k as top_k
from traceir.lax.structural.stop_gradient import stop_gradient as stop_gradient

def __getattr__(name: str) -> object: ...
