"""The names of `traceir.scipy.special`, each with the module that has it."""

from traceir.scipy.special.logs import boxcox as boxcox
from traceir.scipy.special.logs import boxcox1p as boxcox1p
from traceir.scipy.special.logs import entr as entr
from traceir.scipy.special.logs import expit as expit
from traceir.scipy.special.logs import kl_div as kl_div
from traceir.scipy.special.logs import log_softmax as log_softmax
from traceir.scipy.special.logs import logit as logit
from traceir.scipy.special.logs import rel_entr as rel_entr
from traceir.scipy.special.logs import softmax as softmax
from traceir.scipy.special.logs import xlog1py as xlog1py
from traceir.scipy.special.logs import xlogy as xlogy
from traceir.scipy.special.logsums import logsumexp as logsumexp
from traceir.scipy.special.normal import erf as erf
from traceir.scipy.special.normal import erfc as erfc
from traceir.scipy.special.normal import erfinv as erfinv
from traceir.scipy.special.normal import log_ndtr as log_ndtr
from traceir.scipy.special.normal import ndtr as ndtr
from traceir.scipy.special.normal import ndtri as ndtri
