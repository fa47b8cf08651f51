"""The names of `traceir.scipy.special`, each with the module that has it."""

from traceir.scipy.special.logsums import logsumexp as logsumexp
