"""The logarithm of gamma and its derivative. Serves: `prim.lgamma`, `prim.digamma`.

From 1/2 to 8 log gamma(x) is (x - 1) (x - 2) times a polynomial of
t = (x - 2) / (x + 2), for which poles are as far away as they can be; its derivative
likewise, by x less its zero. Beyond, both are Stirling's series at x - 1/2, and below
1/2 they follow from their values at x + 1 or 1 - x, by the reflection formula.
"""

from __future__ import annotations

import numpy as np
from numpy import float32 as f32
from numpy import float64 as f64

from traceir_numba.vecmath.basics import INF_F64, NAN_F64, fma
from traceir_numba.vecmath.logarithm import log_f64
from traceir_numba.vecmath.power import log2_near_f64

PI_F64, HALF_LOG_TWO_PI = 3.141592653589793, 0.9189385332046728


def lgamma_far_rest_f64(u: f64) -> f64:
    """u log u - u + log(2 pi) / 2, less log gamma(u + 1/2)."""
    r = 1.0 / u
    z = r * r
    p = fma(-0.019985860860745587, z, 0.00616032152109964)
    p = fma(fma(p, z, -0.0019130347091163458), z, 0.0008400781109289989)
    p = fma(fma(p, z, -0.0005905876707403198), z, 0.0007688492060722543)
    p = fma(fma(p, z, -0.002430555555555325), z, 0.041666666666666664)
    return r * p


def lgamma_far_f64(u: f64, log_u: f64) -> f64:
    """log gamma(u + 1/2), for u from 7.5 on."""
    return fma(u, log_u - 1.0, HALF_LOG_TWO_PI - lgamma_far_rest_f64(u))


def lgamma_near_f64(x: f64) -> f64:
    """log gamma(x) / ((x - 1) (x - 2)), for x from 1/2 to 8."""
    t = (x - 2.0) / (x + 2.0)
    p = fma(-0.43925299592800104, t, 0.4348995170143722)
    p = fma(fma(p, t, 0.8919951695312435), t, -0.8794899896802185)
    p = fma(fma(p, t, -0.966635550609067), t, 0.9498992631222363)
    p = fma(fma(p, t, 0.6006729918085789), t, -0.5872423143894936)
    p = fma(fma(p, t, -0.2947079101810808), t, 0.2873471653793722)
    p = fma(fma(p, t, 0.06695165411207223), t, -0.06419829012019791)
    p = fma(fma(p, t, -0.04336054041306386), t, 0.04248628298855948)
    p = fma(fma(p, t, -0.021548891829421327), t, 0.021604281600398484)
    p = fma(fma(p, t, -0.028383418776949297), t, 0.028207559572456103)
    p = fma(fma(p, t, -0.03141766633462877), t, 0.031205762116169142)
    p = fma(fma(p, t, -0.036028674743448744), t, 0.035706331011471096)
    p = fma(fma(p, t, -0.04215562675581445), t, 0.04164042201571672)
    p = fma(fma(p, t, -0.05083384316146875), t, 0.04993339748539259)
    p = fma(fma(p, t, -0.06410725844868828), t, 0.062323224487001644)
    p = fma(fma(p, t, -0.08715639051955096), t, 0.0829380601539435)
    p = fma(fma(p, t, -0.1389774871961872), t, 0.12617080324107502)
    p = fma(fma(p, t, -0.40126920669741567), t, 0.42278433509846713)
    return p


def sin_pi_f64(x: f64) -> f64:
    """sin(pi x), but for its sign."""
    n = x - np.rint(x)
    z = n * n
    p = fma(7.694726924408649e-07, z, -2.190318538412171e-05)
    p = fma(fma(p, z, 0.0004662996887609966), z, -0.007370430478760867)
    p = fma(fma(p, z, 0.0821458865698926), z, -0.5992645293187382)
    p = fma(fma(p, z, 2.550164039877294), z, -5.167712780049969)
    p = fma(p, z, 3.141592653589793)
    return f64(n * p)


def cos_pi_f64(x: f64) -> f64:
    """cos(pi x), but for its sign."""
    n = x - np.rint(x)
    z = n * n
    p = fma(1.3388969743110406e-07, z, -4.266714533948816e-06)
    p = fma(fma(p, z, 0.00010357047723253132), z, -0.0019036814993343074)
    p = fma(fma(p, z, 0.02533097099118494), z, -0.2289978876092361)
    p = fma(fma(p, z, 1.2780132969521965), z, -3.7392088021787173)
    p = fma(p, z, 4.0)
    return f64((0.25 - z) * p)


