"""Modified Bessel functions. Serves: `prim.bessel_i0e`, `prim.bessel_i1e`.

Up to 8 they are exp(-|x|) times a polynomial of x**2, all of whose terms are positive;
beyond, a polynomial of 8 / |x| by the root of |x|.
"""

from __future__ import annotations

import math

from numpy import float32 as f32
from numpy import float64 as f64

from traceir_numba.vecmath.basics import INF_F64, fma
from traceir_numba.vecmath.exponential import exp_f64
from traceir_numba.vecmath.power import exp2_near_f64


def bessel_i0e_f64(x: f64) -> f64:
    """exp(-|x|) I0(x)."""
    a = abs(x)
    far = a > 8.0
    v = f64(0.0) if far else a
    z = v * v
    p = fma(8.56698019109382e-34, z, 4.19921077737925e-31)
    p = fma(fma(p, z, 3.9335506867982918e-28), z, 2.590172929249162e-25)
    p = fma(fma(p, z, 1.496778843621601e-22), z, 7.24207401925709e-20)
    p = fma(fma(p, z, 2.8969089120990736e-17), z, 9.385965799680646e-15)
    p = fma(fma(p, z, 2.4028075678325714e-12), z, 4.70950279510526e-10)
    p = fma(fma(p, z, 6.78168402791924e-08), z, 6.781684027771296e-06)
    p = fma(fma(p, z, 0.00043402777777779505), z, 0.015624999999999977)
    p = fma(fma(p, z, 0.25), z, 1.0)
    h = a if far else f64(8.0)
    w = 8.0 / h - 0.5
    q = fma(-0.00014284562460775734, w, 0.00040477588208696224)
    q = fma(fma(q, w, 0.0002816295729370154), w, -0.0007120171441832504)
    q = fma(fma(q, w, -0.0002755454547816627), w, 0.000585679167482389)
    q = fma(fma(q, w, 0.00019069064031336635), w, -0.0003031439614382757)
    q = fma(fma(q, w, -0.00011298254245395548), w, 0.00010816475790049105)
    q = fma(fma(q, w, 6.159536765556342e-05), w, -2.0727546954083956e-05)
    q = fma(fma(q, w, -2.7435332050617397e-05), w, -7.00586199251573e-06)
    q = fma(fma(q, w, 3.866411348205263e-06), w, 5.520539266171644e-06)
    q = fma(fma(q, w, 5.0337670600360145e-06), w, 5.678115165625551e-06)
    q = fma(fma(q, w, 9.515514264587869e-06), w, 2.374156243108412e-05)
    q = fma(fma(q, w, 8.91442703390403e-05), w, 0.0005448642975607077)
    q = fma(fma(q, w, 0.006721103967335691), w, 0.4021765094450081)
    y = q / math.sqrt(h) if far else exp_f64(-v) * p
    y = f64(0.0) if a == INF_F64 else y
    return y


def bessel_i0e_f32(x: f32) -> f32:
    """exp(-|x|) I0(x)."""
    a = abs(f64(x))
    far = a > 8.0
    v = f64(0.0) if far else a
    z = v * v
    p = fma(1.3566408865998306e-19, z, 1.991330980806775e-17)
    p = fma(fma(p, z, 1.0069571965800499e-14), z, 2.3721382409716773e-12)
    p = fma(fma(p, z, 4.71799873787116e-10), z, 6.780235217802557e-08)
    p = fma(fma(p, z, 6.781830670031576e-06), z, 0.00043402696192876766)
    p = fma(fma(p, z, 0.01562500216176529), z, 0.2499999979658339)
    p = fma(p, z, 1.0000000002805889)
    h = a if far else f64(8.0)
    w = 8.0 / h - 0.5
    q = fma(6.972196729219765e-06, w, 1.1588981720010775e-05)
    q = fma(fma(q, w, 2.361004637669827e-05), w, 8.89021940465452e-05)
    q = fma(fma(q, w, 0.0005448696229507565), w, 0.006721111099948676)
    q = fma(q, w, 0.4021765093996403)
    y = q / math.sqrt(h) if far else exp2_near_f64(v * -1.4426950408889634) * p
    y = f64(0.0) if a == INF_F64 else y
    return f32(y)


