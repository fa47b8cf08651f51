"""The names of `traceir.random`, each with the module that has it."""

from traceir.random.words import bits as bits
from traceir.random.keys import PRNGKey as PRNGKey
from traceir.random.keys import clone as clone
from traceir.random.keys import fold_in as fold_in
from traceir.random.keys import key as key
from traceir.random.keys import key_data as key_data
from traceir.random.keys import key_impl as key_impl
from traceir.random.keys import split as split
from traceir.random.keys import wrap_key_data as wrap_key_data
from traceir.random.real import normal as normal
from traceir.random.real import uniform as uniform