def lgamma_f64(x: f64) -> f64:
    """log |gamma(x)|."""
    a = abs(x)
    low, far = a < 0.5, a >= 8.0
    # Where it is smallest below 0, gamma(x + 4) is by 1 - w**2 larger.
    small = (x > -3.0) & (x < -2.0)
    v = x + 1.0 if low else a
    v = x + 4.0 if small else v
    v = f64(2.0) if far else v
    first = x if low else v - 1.0
    near = first * (first - 1.0) * lgamma_near_f64(v)
    u = a - 0.5 if far else f64(7.5)
    # One logarithm for all: of u, or of what is taken off.
    g = log_f64(u if far else (a if low else f64(1.0)))
    y = lgamma_far_f64(u, g) if far else near + (0.0 - g)
    y = INF_F64 if a == INF_F64 else y
    s = abs(sin_pi_f64(x))
    w = fma(x + 1.0, x + 2.0, -1.0) if small else f64(0.0)
    rest = fma(-w, w, 1.0)
    product = log_f64(rest if small else PI_F64 / (s * a))
    below = product - y
    below = y - product - fma(-w, w, 1.0 - rest) / rest if small else below
    below = INF_F64 if (s == 0.0) | (a == INF_F64) else below
    y = below if x <= -0.5 else y
    return y if x == x else x


def lgamma_f32(x: f32) -> f32:
    """log |gamma(x)|."""
    w = f64(x)
    a = abs(w)
    low, far = a < 0.5, a >= 8.0
    v = w + 1.0 if low else a
    v = f64(2.0) if far else v
    first = w if low else v - 1.0
    t = (v - 2.0) / (v + 2.0)
    p = fma(-0.14213571733348732, t, 0.1401850651898803)
    p = fma(fma(p, t, 0.048664431485450195), t, -0.04692413484272548)
    p = fma(fma(p, t, -0.07192285779703173), t, 0.0703535964033769)
    p = fma(fma(p, t, -0.045289388967254145), t, 0.044670746777763)
    p = fma(fma(p, t, -0.06465935948409157), t, 0.06283438162160677)
    p = fma(fma(p, t, -0.08712925841320418), t, 0.08291401278273017)
    p = fma(fma(p, t, -0.13897801797600182), t, 0.12617123068612018)
    p = fma(fma(p, t, -0.4012692044476002), t, 0.42278433385789677)
    near = first * (first - 1.0) * p
    u = a - 0.5 if far else f64(1.0)
    g = log2_near_f64(u if far else (a if low else f64(1.0))) * 0.6931471805599453
    r = 1.0 / u
    z = r * r
    p = fma(fma(-0.00076885, z, 0.0024305556), z, -0.041666666667)
    y = fma(u, g - 1.0, fma(r, p, HALF_LOG_TWO_PI)) if far else near + (0.0 - g)
    s = abs(sin_pi_f64(w))
    below = log2_near_f64(PI_F64 / (s * a)) * 0.6931471805599453 - y
    below = INF_F64 if s == 0.0 else below
    y = below if w <= -0.5 else y
    y = INF_F64 if (a == INF_F64) | (a == 0.0) else y
    return f32(y if x == x else w)


ROOT_OF_DIGAMMA, ROOT_OF_DIGAMMA_REST = 1.4616321449683622, 9.549995429965697e-17


def digamma_far_rest_f64(u: f64) -> f64:
    """The amount by which the derivative of log gamma at u + 1/2 exceeds log u, u from
    7.5 on.
    """
    r = 1.0 / u
    z = r * r
    p = fma(-0.28552918269874206, z, 0.07926206966699756)
    p = fma(fma(p, z, -0.02102487716925849), z, 0.0075604979904504875)
    p = fma(fma(p, z, -0.004134112539616441), z, 0.003844246027293076)
    p = fma(fma(p, z, -0.0072916666666629605), z, 0.041666666666666664)
    return z * p