def bessel_i1e_f64(x: f64) -> f64:
    """exp(-|x|) I1(x)."""
    a = abs(x)
    far = a > 8.0
    v = f64(0.0) if far else a
    z = v * v
    p = fma(5.178569035546346e-32, z, 2.3370018509004037e-29)
    p = fma(fma(p, z, 2.0478652462046633e-26), z, 1.2430518499352126e-23)
    p = fma(fma(p, z, 6.585966939359183e-21), z, 2.8968240299547023e-18)
    p = fma(fma(p, z, 1.0428873543061855e-15), z, 3.0035090319380987e-13)
    p = fma(fma(p, z, 6.72786119202099e-11), z, 1.1302806708240072e-08)
    p = fma(fma(p, z, 1.3563368055822147e-06), z, 0.00010850694444435625)
    p = fma(fma(p, z, 0.005208333333333481), z, 0.1249999999999999)
    p = fma(p, z, 1.0)
    h = a if far else f64(8.0)
    w = 8.0 / h - 0.5
    q = fma(0.00013735096124199608, w, -0.0004210927762300505)
    q = fma(fma(q, w, -0.00026807802892597494), w, 0.0007418769554760925)
    q = fma(fma(q, w, 0.00026157731528714105), w, -0.0006119842809524913)
    q = fma(fma(q, w, -0.0001828676157353924), w, 0.00031856890097874395)
    q = fma(fma(q, w, 0.00011099728615009081), w, -0.00011511118713263289)
    q = fma(fma(q, w, -6.242129649997048e-05), w, 2.3002528437601228e-05)
    q = fma(fma(q, w, 2.8724471495416902e-05), w, 6.99638691666636e-06)
    q = fma(fma(q, w, -4.313936204308113e-06), w, -5.98805680312804e-06)
    q = fma(fma(q, w, -5.5205750674870825e-06), w, -6.4007144811362595e-06)
    q = fma(fma(q, w, -1.1148337596781302e-05), w, -2.9358563561774618e-05)
    q = fma(fma(q, w, -0.00012030837761257874), w, -0.0008769430553282261)
    q = fma(fma(q, w, -0.01949915438647145), w, 0.38939845902587233)
    y = q / math.sqrt(h) if far else exp_f64(-v) * p * (0.5 * v)
    y = f64(0.0) if a == INF_F64 else y
    y = x if a == 0.0 else (-y if x < 0.0 else y)
    return y


def bessel_i1e_f32(x: f32) -> f32:
    """exp(-|x|) I1(x)."""
    a = abs(f64(x))
    far = a > 8.0
    v = f64(0.0) if far else a
    z = v * v
    p = fma(5.500904413749543e-18, z, 7.009065354485869e-16)
    p = fma(fma(p, z, 3.2356501571007904e-13), z, 6.636563411324925e-11)
    p = fma(fma(p, z, 1.132421285051043e-08), z, 1.3560431871469031e-06)
    p = fma(fma(p, z, 0.00010850915330444671), z, 0.005208325353907126)
    p = fma(fma(p, z, 0.12500001043127512), z, 0.9999999979383022)
    h = a if far else f64(8.0)
    w = 8.0 / h - 0.5
    q = fma(-7.91984133329279e-06, w, -1.3455534727693577e-05)
    q = fma(fma(q, w, -2.9185233361861423e-05), w, -0.00012003712916428681)
    q = fma(fma(q, w, -0.0008769511439349636), w, -0.01949916241367958)
    q = fma(q, w, 0.38939845910227544)
    y = (
        q / math.sqrt(h)
        if far
        else exp2_near_f64(v * -1.4426950408889634) * p * (0.5 * v)
    )
    y = f64(0.0) if a == INF_F64 else y
    y = -y if x < 0.0 else y
    y = f64(x) if a == 0.0 else y
    return f32(y)