def digamma_near_f64(x: f64) -> f64:
    """The derivative of log gamma by x less its zero, for x from 1/2 to 8."""
    t = (x - 2.0) / (x + 2.0)
    p = fma(31.535159264117805, t, -33.78481848327513)
    p = fma(fma(p, t, -71.46280331158512), t, 78.74589240971358)
    p = fma(fma(p, t, 82.6526994431977), t, -93.47055197061468)
    p = fma(fma(p, t, -57.279045474928786), t, 67.03826927645342)
    p = fma(fma(p, t, 28.79323862721561), t, -34.768215657710094)
    p = fma(fma(p, t, -9.12187626543019), t, 11.745920883157313)
    p = fma(fma(p, t, 3.204232148046093), t, -4.059030058824838)
    p = fma(fma(p, t, 0.20180242931344355), t, 0.006369370871036219)
    p = fma(fma(p, t, 0.7519078144034251), t, -0.7920632331853042)
    p = fma(fma(p, t, 0.6763438447089793), t, -0.6724329852819967)
    p = fma(fma(p, t, 0.6837514383650173), t, -0.6863246149602347)
    p = fma(fma(p, t, 0.6829310225636339), t, -0.6854954145176447)
    p = fma(fma(p, t, 0.682534067828421), t, -0.6861072787434642)
    p = fma(fma(p, t, 0.6818504915883321), t, -0.687042230127527)
    p = fma(fma(p, t, 0.6806799513224825), t, -0.6890177927590032)
    p = fma(fma(p, t, 0.6787474774496373), t, -0.6950676765933331)
    p = fma(fma(p, t, 0.6777531348972615), t, -0.7262245808991508)
    p = fma(fma(p, t, 0.7010428535500499), t, -1.0429558187320054)
    p = fma(p, t, 0.7853075386041053)
    return p


def digamma_f64(x: f64) -> f64:
    """The derivative of log gamma."""
    below = x < 0.0
    a = 1.0 - x if below else x
    low, far = a < 0.5, a >= 8.0
    v = a + 1.0 if low else a
    v = f64(2.0) if far else v
    d = v - ROOT_OF_DIGAMMA - ROOT_OF_DIGAMMA_REST
    u = a - 0.5 if far else f64(7.5)
    y = d * digamma_near_f64(v)
    y = log_f64(u) + digamma_far_rest_f64(u) if far else y
    # 1 / x, or the reflection's pi / tan(pi x).
    n = x - np.rint(x)
    s, c = sin_pi_f64(x), cos_pi_f64(x)
    top = PI_F64 * c if below else f64(1.0)
    bottom = s if below else x
    more = top / bottom
    y = y - more if below | low else y
    y = NAN_F64 if (x <= 0.0) & (n == 0.0) else y
    y = INF_F64 if x == INF_F64 else y
    return NAN_F64 if x == -INF_F64 else y


def digamma_f32(x: f32) -> f32:
    """The derivative of log gamma."""
    w = f64(x)
    below = w < 0.0
    a = 1.0 - w if below else w
    low, far = a < 0.5, a >= 8.0
    v = a + 1.0 if low else a
    v = f64(2.0) if far else v
    t = (v - 2.0) / (v + 2.0)
    p = fma(-4.266932550428945, t, 4.558927333374734)
    p = fma(fma(p, t, 2.374688146593368), t, -2.8313885359262008)
    p = fma(fma(p, t, -1.874398608537619), t, 2.159485140330801)
    p = fma(fma(p, t, -0.44181827142087465), t, 0.34076158392009465)
    p = fma(fma(p, t, -0.7134079657414271), t, 0.7255622109881377)
    p = fma(fma(p, t, -0.6877710584091279), t, 0.6754913651258476)
    p = fma(fma(p, t, -0.6950688008146471), t, 0.6778699396681251)
    p = fma(fma(p, t, -0.726225976202873), t, 0.701041256638694)
    p = fma(fma(p, t, -1.0429557996956464), t, 0.7853075421660456)
    y = (v - ROOT_OF_DIGAMMA) * p
    u = a - 0.5 if far else f64(1.0)
    r = 1.0 / u
    z = r * r
    p = fma(fma(0.00384425, z, -0.0072916667), z, 0.041666666667)
    g = fma(z, p, log2_near_f64(u) * 0.6931471805599453)
    y = g if far else y
    n = w - np.rint(w)
    s, c = sin_pi_f64(w), cos_pi_f64(w)
    more = (PI_F64 * c if below else f64(1.0)) / (s if below else w)
    y = y - more if below | low else y
    y = NAN_F64 if (w <= 0.0) & (n == 0.0) else y
    y = INF_F64 if w == INF_F64 else y
    return f32(NAN_F64 if w == -INF_F64 else y)
